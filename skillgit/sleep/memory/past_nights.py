"""Earlier nights as tonight's optimizer sees them: rejected, turned down, or waiting. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from skillgit.records import Action, Edit, Record
from skillgit.sleep.memory.state import MEMORY, SKILL, NightRecord
from skillgit.stages.rendering import on_one_line
from skillgit.stages.step_buffer import edit_text
from skillgit.store.proposals.outcome import Decision, ProposalStatus

SHOWN_NIGHTS = 20
WHY_CHARS = 400

INTRODUCTION = (
    "These are the proposals of earlier nights. Do not propose again what was rejected, what the "
    "person turned down, or what still waits for the person's decision."
)


class DecidedNight(Record):
    """An earlier night with what became of its proposal; `None` where it made none."""

    night: NightRecord
    decision: Decision | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether a person has yet to decide on it."""
        return self.decision is not None and self.decision.status is ProposalStatus.WAITING


def format_earlier(nights: Sequence[DecidedNight]) -> str:
    """A block for the prompts about what earlier nights proposed; empty when there is nothing.

    Shape: oldest first; the last 20 nights that proposed something are shown.
    """
    telling = [n for n in nights if n.night.edits or n.night.rejected]
    if not telling:
        return ""
    lines = [INTRODUCTION]
    for decided in telling[-SHOWN_NIGHTS:]:
        lines += ["", *_night_lines(decided)]
    return "\n".join(lines) + "\n"


def format_decided(nights: Sequence[DecidedNight]) -> str:
    """What became of earlier proposals, a line each, for the slow memory."""
    lines = [
        f"- Night {n.night.night}: {_fate(n)}: "
        + "; ".join(on_one_line(edit_text(e), WHY_CHARS) for e in n.night.edits)
        for n in nights[-SHOWN_NIGHTS:]
        if n.night.edits and n.decision is not None
    ]
    return "\n".join(lines)


def banned(nights: Sequence[DecidedNight], skill: str, memory: str | None) -> tuple[Edit, ...]:
    """The edits that a person has turned down, each of which stands alone."""
    return _edits(nights, ProposalStatus.TURNED_DOWN, skill, memory)


def pending(nights: Sequence[DecidedNight], skill: str, memory: str | None) -> tuple[Edit, ...]:
    """The edits that wait for a person's decision."""
    return _edits(nights, ProposalStatus.WAITING, skill, memory)


def _edits(
    nights: Sequence[DecidedNight], fate: ProposalStatus, skill: str, memory: str | None
) -> tuple[Edit, ...]:
    """The edits of nights of one fate, under the paths that the documents have tonight."""
    paths = {SKILL: skill, MEMORY: memory or MEMORY}
    return tuple(
        Edit.model_validate({**edit.model_dump(), "target": paths[edit.target]})
        for n in nights
        if n.decision is not None and n.decision.status is fate
        for edit in n.night.edits
    )


def _night_lines(decided: DecidedNight) -> list[str]:
    night, lines = decided.night, []
    if night.edits:
        lines.append(f"### Night {night.night} — {_fate(decided)}")
        if decided.decision is not None and decided.decision.status is ProposalStatus.ADOPTED:
            lines += [f"  - {edit_text(edit)}" for edit in night.edits]
        else:
            lines += [f"    {i}. {edit_text(e)}" for i, e in enumerate(night.edits, start=1)]
    if night.rejected:
        scores = f" (score {_number(night.baseline)} → {_number(night.candidate)})"
        told = scores if night.action is Action.REJECT else ""
        lines.append(f"### Night {night.night} — REJECTED by the measurement{told}")
        lines += [f"    {i}. {edit_text(e)}" for i, e in enumerate(night.rejected, start=1)]
    return lines


def _fate(decided: DecidedNight) -> str:
    decision = decided.decision
    if decision is None:
        return "not proposed"
    if decision.status is ProposalStatus.TURNED_DOWN:
        return f"TURNED DOWN by the person, because: {on_one_line(decision.why, WHY_CHARS)}"
    told = {
        ProposalStatus.ADOPTED: "adopted by the person",
        ProposalStatus.WAITING: "proposed, waiting for the person's decision",
        ProposalStatus.GONE: "proposed; what the person made of it is not known",
    }
    return told[decision.status]


def _number(score: float | None) -> str:
    return "unmeasured" if score is None else f"{score:.4g}"
