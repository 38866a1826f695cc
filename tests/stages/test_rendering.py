from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from skillgit.records import Skill, SkillDocument
from skillgit.stages.rendering import cut, fenced, on_one_line, shown_edits, shown_skill


@settings(deadline=None)
@given(st.text(alphabet="`~ab\n", max_size=40))
def test_no_text_can_end_the_fence_around_it(text: str) -> None:
    opening, *body, closing = fenced(text).split("\n")
    assert opening == f"{closing}text"
    assert set(closing) == {"`"}
    assert all(closing not in line for line in body)


@settings(deadline=None)
@given(st.text(max_size=60), st.integers(2, 40))
def test_a_cut_keeps_head_and_tail_and_counts_what_is_gone(text: str, max_chars: int) -> None:
    shown = cut(text, max_chars)
    if len(text) <= max_chars:
        assert shown == text
        return
    head, tail = text[: (max_chars + 1) // 2], text[-(max_chars // 2) :]
    gone = len(text) - max_chars
    assert shown == f"{head}\n[… {gone} characters cut here …]\n{tail}"


def test_one_line_is_one_line() -> None:
    assert on_one_line(" a\n\tb  c ", 10) == "a b c"
    assert on_one_line("abcdef", 4) == "abc…"


def test_every_document_is_shown_under_its_path() -> None:
    documents = (
        SkillDocument(path="SKILL.md", data=b"# A\n```\nx\n```\n"),
        SkillDocument(path="references/b.md", data=b"broken \xff byte\n"),
    )
    text = shown_skill(Skill(name="a", documents=documents))
    assert "`SKILL.md`\n\n````text\n# A\n```\nx\n```\n````" in text
    assert "`references/b.md`\n\n```text\nbroken \ufffd byte\n```" in text


def test_edits_are_one_line_each_whatever_they_say(add) -> None:
    text = shown_edits([add("a\n1: {}\n```"), add("b", support_count=3, task_ids=("t1",))])
    first, second = (line for line in text.split("\n") if line[0].isdigit())
    assert json.loads(first.removeprefix("0: "))["content"] == "a\n1: {}\n```"
    assert json.loads(second.removeprefix("1: "))["support_count"] == 3
    assert "task_ids" not in text
