from __future__ import annotations

import pytest
from pydantic import JsonValue

from skillgit.editing.numbered_lines import NumberedSkill
from skillgit.errors import ReplyError
from skillgit.prompting.answers import Items
from skillgit.prompting.edit_schema import EditAnswer, EditsAnswer
from skillgit.records import Edit, EditOp, Skill, SkillDocument

SKILL = NumberedSkill(
    Skill(
        name="brief",
        documents=(
            SkillDocument(
                path="skills/brief/SKILL.md", data=b"# Brief\n\n- run tests\n- be brief\n"
            ),
            SkillDocument(path="skills/brief/references/style.md", data=b"Plain words.\n"),
        ),
    )
)
MAIN = "skills/brief/SKILL.md"
STYLE = "skills/brief/references/style.md"


class SomeEdits(EditsAnswer):
    edits: Items[EditAnswer]


def the_edit(item: dict[str, JsonValue]) -> Edit:
    (edit,) = SomeEdits.read([item]).edits
    return edit.as_edit(SKILL)


@pytest.mark.parametrize(
    ("name", "op"),
    [
        ("add", EditOp.ADD),
        ("append", EditOp.ADD),
        ("insert_after", EditOp.ADD),
        ("delete", EditOp.DELETE),
        ("remove", EditOp.DELETE),
        ("replace", EditOp.REPLACE),
    ],
)
def test_an_operation_has_these_names(name: str, op: EditOp) -> None:
    assert the_edit({"op": name, "anchor": "a"}).op is op


def test_a_delete_needs_no_content() -> None:
    edit = the_edit({"op": "delete", "anchor": "old rule"})
    assert (edit.op, edit.anchor, edit.content) == (EditOp.DELETE, "old rule", "")


def test_content_null_is_empty_and_not_the_word_none() -> None:
    assert the_edit({"op": "add", "content": None}).content == ""


@pytest.mark.parametrize(
    ("item", "target", "anchor"),
    [
        ({"target": "skill"}, "skill", ""),
        ({"target": "skill", "anchor": "a"}, "skill", "a"),
        ({"target": None}, "skill", ""),
        ({"target": "  "}, "skill", ""),
        ({"target": "skills/brief/SKILL.md", "anchor": "a"}, "skills/brief/SKILL.md", "a"),
        ({"target": "./skills/brief/SKILL.md"}, "skills/brief/SKILL.md", ""),
        ({"target": "SKILL.md", "anchor": "a"}, "skills/brief/SKILL.md", "a"),
        ({"target": "style.md"}, "skills/brief/references/style.md", ""),
        ({"target": "- run tests"}, "skill", "- run tests"),
        ({"target": "- run tests", "anchor": None}, "skill", "- run tests"),
        ({"target": "elsewhere.md", "anchor": "a"}, "elsewhere.md", "a"),
    ],
)
def test_a_target_that_names_no_document_is_the_anchor_if_there_is_none(
    item: dict[str, JsonValue], target: str, anchor: str
) -> None:
    edit = the_edit({"op": "replace", "content": "x", **item})
    assert (edit.target, edit.anchor) == (target, anchor)


@pytest.mark.parametrize(
    "item",
    [
        7,
        None,
        "add x",
        [],
        {},
        {"op": "move", "content": "x"},
        {"op": 1, "content": "x"},
        {"op": "add", "content": 5},
        {"op": "add", "content": ["x"]},
        {"op": "add", "content": "x", "anchor": {}},
        {"op": "add", "content": "x", "target": True},
    ],
)
def test_an_item_that_is_no_edit_is_dropped_and_the_others_kept(item: JsonValue) -> None:
    good: JsonValue = {"op": "add", "content": "x"}
    read = SomeEdits.read({"edits": [item, good]})
    assert [edit.content for edit in read.edits] == ["x"]
    (reason,) = read.left_out("edits")
    assert reason.startswith("edits[0]: ")
    with pytest.raises(ReplyError):
        SomeEdits.read([item])


@pytest.mark.parametrize("claimed", [True, "3", -2, 0, 1.5, None])
def test_a_support_that_is_no_count_is_one(claimed: JsonValue) -> None:
    assert the_edit({"op": "add", "content": "x", "support_count": claimed}).support_count == 1


def test_task_ids_that_are_no_texts_are_left_out() -> None:
    edit = the_edit({"op": "add", "content": "x", "task_ids": ["t1", 2, None, "t1", "t3"]})
    assert edit.task_ids == ("t1", "t3")


def test_content_stays_as_it_was_written() -> None:
    content = "  --no-verify must never be used \n"
    assert the_edit({"op": "add", "content": content}).content == content


@pytest.mark.parametrize(
    ("item", "edit"),
    [
        (
            {"op": "add", "line": 2, "text": "cite a source"},
            Edit(op=EditOp.ADD, target=MAIN, anchor="- run tests", content="- cite a source"),
        ),
        (
            {"op": "replace", "line": "line 3", "text": "- be short"},
            Edit(op=EditOp.REPLACE, target=MAIN, anchor="- be brief", content="- be short"),
        ),
        (
            {"op": "delete", "line": 4, "text": None},
            Edit(op=EditOp.DELETE, target=STYLE, anchor="Plain words."),
        ),
        (
            {"op": "add", "line": 0, "text": "cite a source"},
            Edit(op=EditOp.ADD, target=MAIN, content="- cite a source"),
        ),
        (
            {"op": "add", "line": True, "text": "cite a source"},
            Edit(op=EditOp.ADD, target=MAIN, content="- cite a source"),
        ),
        (
            {"op": "add", "line": 2, "text": " "},
            Edit(op=EditOp.ADD, target=MAIN, anchor="- run tests"),
        ),
    ],
)
def test_a_lines_number_becomes_its_document_and_its_anchor(
    item: dict[str, JsonValue], edit: Edit
) -> None:
    assert the_edit(item) == edit


def test_a_line_that_is_not_there_is_no_place_for_a_replace() -> None:
    assert the_edit({"op": "replace", "line": 9, "text": "x"}).anchor == "line 9"
    assert the_edit({"op": "add", "line": 9, "text": "x"}).anchor == ""


def test_nothing_is_asked_for_that_the_program_can_work_out() -> None:
    item = SomeEdits.model_json_schema()["$defs"]["EditAnswer"]
    assert list(item["properties"]) == ["op", "line", "text"]


def test_a_skill_is_named_by_its_alias_and_its_paths() -> None:
    skill = Skill(name="brief", documents=(SkillDocument(path="SKILL.md", data=b""),))
    assert skill.targets == ("skill", "SKILL.md")
