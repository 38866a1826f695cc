from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.editing.apply import apply_edits
from skillgit.editing.document import Document, Region
from skillgit.editing.numbered_lines import NumberedSkill, reworded, unwrapped
from skillgit.records import Edit, EditOp, Outcome, Skill, SkillDocument

TEXT = """---
name: brief
description: d
---
# Brief

- Use black
- Use black in tests

1. First
2. Second

```
code
```

<!-- SLOW_UPDATE_START -->
guidance
<!-- SLOW_UPDATE_END -->
"""


def numbered(text: str, *more: tuple[str, str], region: Region | None = None) -> NumberedSkill:
    documents = [("SKILL.md", text), *more]
    return NumberedSkill(
        Skill(
            name="brief",
            documents=tuple(SkillDocument(path=p, data=t.encode()) for p, t in documents),
        ),
        region,
    )


def changed(text: str, op: EditOp, number: int, content: str = "") -> str:
    edit = numbered(text).edit(op, number, content)
    data, (outcome,) = apply_edits(text.encode(), [edit], place_missing=True)
    assert outcome.outcome.changed_text, outcome
    return data.decode()


def test_only_lines_that_may_be_changed_have_a_number() -> None:
    shown = numbered(TEXT).shown("SKILL.md").split("\n")
    assert [line for line in shown if not line.startswith("  |")] == [
        "1 | # Brief",
        "2 | - Use black",
        "3 | - Use black in tests",
        "4 | 1. First",
        "5 | 2. Second",
    ]


def test_the_lines_of_all_documents_are_counted_together() -> None:
    skill = numbered("# A\n", ("references/b.md", "# B\ntext\n"))
    assert "3 | text" in skill.shown("references/b.md")
    assert skill.edit(EditOp.REPLACE, 3, "new").target == "references/b.md"


def test_a_line_that_stands_inside_another_is_still_the_one_that_is_meant() -> None:
    assert "- Use ruff\n- Use black in tests" in changed(TEXT, EditOp.REPLACE, 2, "Use ruff")
    assert "- Use black\n- Ask first\n- Use black in tests" in changed(
        TEXT, EditOp.ADD, 2, "Ask first"
    )


def test_equal_lines_are_told_apart() -> None:
    text = "# A\n- run\n# B\n- run\n"
    assert changed(text, EditOp.REPLACE, 4, "- go") == "# A\n- run\n# B\n- go\n"
    assert changed(text, EditOp.DELETE, 4) == "# A\n- run\n# B\n"
    assert changed(text, EditOp.ADD, 4, "- stop") == "# A\n- run\n# B\n- run\n- stop\n"


def test_an_addition_takes_the_form_of_the_line_above_it() -> None:
    assert "1. First\n2. Middle\n2. Second" in changed(TEXT, EditOp.ADD, 4, "Middle")
    text = "- a\n    - b\n"
    assert changed(text, EditOp.ADD, 2, "- c") == "- a\n    - b\n    - c\n"


def test_a_replaced_heading_stays_a_heading() -> None:
    assert changed("# A\ntext\n", EditOp.REPLACE, 1, "B") == "# B\ntext\n"


@pytest.mark.parametrize("number", [0, 99, -1])
def test_an_addition_without_a_line_becomes_a_bullet_where_rules_are_bullets(number: int) -> None:
    assert changed("# A\n\n- a\n", EditOp.ADD, number, "b") == "# A\n\n- a\n- b\n"
    assert changed("# A\n\nProse.\n", EditOp.ADD, number, "More.") == ("# A\n\nProse.\n\nMore.\n")


def test_a_line_that_is_not_there_cannot_be_replaced() -> None:
    edit = numbered(TEXT).edit(EditOp.REPLACE, 99, "x")
    _, (outcome,) = apply_edits(TEXT.encode(), [edit], place_missing=True)
    assert outcome.outcome is Outcome.ANCHOR_MISSING


def test_with_a_region_only_its_bullets_have_numbers() -> None:
    text = (
        "- a\n<!-- SKILLOPT-SLEEP:LEARNED START -->\n- learned\n"
        "<!-- SKILLOPT-SLEEP:LEARNED END -->\n"
    )
    skill = numbered(text, region=Region.LEARNED)
    assert "1 | - learned" in skill.shown("SKILL.md")
    edit = skill.edit(EditOp.REPLACE, 1, "sharper")
    data, _ = apply_edits(text.encode(), [edit], region=Region.LEARNED)
    assert b"- sharper\n" in data
    assert b"- learned" not in data


@pytest.mark.parametrize(
    ("copied", "meant"),
    [
        ("```text\n- rule\n```", "- rule"),
        ("```\n- rule\n```\n", "- rule"),
        ("```python\nx = 1\n```", "```python\nx = 1\n```"),
        ("12 | - rule", "- rule"),
        (" 3 | - one\n 4 | - two", "- one\n- two"),
        ("- a | b", "- a | b"),
    ],
)
def test_what_a_text_was_shown_in_is_taken_off(copied: str, meant: str) -> None:
    assert unwrapped(copied) == meant


LINES = st.lists(
    st.sampled_from(["- a", "- b", "# A", "text", "", "  - a", "1. x", "```", "a", "- a b"]),
    min_size=1,
    max_size=12,
)


@given(LINES, st.integers(1, 12), st.sampled_from(["new", "- new"]))
def test_a_replaced_line_is_the_only_one_that_changes(
    lines: list[str], number: int, content: str
) -> None:
    text = "\n".join(lines) + "\n"
    skill = numbered(text)
    if number > len(skill.lines):
        return
    edit = skill.edit(EditOp.REPLACE, number, content)
    data, (outcome,) = apply_edits(text.encode(), [edit])
    before, after = text.split("\n"), data.decode().split("\n")
    if not outcome.outcome.changed_text:
        assert after == before
        return
    at = Document.parse(text.encode()).text.count("\n", 0, skill.lines[number - 1].start)
    assert len(before) == len(after)
    assert [i for i, (old, new) in enumerate(zip(before, after, strict=True)) if old != new] == [at]


def test_an_edit_without_a_text_is_empty_and_no_bare_mark() -> None:
    numbered = NumberedSkill(
        Skill(name="a", documents=(SkillDocument(path="A.md", data=b"# A\n\n- one\n- two\n"),))
    )
    for op in (EditOp.ADD, EditOp.REPLACE):
        for number in (0, 2):
            assert numbered.edit(op, number, " \n").content.strip() == ""


@pytest.mark.parametrize(
    ("edit", "text", "content"),
    [
        (Edit(op=EditOp.ADD, anchor="- a", content="- old"), "new", "- new"),
        (Edit(op=EditOp.ADD, content="- old"), "```text\n3 | - new\n```", "- new"),
        (Edit(op=EditOp.REPLACE, anchor="## Old", content="## Old"), "New", "## New"),
        (Edit(op=EditOp.REPLACE, anchor="- up\n- a", content="- up\n- old"), "new", "- up\n- new"),
        (Edit(op=EditOp.REPLACE, anchor="- a", content="Prose."), "Other.", "Other."),
    ],
)
def test_another_wording_keeps_the_place_and_the_form(edit: Edit, text: str, content: str) -> None:
    assert reworded(edit, text) == edit.model_copy(update={"content": content})
