"""The appendix: notes in a protected region that remind of what the skill already says.

A failure is a defect of the skill, which an edit mends, or a lapse in following it, which no
edit mends: the rule is there. Analysts that tell the two apart leave a note for each lapse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from pydantic import Field, JsonValue

from skillgit.config import AppendixSource
from skillgit.editing.document import Document, is_storable, region_text, replace_region
from skillgit.editing.layout import Region, has_structure
from skillgit.editing.matching import fold
from skillgit.errors import CallError, ReplyError
from skillgit.prompting.edit_parser import strings
from skillgit.prompting.prompts import Answer, Optimizer, Prompt
from skillgit.records import Lapse, RawPatch, Record, Skill, SourceType
from skillgit.stages.reflect import (
    REFLECT_SUCCESSES,
    Analysts,
    FailureKind,
    ProposedEdit,
    ReflectFields,
    read_patch,
)
from skillgit.stages.rendering import NOTHING_YET, fenced, on_one_line, shown_skill

PURPOSE = "appendix"
NOTE_CHARS = 240


class LapseNote(Answer):
    """A note on a lapse, as an analyst is asked to write it."""

    note: str = Field(description="One sentence that reminds of what the skill already says.")
    task_ids: list[str] = Field(description="The tasks in which it was not followed.")


class AwareFailureAnalysis(Answer):
    """The error analyst's answer, defects apart from lapses."""

    reasoning: str
    failure_summary: list[FailureKind]
    edits: list[ProposedEdit] = Field(description="For defects of the skill alone.")
    lapses: list[LapseNote] = Field(description="For lapses in following it alone.")


class AwareSuccessAnalysis(Answer):
    """The success analyst's answer, with what the good attempts nearly overlooked."""

    reasoning: str
    edits: list[ProposedEdit]
    lapses: list[LapseNote]


class AppendixFields(Record):
    """What whoever consolidates the notes is shown."""

    skill: str
    notes: str
    most: str


class ConsolidatedNotes(Answer):
    """The notes that are left."""

    notes: list[str]


AWARE_FAILURES = Prompt("reflect_failures_aware", ReflectFields, AwareFailureAnalysis)
AWARE_SUCCESSES = Prompt("reflect_successes_aware", ReflectFields, AwareSuccessAnalysis)
CONSOLIDATE = Prompt("consolidate_appendix", AppendixFields, ConsolidatedNotes)


class Appended(Record):
    """The skill with its notes; `added` are those that are new, `failure` why some had to go."""

    skill: Skill
    added: tuple[str, ...] = ()
    consolidated: bool = False
    failure: str = ""


# ── what the analysts say ────────────────────────────────────────────────────────────────────


def aware_analysts(source: AppendixSource) -> Analysts:
    """Analysts that tell defects from lapses: both of them, or the error analyst alone."""
    if source is AppendixSource.FAILURE_ONLY:
        return Analysts(AWARE_FAILURES, REFLECT_SUCCESSES, _reader((SourceType.FAILURE,)))
    return Analysts(AWARE_FAILURES, AWARE_SUCCESSES, _reader(tuple(SourceType)))


def _reader(
    sources: Sequence[SourceType],
) -> Callable[[JsonValue, RawPatch, Sequence[str]], RawPatch]:
    def read(value: JsonValue, empty: RawPatch, targets: Sequence[str]) -> RawPatch:
        lapses = _lapses(value, empty) if empty.source_type in sources else ()
        if lapses and isinstance(value, dict) and not value.keys() & {"edits", "patch"}:
            value = {**value, "edits": []}
        return read_patch(value, empty, targets).model_copy(update={"lapses": lapses})

    return read


def _lapses(value: JsonValue, minibatch: RawPatch) -> tuple[Lapse, ...]:
    """The notes that can be read; whatever else stands there is left out."""
    listed = value.get("lapses") if isinstance(value, dict) else None
    lapses: list[Lapse] = []
    for item in listed if isinstance(listed, list) else []:
        fields = item if isinstance(item, dict) else {"note": item}
        note = fields.get("note")
        if isinstance(note, str) and is_note(note):
            named = strings(fields.get("task_ids"))
            task_ids = tuple(i for i in named if i in minibatch.task_ids)
            lapses.append(Lapse(note=as_note(note), task_ids=task_ids))
    return tuple(lapses)


def is_note(text: str) -> bool:
    """Whether a text can be a note: some words, and nothing that could end the region."""
    return bool(as_note(text)) and is_storable(text) and not has_structure(text)


def as_note(text: str) -> str:
    """The text as a note, on one line, without a bullet of its own."""
    return on_one_line(text.strip().lstrip("-*•").strip(), NOTE_CHARS)


# ── what stands in the region ────────────────────────────────────────────────────────────────


def notes_of(skill: Skill) -> tuple[str, ...]:
    """The notes in a skill's appendix, in their order."""
    text = region_text(Document.parse(skill.main.data), Region.APPENDIX) or ""
    return tuple(note for line in text.split("\n") if (note := as_note(line)))


def append_notes(
    skill: Skill, lapses: Iterable[Lapse], optimizer: Optimizer, *, most: int
) -> Appended:
    """The skill with a note for every lapse that has none yet, at most so many in all.

    When there would be more, the optimizer consolidates them; without a usable answer the oldest
    go. Not a byte outside the region is changed.
    Raises: BlockedError, BudgetError.
    """
    there = notes_of(skill)
    added = _fresh((lapse.note for lapse in lapses), there)
    if not added:
        return Appended(skill=skill)
    notes, failure = (*there, *added), ""
    consolidated = len(notes) > most
    if consolidated:
        notes, failure = _consolidated(skill, notes, optimizer, most)
    data = replace_region(
        Document.parse(skill.main.data),
        Region.APPENDIX,
        "\n".join(f"- {note}" for note in notes),
    )
    return Appended(
        skill=skill.with_document(skill.main.path, data),
        added=added,
        consolidated=consolidated,
        failure=failure,
    )


def _fresh(notes: Iterable[str], there: Iterable[str]) -> tuple[str, ...]:
    """The notes that say something new, each once."""
    known = {_key(note) for note in there}
    fresh: dict[str, str] = {}
    for note in notes:
        if _key(note) not in known:
            fresh.setdefault(_key(note), note)
    return tuple(fresh.values())


def _key(note: str) -> str:
    return fold(note).casefold().rstrip(".!")


def _consolidated(
    skill: Skill, notes: Sequence[str], optimizer: Optimizer, most: int
) -> tuple[tuple[str, ...], str]:
    """At most so many notes that say the same as all of them, and what went wrong on the way."""
    fields = AppendixFields(
        skill=shown_skill(skill),
        notes=fenced("\n".join(f"- {note}" for note in notes)) if notes else NOTHING_YET,
        most=str(most),
    )

    def read(value: JsonValue) -> tuple[str, ...]:
        listed = value.get("notes") if isinstance(value, dict) else value
        kept = _fresh((as_note(note) for note in strings(listed) if is_note(note)), ())
        if not kept:
            raise ReplyError("it has no notes")
        if len(kept) > most:
            raise ReplyError(f"it has {len(kept)} notes, over {most}")
        return kept

    try:
        answered = optimizer.ask_for(read, CONSOLIDATE, fields, purpose=PURPOSE, slot="notes")
    except (ReplyError, CallError) as error:
        return tuple(notes[-most:]), str(error)
    return answered.answer, ""
