"""All checks, one after the other: what one of them finds broken does not stop the next."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from skillgit.cli.doctor import kept, machine, setup
from skillgit.cli.doctor.rows import DoctorContext, DoctorRow, NotOpenedError, bad
from skillgit.errors import SkillgitError

CHECKS: Mapping[str, Callable[[DoctorContext], Iterator[DoctorRow]]] = {
    "skillgit": machine.programs,
    "repository": machine.repository,
    "identity": machine.identity,
    "names": machine.names,
    "config": setup.config,
    "tasks": setup.tasks,
    "skill": setup.skill,
    "trust": setup.trust,
    "keys": setup.keys,
    "models": setup.models,
    "style": setup.style,
    "notes": kept.notes,
    "ledger": kept.ledger,
    "best": kept.best,
    "runs": kept.unfinished,
    "refs": machine.refs,
    "locks": machine.locks,
    "moves": kept.moves,
    "private": kept.private,
    "remotes": kept.remotes,
    "transcripts": setup.transcripts,
}
"""The checks in their order: each may need what an earlier one has opened."""


def checkup(context: DoctorContext) -> Iterator[DoctorRow]:
    """The rows of every check; an error that ends a check is its last row."""
    for name, check in CHECKS.items():
        try:
            yield from check(context)
        except NotOpenedError:
            continue
        except SkillgitError as error:
            yield bad(name, error.message, error.hint)
