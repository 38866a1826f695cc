from __future__ import annotations

import pytest

from skillgit.gate.guards.length import is_too_long, length_warnings, tokens_in
from skillgit.records import Edit, EditOp, Outcome, Skill, SkillDocument
from skillgit.stages.update import update_within


def skill(text: str) -> Skill:
    return Skill(name="s", documents=(SkillDocument(path="SKILL.md", data=text.encode()),))


@pytest.mark.parametrize(("chars", "warns"), [(20_000, 0), (20_001, 1)])
def test_from_5000_tokens_on_it_is_warned_of(chars: int, warns: int) -> None:
    assert len(length_warnings(skill("x" * chars))) == warns


@pytest.mark.parametrize(("lines", "warns"), [(500, 0), (501, 1)])
def test_from_500_lines_on_it_is_warned_of(lines: int, warns: int) -> None:
    assert len(length_warnings(skill("x\n" * lines))) == warns


def test_a_skill_that_is_too_long_already_may_shrink() -> None:
    long, shorter = skill("x" * 800), skill("x" * 700)
    assert is_too_long(long, shorter, 100)
    assert not is_too_long(shorter, long, 100)
    assert not is_too_long(long, shorter, None)
    assert not is_too_long(long, shorter, 200)


def test_an_edit_beyond_the_budget_is_too_long_and_the_others_are_applied() -> None:
    edits = [
        Edit(op=EditOp.ADD, content="- Be brief."),
        Edit(op=EditOp.ADD, content="- " + "Go on and on. " * 40),
        Edit(op=EditOp.DELETE, anchor="- Old rule."),
    ]
    text = "# A\n\n- Old rule.\n- Kept.\n"
    candidate, outcomes = update_within(skill(text), edits, max_tokens=30)
    assert [o.outcome for o in outcomes] == [Outcome.APPLIED, Outcome.TOO_LONG, Outcome.APPLIED]
    assert tokens_in(candidate.main.data) <= 30
    assert b"Be brief" in candidate.main.data


def test_without_a_budget_every_edit_is_applied() -> None:
    edits = [Edit(op=EditOp.ADD, content="- " + "Go on and on. " * 40)]
    _, outcomes = update_within(skill("# A\n"), edits, max_tokens=None)
    assert outcomes[0].outcome is Outcome.APPLIED
