"""The names and ids of runs. Pure: which names are taken is for the store to say."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

from skillgit.errors import UserError
from skillgit.records import Record
from skillgit.records.canonical import fingerprint

NIGHT = "night"

_RUN = re.compile(r"([a-z]{1,20})-([1-9][0-9]{0,8})")


class RunName(Record):
    """A run's name: its kind (`train`, `night`, `import`) and its number."""

    kind: str
    number: int

    def __str__(self) -> str:
        return f"{self.kind}-{self.number}"


def parse_run(name: str) -> RunName:
    """A run's name taken apart.

    Raises: UserError for what names no run.
    """
    matched = _RUN.fullmatch(name)
    if matched is None:
        raise UserError(
            f"{name!r} names no run",
            hint="A run is named like train-1 or night-7; git branch --list 'skillopt/run/*' shows all.",
        )
    return RunName(kind=matched[1], number=int(matched[2]))


def is_night(run_name: str) -> bool:
    """Whether a run is a night, which speaks of private sessions."""
    return run_name.startswith(f"{NIGHT}-")


def next_run(kind: str, used: Iterable[RunName]) -> RunName:
    """The first name above every number of its kind that was ever used."""
    numbers = (name.number for name in used if name.kind == kind)
    return RunName(kind=kind, number=max(numbers, default=0) + 1)


def run_id_of(
    base: str, run_fingerprint: str, committer: str, started: datetime, run_name: str
) -> str:
    """A run's identity, 12 hex digits, the same in no two clones and for no two runs."""
    return fingerprint([base, run_fingerprint, committer, started.isoformat(), run_name], digits=12)
