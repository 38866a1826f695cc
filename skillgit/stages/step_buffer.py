"""The step buffer: what the epoch's earlier steps tried and what became of it, for the prompts.

It is never a list of its own: the entries are the notes of the run's commits, read back.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from skillgit.history import StepNote
from skillgit.records import Edit, FailurePattern, Outcome

SHOWN_STEPS = 20
SHOWN_CHARS = 400
SHOWN_TASKS = 8

INTRODUCTION = (
    "This is a summary of this epoch's earlier steps. Do not propose again edits that did not "
    "work, and deal first with the failure patterns that are still unsolved."
)


def format_step_buffer(notes: Sequence[StepNote]) -> str:
    """One block of text about an epoch's earlier steps; empty at the epoch's first.

    Shape: the epoch's notes, oldest first; the last 20 are shown.
    """
    if not notes:
        return ""
    shown = notes[-SHOWN_STEPS:]
    lines = [INTRODUCTION]
    if older := len(notes) - len(shown):
        lines.append(f"({older} older steps are not shown.)")
    for note in shown:
        lines += ["", *_step_lines(note)]
    return "\n".join(lines) + "\n"


def _step_lines(note: StepNote) -> list[str]:
    lines = [
        f"### Step {note.step} — {note.action.value.upper()} ({note.n_fail}/{note.n_total} failed)"
    ]
    lines += [_pattern_line(pattern) for pattern in note.failure_patterns]
    if note.rejected_edits:
        after = _number(note.score_after)
        if note.score_after_is_bound:
            after = f"at most {after}"
        lines.append(f"  Rejected edits (score {_number(note.score_before)} → {after}):")
        lines += [f"    {i}. {edit_text(e)}" for i, e in enumerate(note.rejected_edits, start=1)]
    lost = [outcome for outcome in note.edits if not outcome.outcome.changed_text]
    if lost:
        lines.append("  Not made:")
        lines += [f"    - {edit_text(o.edit)}: {_WHY_LOST[o.outcome]}" for o in lost]
    return lines


_WHY_LOST = {
    Outcome.DUPLICATE: "the skill says it already",
    Outcome.NOOP: "it changes nothing",
    Outcome.ANCHOR_MISSING: "the line that it names is not there",
    Outcome.ANCHOR_AMBIGUOUS: "what it names stands there more than once",
    Outcome.PROTECTED: "its place is closed to edits",
    Outcome.FRONTMATTER: "the frontmatter is closed to edits",
    Outcome.FENCE: "the inside of a code fence is closed to edits",
    Outcome.EMPTY: "it has no text",
    Outcome.OVER_BUDGET: "there was no room for it in this step",
    Outcome.TOO_LONG: "it is too long",
    Outcome.UNKNOWN_TARGET: "there is no such document",
    Outcome.KNOWN_REJECTED: "it was rejected before",
    Outcome.UNSUPPORTED: "it answers no reason for which an answer fell short",
}


def _pattern_line(pattern: FailurePattern) -> str:
    detail = f"×{pattern.count}"
    if pattern.task_ids:
        more = len(pattern.task_ids) - SHOWN_TASKS
        detail += ", tasks: " + ", ".join(pattern.task_ids[:SHOWN_TASKS])
        detail += f" and {more} more" if more > 0 else ""
    return f"  - {_quoted(str(pattern))} ({detail})"


def edit_text(edit: Edit) -> str:
    """An edit that was tried, as one line."""
    what = edit.operation.in_prompt.fill(
        _quoted(edit.anchor), _quoted(edit.content), is_anchored=bool(edit.anchor)
    )
    return f"[{edit.op.value}] {what}"


def _quoted(text: str) -> str:
    shown = text if len(text) <= SHOWN_CHARS else text[:SHOWN_CHARS] + "…"
    return json.dumps(shown, ensure_ascii=False)


def _number(score: float | None) -> str:
    return "unmeasured" if score is None else repr(score).removesuffix(".0")
