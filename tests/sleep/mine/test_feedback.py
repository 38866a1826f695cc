"""Feedback: words as words, and negation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from work import grows_in_proportion

from skillgit.sleep.mine.feedback import Mood, mood

COMPLAINTS = [
    "no",
    "No.",
    "no, use tabs",
    "No! That's the wrong file.",
    "nope, try the other one",
    "wrong",
    "That's wrong, the total is off",
    "that is not what I asked for",
    "this isn't right",
    "It still doesn't work",
    "doesn’t work on Windows",
    "you forgot the tests",
    "you missed the second case",
    "I told you to use uv",
    "as I said, no new files",
    "why did you delete the config?",
    "great, but it still fails",
    "thanks, but that's not what I meant",
    "undo that",
    "revert it please",
    "stop",
    "please don't add comments everywhere",
    "the output is wrong",
    "Not good enough, it's not correct",
    "you should have asked first",
    "no no no",
    "No problem with the first part, but you forgot the second",
    "nein, das stimmt nicht",
    "das funktioniert nicht",
    "non, ça ne marche pas",
    "no funciona todavía",
    "不对，重新来",
    "違うよ",
]

NO_COMPLAINTS = [
    "no problem",
    "No problem at all, go on",
    "no worries",
    "No need to change anything",
    "not bad!",
    "nothing wrong with that",
    "that's not bad",
    "this is not wrong",
    "never mind",
    "why not use a set?",
    "no more errors, thanks",
    "I know nothing about knobs and notation",
    "Fix the wrong total in the invoice page",
    "Add a test for the broken link checker",
    "Now handle the case where the password is wrong",
    "Show an error `wrong password` to the user",
    'The message should read "that is wrong"',
    "> that's wrong\nI agree with the reviewer's first point",
    "```\nno, this is wrong\n```\nMake this text friendlier",
    "No tests are needed for this change",
    "If it doesn't work, tell me",
    "Wrongly sorted rows go last",
    "stopwords should be removed",
    "perfect, thanks",
    "works now",
    "yes",
    "",
    "kein Problem",
    "pas de problème",
    "no hay problema",
    "没问题",
    "Write a function that says no",
]


@pytest.mark.parametrize("text", COMPLAINTS)
def test_a_complaint(text: str) -> None:
    assert mood(text) is Mood.COMPLAINT


@pytest.mark.parametrize("text", NO_COMPLAINTS)
def test_no_complaint(text: str) -> None:
    assert mood(text) is not Mood.COMPLAINT


@pytest.mark.parametrize("text", ["thanks!", "Perfect.", "great job", "no problems, looks good"])
def test_praise(text: str) -> None:
    assert mood(text) is Mood.PRAISE


@given(st.text(max_size=200))
def test_nothing_raises(text: str) -> None:
    mood(text)


def test_a_mood_is_told_with_work_in_proportion_to_the_message() -> None:
    assert grows_in_proportion(
        lambda size: mood("no problem " * size + "`" * size + '"' * (size - 1)), 1_000
    )
