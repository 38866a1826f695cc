"""A night's report: the same text in the note, the terminal and the pull request. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from skillgit.history.sanitize import harmless
from skillgit.records import Action, Record
from skillgit.sleep.memory.state import EditRecord

LINE_CHARS = 600


class SleepReport(Record):
    """What one night came to.

    `unverified_edits` are suggestions that could not be judged; `unmatched_edits` could not be
    applied. Scores are the gate's, on val; `notes` are sentences for a person.
    """

    night: int
    project: str
    started_at: datetime
    ended_at: datetime
    n_sessions: int = 0
    n_tasks: int = 0
    n_replayed: int = 0
    baseline_score: float | None = None
    candidate_score: float | None = None
    accepted: bool = False
    gate_action: Action = Action.SKIP
    edits: tuple[EditRecord, ...] = ()
    rejected_edits: tuple[EditRecord, ...] = ()
    unmatched_edits: tuple[EditRecord, ...] = ()
    unverified_edits: tuple[EditRecord, ...] = ()
    tokens_used: int = 0
    notes: tuple[str, ...] = ()

    def markdown(self) -> str:
        """The report as it is read."""
        scores = f"{_score(self.baseline_score)} -> {_score(self.candidate_score)}"
        lines = [
            f"# SkillOpt-Sleep — night {self.night} report",
            f"- held-out score: {scores}",
            f"- gate: **{self.gate_action.value}** (accepted={self.accepted})",
        ]
        lines += _section("Accepted edits", self.edits, why=True)
        lines += _section("Rejected by gate (kept as negative feedback)", self.rejected_edits)
        lines += _section("Not verified (to read, not proposed)", self.unverified_edits, why=True)
        lines += _section("Could not be applied", self.unmatched_edits)
        if self.notes:
            lines += ["## Notes", *(f"- {harmless(note, LINE_CHARS)}" for note in self.notes)]
        return "\n".join(lines) + "\n"


def _section(title: str, edits: Sequence[EditRecord], *, why: bool = False) -> list[str]:
    if not edits:
        return []
    return [f"## {title}", *(_edit_line(edit, why=why) for edit in edits)]


def _edit_line(edit: EditRecord, *, why: bool) -> str:
    reason = harmless(edit.rationale, LINE_CHARS) if why else ""
    told = f"  _why: {reason}_" if reason else ""
    return f"- [{edit.target}/{edit.op.value}] {harmless(edit.words, LINE_CHARS)}{told}"


def _score(score: float | None) -> str:
    return "unmeasured" if score is None else f"{score:.3f}"
