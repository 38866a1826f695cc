"""The appendix: notes in a protected region that remind of what the skill already says.

A failure is a defect of the skill, which an edit mends, or a lapse in following it, which no
edit mends: the rule is there. Analysts that tell the two apart leave a note for each lapse.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Generic

from pydantic import Field, field_validator, model_validator

from skillgit.config import AppendixSource
from skillgit.editing.document import Document, is_storable, region_text, replace_region
from skillgit.editing.layout import Region, has_structure
from skillgit.editing.matching import fold
from skillgit.errors import CallError, ReplyError
from skillgit.prompting.answers import Answer, Items, ItemsIfAny, Texts
from skillgit.prompting.prompts import Optimizer, Prompt
from skillgit.records import Lapse, RawPatch, Record, Skill
from skillgit.stages.reflect import (
    REFLECT_SUCCESSES,
    Analysts,
    EditAnalysis,
    FailureFields,
    KeepingEdit,
    MendingEdit,
    ProposedT,
    ReflectFields,
    Shown,
)
from skillgit.stages.rendering import fenced_or_nothing, on_one_line, shown_skill

PURPOSE = "appendix"
NOTE_CHARS = 240


class LapseNote(Answer):
    """A note on a lapse, as an analyst is asked to write it."""

    note: str = Field(description="One sentence that reminds of what the skill already says.")
    task_ids: Texts = Field(description="The tasks in which it was not followed.")

    @model_validator(mode="before")
    @classmethod
    def _bare_text_is_a_note(cls, value: Any) -> Any:
        return {"note": value} if isinstance(value, str) else value

    @field_validator("note")
    @classmethod
    def _fits_the_region(cls, note: str) -> str:
        if not is_note(note):
            raise ReplyError("it can be no note")
        return as_note(note)


class LapsesOnly(Answer):
    """What an analyst answers who has nothing but lapses to tell of."""

    lapses: ItemsIfAny[LapseNote]


class AwareAnalysis(EditAnalysis[ProposedT], Generic[ProposedT]):
    """An analyst's answer with notes on lapses."""

    lapses: ItemsIfAny[LapseNote]

    @model_validator(mode="before")
    @classmethod
    def _lapses_need_no_edits(cls, value: Any) -> Any:
        if not isinstance(value, dict) or value.keys() & {"edits", "patch"}:
            return value
        only = LapsesOnly.read({"lapses": value.get("lapses")})
        return {**value, "edits": []} if only.lapses else value

    def as_patch(self, minibatch: RawPatch, shown: Shown) -> RawPatch:
        """The minibatch's patch with its lapses, of whose tasks only the minibatch's count."""
        lapses = tuple(
            Lapse(
                note=lapse.note,
                task_ids=tuple(i for i in lapse.task_ids if i in minibatch.task_ids),
            )
            for lapse in self.lapses
        )
        return super().as_patch(minibatch, shown).model_copy(update={"lapses": lapses})


class AwareFailureAnalysis(AwareAnalysis[MendingEdit]):
    """The error analyst's answer, defects apart from lapses."""

    edits: Items[MendingEdit] = Field(description="For defects of the skill alone.")
    lapses: ItemsIfAny[LapseNote] = Field(description="For lapses in following it alone.")


class AwareSuccessAnalysis(AwareAnalysis[KeepingEdit]):
    """The success analyst's answer, with what the good attempts nearly overlooked."""


class AppendixFields(Record):
    """What whoever consolidates the notes is shown."""

    skill: str
    notes: str
    most: str


class ConsolidatedNotes(Answer):
    """The notes that are left."""

    bare_list: ClassVar[str] = "notes"

    notes: Texts


AWARE_FAILURES = Prompt("reflect_failures_aware", FailureFields, AwareFailureAnalysis)
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
        return Analysts(AWARE_FAILURES, REFLECT_SUCCESSES)
    return Analysts(AWARE_FAILURES, AWARE_SUCCESSES)


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
        notes=fenced_or_nothing("\n".join(f"- {note}" for note in notes)),
        most=str(most),
    )

    def usable(answer: ConsolidatedNotes) -> tuple[str, ...]:
        kept = _fresh((as_note(note) for note in answer.notes if is_note(note)), ())
        if not kept:
            raise ReplyError("it has no notes")
        if len(kept) > most:
            raise ReplyError(f"it has {len(kept)} notes, over {most}")
        return kept

    try:
        answered = optimizer.ask(CONSOLIDATE, fields, purpose=PURPOSE, slot="notes", accept=usable)
    except (ReplyError, CallError) as error:
        return tuple(notes[-most:]), str(error)
    return answered.answer, ""
