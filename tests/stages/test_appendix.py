from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.config import AppendixSource
from skillgit.editing.document import Document, region_text
from skillgit.editing.layout import Region
from skillgit.editing.numbered_lines import NumberedSkill
from skillgit.records import Lapse, RawPatch, Skill, SkillDocument, SourceType
from skillgit.stages.appendix import append_notes, as_note, aware_analysts, is_note, notes_of
from skillgit.stages.reasons import Reasons
from skillgit.stages.reflect import Shown


def lapses(*notes: str) -> list[Lapse]:
    return [Lapse(note=note) for note in notes]


def nobody(script):
    optimizer, _ = script(lambda _request, _call: AssertionError("asked"))
    return optimizer


def test_notes_are_bullets_in_the_region_each_once(script, skill) -> None:
    found = append_notes(skill, lapses("Do a.", "Do b.", "do  a"), nobody(script), most=5)
    assert notes_of(found.skill) == ("Do a.", "Do b.")
    assert found.added == ("Do a.", "Do b.")
    again = append_notes(found.skill, lapses("DO A!", "Do c."), nobody(script), most=5)
    assert again.added == ("Do c.",)
    assert notes_of(again.skill) == ("Do a.", "Do b.", "Do c.")


def test_nothing_new_is_the_same_skill(script, skill) -> None:
    once = append_notes(skill, lapses("Do a."), nobody(script), most=5)
    assert append_notes(once.skill, lapses("Do a"), nobody(script), most=5).skill == once.skill
    assert append_notes(skill, [], nobody(script), most=5).skill == skill


def test_what_stands_outside_the_region_is_the_same_bytes(script) -> None:
    data = b"# A\r\n- rule\r\n<!-- APPENDIX_START -->\r\n- Old.\r\n<!-- APPENDIX_END -->\r\ntext\n"
    skill = Skill(name="a", documents=(SkillDocument(path="A.md", data=data),))
    out = append_notes(skill, lapses("New."), nobody(script), most=5).skill.main.data
    assert out == data.replace(b"- Old.\r\n", b"- Old.\r\n- New.\r\n")


def test_consolidated_notes_take_the_place_of_all(script, skill) -> None:
    optimizer, model = script(lambda _request, _call: {"notes": ["a and b", " - c "]})
    found = append_notes(skill, lapses("a", "b", "c"), optimizer, most=2)
    assert notes_of(found.skill) == ("a and b", "c")
    assert found.consolidated
    assert "- a\n- b\n- c" in model.prompt("notes")
    assert "at most 2" in model.prompt("notes")


@given(st.text(max_size=80))
def test_whatever_a_note_is_it_stays_in_its_region(note: str) -> None:
    if not is_note(note):
        return
    data = f"# A\n\n<!-- APPENDIX_START -->\n- {as_note(note)}\n<!-- APPENDIX_END -->\n\nend\n"
    document = Document.parse(data.encode())
    assert region_text(document, Region.APPENDIX) == f"- {as_note(note)}"


SHOWN = Shown(
    NumberedSkill(Skill(name="a", documents=(SkillDocument(path="A.md", data=b"# A\n"),))),
    Reasons.of(()),
)
EMPTY = RawPatch(source_type=SourceType.FAILURE, batch_size=2, task_ids=("a", "b"))


def test_lapses_without_edits_are_an_answer_and_their_tasks_are_checked() -> None:
    analysts = aware_analysts(AppendixSource.BOTH)
    value = {"lapses": [{"note": "Do a.", "task_ids": ["a", "z"]}, "Do b.", 3, {"note": ""}]}
    found = analysts.failures.answer.read(value).as_patch(EMPTY, SHOWN)
    assert found.lapses == (Lapse(note="Do a.", task_ids=("a",)), Lapse(note="Do b."))
    assert found.patch.edits == ()


@pytest.mark.parametrize(
    ("source", "kind", "kept"),
    [
        (AppendixSource.BOTH, SourceType.SUCCESS, True),
        (AppendixSource.FAILURE_ONLY, SourceType.SUCCESS, False),
        (AppendixSource.FAILURE_ONLY, SourceType.FAILURE, True),
    ],
)
def test_the_source_says_whose_notes_count(source, kind, kept) -> None:
    empty = EMPTY.model_copy(update={"source_type": kind})
    value = {"edits": [], "lapses": [{"note": "Do a."}]}
    analysts = aware_analysts(source)
    prompt = analysts.failures if kind is SourceType.FAILURE else analysts.successes
    assert prompt is not None
    answer = prompt.answer.read(value)
    assert bool(answer.as_patch(empty, SHOWN).lapses) is kept
