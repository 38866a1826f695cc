"""What a person made of a proposal: told from commits and notes, never from a flag of ours."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from skillgit.errors import SkillgitError
from skillgit.history import NoteLine, TurnedDownNote
from skillgit.records import Record
from skillgit.store.git.repository import Repository
from skillgit.store.proposals.adopted import is_adopted, read_lineage


class ProposalStatus(StrEnum):
    """Where a proposal stands with the person it was made for."""

    ADOPTED = "adopted"
    TURNED_DOWN = "turned down"
    WAITING = "waiting"
    GONE = "gone"
    """Its commits are not here any more."""


class Decision(Record):
    """What became of a proposal, with the reason that a person gave."""

    status: ProposalStatus
    why: str = ""


def proposal_status(
    repository: Repository,
    proposal: str,
    lines: Sequence[NoteLine],
    *,
    onto: str,
    by_notes: bool = False,
) -> Decision:
    """What became of a proposal, named by its commit, whose notes are given.

    With `by_notes`, the branch is not looked through.
    """
    if by_notes or repository.git.get(proposal) is None:
        return _turned_down(lines) or Decision(status=ProposalStatus.GONE)
    try:
        lineage = read_lineage(repository.git, proposal)
        tip = str(repository.onto_commit(onto).id)
        if is_adopted(repository.git, lineage, tip) is not None:
            return Decision(status=ProposalStatus.ADOPTED)
    except SkillgitError:
        return Decision(status=ProposalStatus.GONE)
    return _turned_down(lines) or Decision(status=ProposalStatus.WAITING)


def _turned_down(lines: Sequence[NoteLine]) -> Decision | None:
    notes = [line for line in lines if isinstance(line, TurnedDownNote)]
    if not notes:
        return None
    newest = max(notes, key=lambda note: note.time)
    return Decision(status=ProposalStatus.TURNED_DOWN, why=newest.why)
