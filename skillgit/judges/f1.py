"""The F1 judge: overlap of words with a reference, as question answering measures it.

Source: Rajpurkar et al. 2016 (SQuAD), section 6.1, and its evaluation script's normalisation.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

from pydantic import JsonValue

from skillgit.judges.answers import as_text, references
from skillgit.judges.settings import JudgeResources, JudgeSettings
from skillgit.ports import Paid
from skillgit.records import Grade, Rollout, Score, Task

VERSION = 1

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_SYMBOLS = frozenset("$+<=>^`|~")


class F1Settings(JudgeSettings):
    """`reference` is for tasks that have it in the judge."""

    reference: JsonValue = None


def squad_words(text: str) -> list[str]:
    """The text's words without case, punctuation and the articles a, an, the."""
    lowered = unicodedata.normalize("NFC", text).lower()
    kept = "".join(
        c for c in lowered if c not in _SYMBOLS and not unicodedata.category(c).startswith("P")
    )
    return _ARTICLES.sub(" ", kept).split()


def word_f1(answer: list[str], reference: list[str]) -> float:
    """The harmonic mean of precision and recall of the words; two empty texts agree."""
    if not answer or not reference:
        return float(answer == reference)
    shared = sum((Counter(answer) & Counter(reference)).values())
    return 2 * shared / (len(answer) + len(reference))


class F1Judge:
    """Hard is an exact match after normalisation, soft the F1, each with the best reference."""

    def __init__(self, wanted: list[str]) -> None:
        self._wanted = [squad_words(text) for text in wanted]

    def grade(self, rollout: Rollout, paid: Paid, slot: str) -> Grade:  # noqa: ARG002
        """The grade."""
        words = squad_words(rollout.answer)
        hard = float(words in self._wanted)
        soft = max(word_f1(words, wanted) for wanted in self._wanted)
        if hard:
            reason = "the expected answer"
        elif soft:
            reason = "the answer has some of the expected words, but not just these"
        else:
            reason = "the answer has none of the expected words"
        return Grade(score=Score(hard=hard, soft=soft), reason=reason)


def build_f1(task: Task, settings: F1Settings, resources: JudgeResources) -> F1Judge:  # noqa: ARG001
    """The F1 judge of a task.

    Raises: ValueError when there is no reference.
    """
    given = settings.reference if settings.reference is not None else task.reference
    return F1Judge([as_text(reference) for reference in references(given)])
