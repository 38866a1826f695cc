"""Turns as they are stored: redacted first, then cut, by whose words they are."""

from __future__ import annotations

import pytest
from fake_secrets import BODY

from skillgit.records import Speaker
from skillgit.sleep.harvest.raw_turns import (
    AGENT_CHARS,
    LONGEST_ID,
    OTHER_CHARS,
    PERSON_CHARS,
    raw_turn,
    redacted_turn,
)
from skillgit.sleep.harvest.sessions import Origin, Turn


def stored(text: str, origin: Origin = Origin.HUMAN, speaker: Speaker = Speaker.USER) -> Turn:
    return redacted_turn(raw_turn("t1", None, speaker, origin, text))


@pytest.mark.parametrize(
    ("origin", "speaker", "limit"),
    [
        (Origin.HUMAN, Speaker.USER, PERSON_CHARS),
        (Origin.STEERING, Speaker.USER, PERSON_CHARS),
        (Origin.MACHINE, Speaker.ASSISTANT, AGENT_CHARS),
        (Origin.MACHINE, Speaker.TOOL, OTHER_CHARS),
        (Origin.INJECTED, Speaker.USER, OTHER_CHARS),
    ],
)
def test_how_much_is_stored_depends_on_whose_words_they_are(
    origin: Origin, speaker: Speaker, limit: int
) -> None:
    assert len(stored("word " * 10_000, origin, speaker).text) in range(limit - 5, limit + 1)


@pytest.mark.parametrize("before", [0, 200, OTHER_CHARS - 8, OTHER_CHARS])
def test_no_part_of_a_secret_at_the_cut_is_stored(before: int) -> None:
    turn = stored("x" * before + f" ghp_{BODY}", Origin.INJECTED)
    assert "ghp_A1" not in turn.text
    assert BODY[:6] not in turn.text


def test_an_id_is_stored_short_and_without_a_secret() -> None:
    name = redacted_turn(raw_turn(f"ghp_{BODY}", None, Speaker.USER, Origin.HUMAN, "x")).id
    assert BODY not in name
    long = redacted_turn(raw_turn("i" * 1_000, None, Speaker.USER, Origin.HUMAN, "x")).id
    assert len(long) == LONGEST_ID


def test_half_characters_are_replaced() -> None:
    assert stored("a\ud800b\0c").text == "a�b�c"
