from __future__ import annotations

import pytest

from skillgit.editing.layout import Region
from skillgit.errors import DocumentError
from skillgit.records import Edit, EditOp, Outcome, Skill, SkillDocument
from skillgit.stages.update import check_skill, update_skill

SKILL = Skill(
    name="brief",
    documents=(
        SkillDocument(path="brief/SKILL.md", data=b"# Brief\n"),
        SkillDocument(path="brief/notes.md", data=b"# Notes\n"),
    ),
)


def add(content: str, target: str = "skill") -> Edit:
    return Edit(op=EditOp.ADD, target=target, content=content)


def test_an_addition_without_its_place_is_kept_in_the_document_it_names() -> None:
    lost = Edit(op=EditOp.ADD, target="brief/notes.md", anchor="no such line", content="- x")
    candidate, (outcome,) = update_skill(SKILL, [lost])
    assert outcome.outcome is Outcome.PLACED_AT_END
    assert candidate.documents[1].data == b"# Notes\n\n- x\n"
    assert candidate.main == SKILL.main


def test_in_a_region_no_bullet_is_placed_elsewhere() -> None:
    lost = Edit(op=EditOp.ADD, anchor="no such line", content="- x")
    candidate, (outcome,) = update_skill(SKILL, [lost], region=Region.LEARNED)
    assert outcome.outcome is not Outcome.PLACED_AT_END
    assert b"# Brief\n" in candidate.main.data


def test_each_edit_goes_to_the_document_it_names() -> None:
    edits = [
        add("- one"),
        add("- two", "brief/notes.md"),
        add("- three", "brief/SKILL.md"),
        add("- four", "elsewhere.md"),
        add("- five", "memory"),
        add("- one"),
    ]
    candidate, outcomes = update_skill(SKILL, edits)
    assert [o.edit for o in outcomes] == edits
    assert [o.outcome for o in outcomes] == [
        Outcome.APPLIED,
        Outcome.APPLIED,
        Outcome.APPLIED,
        Outcome.UNKNOWN_TARGET,
        Outcome.UNKNOWN_TARGET,
        Outcome.DUPLICATE,
    ]
    assert [d.data for d in candidate.documents] == [
        b"# Brief\n\n- one\n- three\n",
        b"# Notes\n\n- two\n",
    ]


def test_nothing_applied_is_the_same_skill() -> None:
    gone = Edit(op=EditOp.DELETE, anchor="no such line")
    assert update_skill(SKILL, [gone])[0] == SKILL
    assert update_skill(SKILL, []) == (SKILL, ())


def test_known_rejected_edits_are_not_tried() -> None:
    candidate, (outcome,) = update_skill(SKILL, [add("- x")], known_rejected=[add("- x")])
    assert (candidate, outcome.outcome) == (SKILL, Outcome.KNOWN_REJECTED)
    by_path = update_skill(SKILL, [add("- x")], known_rejected=[add("- x", "brief/SKILL.md")])
    assert by_path == (candidate, (outcome,))
    elsewhere = update_skill(SKILL, [add("- x")], known_rejected=[add("- x", "brief/notes.md")])
    assert elsewhere[1][0].outcome is Outcome.APPLIED


@pytest.mark.parametrize("data", [b"\xff", b"<!-- APPENDIX_START -->\n", b"---\na: [\n---\n"])
def test_a_document_that_cannot_be_used_is_named(data: bytes) -> None:
    broken = SKILL.with_document("brief/notes.md", data)
    with pytest.raises(DocumentError, match=r"^brief/notes.md: line"):
        check_skill(broken)
    check_skill(SKILL)


def test_an_edit_to_a_broken_document_names_it() -> None:
    broken = SKILL.with_document("brief/SKILL.md", b"<!-- APPENDIX_START -->\n")
    with pytest.raises(DocumentError, match=r"^brief/SKILL.md: line 1"):
        update_skill(broken, [add("- x")])
