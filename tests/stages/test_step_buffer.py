from __future__ import annotations

from skillgit.history import StepNote
from skillgit.records import Action, Edit, EditOp, EditOutcome, FailurePattern, Outcome
from skillgit.stages.step_buffer import format_step_buffer


def tried(op: EditOp, *, anchor: str = "", content: str = "") -> EditOutcome:
    return EditOutcome(edit=Edit(op=op, anchor=anchor, content=content), outcome=Outcome.APPLIED)


def note(step: int, action: Action, **fields: object) -> StepNote:
    return StepNote.model_validate(
        {"run": "a" * 12, "step": step, "action": action, "n_total": 16, "n_fail": 5, **fields}
    )


def test_an_epochs_first_step_has_an_empty_block() -> None:
    assert format_step_buffer([]) == ""


def test_a_rejected_step_shows_patterns_and_what_was_tried() -> None:
    pattern = FailurePattern(
        failure_type="wrong_tool",
        description="used pandas where openpyxl is required",
        count=3,
        task_ids=("t12", "t18", "t27"),
    )
    text = format_step_buffer(
        [
            note(
                4,
                Action.REJECT,
                failure_patterns=(pattern,),
                edits=(
                    tried(EditOp.ADD, content="Always coerce date columns"),
                    tried(EditOp.REPLACE, anchor="old", content="new\nline"),
                    tried(EditOp.DELETE, anchor="gone"),
                    EditOutcome(
                        edit=Edit(op=EditOp.ADD, content="Cite a source"),
                        outcome=Outcome.OVER_BUDGET,
                    ),
                ),
                score_before=0.5625,
                score_after=0.5,
            )
        ]
    )
    first, _, rest = text.partition("\n\n")
    assert first.startswith("This is a summary of this epoch's earlier steps.")
    assert rest == (
        "### Step 4 — REJECT (5/16 failed)\n"
        '  - "wrong_tool: used pandas where openpyxl is required" (×3, tasks: t12, t18, t27)\n'
        "  Rejected edits (score 0.5625 → 0.5):\n"
        '    1. [add] "Always coerce date columns"\n'
        '    2. [replace] target="old" → "new\\nline"\n'
        '    3. [delete] target="gone"\n'
        "  Not made:\n"
        '    - [add] "Cite a source": there was no room for it in this step\n'
    )


def test_every_edit_that_was_not_made_is_told_with_its_reason() -> None:
    lost = [outcome for outcome in Outcome if not outcome.changed_text]
    edits = tuple(
        EditOutcome(edit=Edit(op=EditOp.ADD, content=f"rule {i}"), outcome=outcome)
        for i, outcome in enumerate(lost)
    )
    text = format_step_buffer([note(1, Action.NOOP, edits=edits)])
    lines = text.partition("  Not made:\n")[2].splitlines()
    assert len(lines) == len(lost)
    assert all(f'    - [add] "rule {i}": ' in line for i, line in enumerate(lines))
    assert len({line.partition('": ')[2] for line in lines}) == len(lost)


def test_an_edit_that_was_placed_at_the_end_was_made() -> None:
    placed = EditOutcome(edit=Edit(op=EditOp.ADD, content="x"), outcome=Outcome.PLACED_AT_END)
    kept = format_step_buffer([note(1, Action.ACCEPT, edits=(placed,))])
    assert "Not made" not in kept
    lost = format_step_buffer([note(1, Action.REJECT, edits=(placed,), score_after=0.5)])
    assert '    1. [add] "x"' in lost
    assert "Not made" not in lost


def test_accepted_skipped_and_noop_steps_are_there_without_rejected_edits() -> None:
    text = format_step_buffer(
        [
            note(1, Action.ACCEPT, edits=(tried(EditOp.ADD, content="good"),)),
            note(2, Action.SKIP),
            note(3, Action.NOOP),
        ]
    )
    assert "Step 1 — ACCEPT" in text
    assert "Step 2 — SKIP" in text
    assert "Step 3 — NOOP" in text
    assert "Rejected edits" not in text
    assert "good" not in text


def test_only_the_last_twenty_steps_are_shown_and_the_older_ones_counted() -> None:
    text = format_step_buffer([note(step, Action.SKIP) for step in range(1, 24)])
    assert "(3 older steps are not shown.)" in text
    assert "### Step 3 " not in text
    assert "### Step 4 " in text
    assert "### Step 23 " in text


def test_a_rejection_at_exactly_zero_shows_zero() -> None:
    text = format_step_buffer(
        [
            note(
                1,
                Action.REJECT,
                edits=(tried(EditOp.ADD, content="x"),),
                score_before=0.0,
                score_after=0.0,
            )
        ]
    )
    assert "(score 0 → 0)" in text
