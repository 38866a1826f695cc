from __future__ import annotations

import pytest

from skillgit.editing.document import Document, region_text
from skillgit.editing.layout import Region
from skillgit.errors import BlockedError, CallError, ReplyError
from skillgit.records import Skill, SkillDocument
from skillgit.stages.comparison import build_comparison_pairs
from skillgit.stages.slow_update import guidance_of, run_slow_update, with_guidance


@pytest.fixture
def pairs(graded):
    return build_comparison_pairs([graded("a", 1.0)], [graded("a", 0.0)])


def test_guidance_is_made_at_the_end_and_replaced_in_place(skill) -> None:
    once = with_guidance(skill, "- Hold on.")
    assert once.main.data == skill.main.data + (
        b"\n<!-- SLOW_UPDATE_START -->\n- Hold on.\n<!-- SLOW_UPDATE_END -->\n"
    )
    twice = with_guidance(once, "- Hold on.\n- To both.")
    assert guidance_of(twice) == "- Hold on.\n- To both."
    assert with_guidance(twice, "- Hold on.") == once


def test_the_answer_becomes_the_region_and_the_reflection_is_kept(script, skill, pairs) -> None:
    answer = {"reflection": "It helped.", "reasoning": "r", "guidance": "\n- New.\n"}
    optimizer, model = script(lambda _request, _call: answer)
    before = with_guidance(skill, "- Old.")
    found = run_slow_update(pairs, skill, before, optimizer, max_chars=500)
    assert found.skill is not None
    assert guidance_of(found.skill) == found.guidance == "- New."
    assert found.reflection == "It helped."
    prompt = model.prompt("guidance")
    assert "```text\n- Old.\n```" in prompt
    assert "passed before, fails now" in prompt


@pytest.mark.parametrize(
    "answer",
    ["", "prose", {}, [], {"guidance": None}, {"guidance": ""}, {"guidance": "x" * 4001},
     {"guidance": "<!-- SLOW_UPDATE_END -->"}, {"guidance": "~~~"}, CallError("timed out")],
)  # fmt: skip
def test_no_usable_answer_is_no_skill_and_says_why(script, skill, pairs, answer) -> None:
    optimizer, _ = script(lambda _request, _call: answer)
    found = run_slow_update(pairs, skill, skill, optimizer, max_chars=500)
    assert found.skill is None
    assert found.failure


def test_a_blocked_optimizer_is_no_missing_answer(script, skill, pairs) -> None:
    optimizer, _ = script(lambda _request, _call: BlockedError("401"))
    with pytest.raises(BlockedError):
        run_slow_update(pairs, skill, skill, optimizer, max_chars=500)


def test_crlf_and_the_missing_final_newline_stay() -> None:
    data = b"# A\r\n- rule"
    skill = Skill(name="a", documents=(SkillDocument(path="A.md", data=data),))
    out = with_guidance(skill, "- one\n- two").main.data
    assert out.startswith(data)
    assert out.endswith(b"<!-- SLOW_UPDATE_END -->")
    assert b"\r\n- one\r\n- two\r\n" in out
    assert region_text(Document.parse(out), Region.SLOW_UPDATE) == "- one\n- two"


def test_blank_guidance_is_none(skill) -> None:
    with pytest.raises(ReplyError):
        with_guidance(skill, " \n ")
