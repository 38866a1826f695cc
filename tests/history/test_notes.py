from __future__ import annotations

from typing import Literal

import pytest

from skillgit.history.notes import NOTE_KINDS, HangsOn, NoteLine, ScoresLine, StepNote, note_kind
from skillgit.store.notes.ledger import parse_line


def test_every_kind_says_on_what_it_hangs() -> None:
    assert all(record.hangs_on in HangsOn for record in NOTE_KINDS.values())
    assert StepNote.hangs_on is HangsOn.STEP
    assert ScoresLine.hangs_on is HangsOn.SKILL


def test_a_kind_is_known_once_it_is_registered() -> None:
    class Mood(NoteLine):
        """A made-up kind."""

        kind: Literal["mood"] = "mood"
        word: str

    text = Mood(word="good").to_line()
    parse_line.cache_clear()
    assert parse_line(text) is None
    parse_line.cache_clear()
    try:
        note_kind("mood", on=HangsOn.END)(Mood)
        assert parse_line(text) == Mood(word="good")
    finally:
        NOTE_KINDS.pop("mood", None)
        parse_line.cache_clear()


def test_a_name_is_taken_once_and_has_to_be_the_records_own() -> None:
    class Other(NoteLine):
        """A kind under a name that is taken."""

        kind: Literal["step"] = "step"

    with pytest.raises(ValueError, match="already"):
        note_kind("step", on=HangsOn.STEP)(Other)
    with pytest.raises(ValueError, match="does not say"):
        note_kind("other", on=HangsOn.STEP)(Other)
