from __future__ import annotations

import pytest

from skillgit.errors import CallError
from skillgit.stages.comparison import build_comparison_pairs
from skillgit.stages.meta_skill import run_meta_skill


def remembered(script, skill, graded, answer, previous="Deletes did harm."):
    optimizer, model = script(lambda _request, _call: answer)
    pairs = build_comparison_pairs([graded("a", 0.0)], [graded("a", 1.0)])
    found = run_meta_skill(
        pairs, skill, skill, previous, optimizer, step_buffer="### Step 1 — REJECT", max_chars=500
    )
    return found, model


def test_a_new_memory_takes_the_previous_ones_place(script, skill, graded) -> None:
    found, model = remembered(script, skill, graded, {"memory": " Short edits work.\n"})
    assert found.text == "Short edits work."
    assert not found.failure
    prompt = model.prompt("memory")
    assert "```text\nDeletes did harm.\n```" in prompt
    assert "### Step 1 — REJECT" in prompt
    assert "failed before, passes now" in prompt


@pytest.mark.parametrize(
    "answer", ["", "prose", {}, {"memory": " "}, {"memory": 3}, {"memory": "x" * 6001}, CallError("no")]
)  # fmt: skip
def test_an_unusable_answer_keeps_the_previous_and_says_why(script, skill, graded, answer) -> None:
    found, _ = remembered(script, skill, graded, answer)
    assert found.text == "Deletes did harm."
    assert found.failure
