"""The exact judge: the answer is the reference, as a text, a number, or one of the choices."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from string import ascii_uppercase
from typing import Annotated, Self

from pydantic import Field, JsonValue, model_validator

from skillgit.judges.answers import as_text, final_answer, last_number, plain, references
from skillgit.judges.settings import JudgeResources, JudgeSettings
from skillgit.ports import Paid
from skillgit.records import Grade, Rollout, Score, Task

VERSION = 1

Tolerance = Annotated[float, Field(ge=0, allow_inf_nan=False)]

FLOAT_NOISE = 1e-9


class ExactSettings(JudgeSettings):
    """How the answer is compared; `reference` is for tasks that have it in the judge.

    Unit: `tolerance` in the reference's own unit, `relative_tolerance` as a share of it.
    """

    reference: JsonValue = None
    case_sensitive: bool = False
    tolerance: Tolerance | None = None
    relative_tolerance: Tolerance | None = None
    choices: JsonValue = None

    @model_validator(mode="after")
    def _one_way_to_compare(self) -> Self:
        if self.choices is not None and self.is_numeric:
            raise ValueError("choices and a tolerance do not go together")
        return self

    @property
    def is_numeric(self) -> bool:
        """Whether a tolerance was given, so that references are numbers."""
        return self.tolerance is not None or self.relative_tolerance is not None


class TextJudge:
    """Right when the whole answer is a reference, lightly normalised."""

    def __init__(self, wanted: list[str], *, case_sensitive: bool) -> None:
        self._case_sensitive = case_sensitive
        self._wanted = {plain(text, case_sensitive=case_sensitive) for text in wanted}

    def grade(self, rollout: Rollout, paid: Paid, slot: str) -> Grade:  # noqa: ARG002
        """The grade."""
        right = plain(rollout.answer, case_sensitive=self._case_sensitive) in self._wanted
        return _grade(right=right, wrong="the answer is not the expected text")


class NumberJudge:
    """Right when the last number of the final answer is near enough to a reference."""

    def __init__(self, wanted: list[float], absolute: float, relative: float) -> None:
        self._wanted = wanted
        self._absolute = absolute
        self._relative = max(relative, FLOAT_NOISE)

    def grade(self, rollout: Rollout, paid: Paid, slot: str) -> Grade:  # noqa: ARG002
        """The grade."""
        number = last_number(final_answer(rollout.answer))
        if number is None or not math.isfinite(number):
            return _grade(right=False, wrong="there is no number in the answer")
        right = any(
            abs(number - wanted)
            <= max(self._absolute * (1 + FLOAT_NOISE), self._relative * abs(wanted))
            for wanted in self._wanted
        )
        return _grade(right=right, wrong="the number is not the expected one")


class ChoiceJudge:
    """Right when the answer names one option and that is a reference."""

    def __init__(self, options: dict[str, str], wanted: set[str]) -> None:
        self._options = options
        self._wanted = wanted

    def grade(self, rollout: Rollout, paid: Paid, slot: str) -> Grade:  # noqa: ARG002
        """The grade."""
        chosen = chosen_option(rollout.answer, self._options)
        if chosen is None:
            return _grade(right=False, wrong="the answer names no single option")
        return _grade(right=chosen in self._wanted, wrong="another option is right")


ExactJudge = TextJudge | NumberJudge | ChoiceJudge


def build_exact(task: Task, settings: ExactSettings, resources: JudgeResources) -> ExactJudge:  # noqa: ARG001
    """The exact judge of a task: by choices, by number, or by text.

    Numbers are compared as such when a tolerance is given, or all references are JSON numbers.
    Raises: ValueError.
    """
    given = settings.reference if settings.reference is not None else task.reference
    wanted = references(given)
    if settings.choices is not None:
        options = read_choices(settings.choices)
        return ChoiceJudge(options, {option_of_reference(as_text(w), options) for w in wanted})
    if settings.is_numeric or all(type(w) in (int, float) for w in wanted):
        numbers = [_number(w) for w in wanted]
        return NumberJudge(numbers, settings.tolerance or 0.0, settings.relative_tolerance or 0.0)
    return TextJudge([as_text(w) for w in wanted], case_sensitive=settings.case_sensitive)


def _number(reference: bool | int | float | str) -> float:  # noqa: FBT001
    value = last_number(as_text(reference))
    if isinstance(reference, bool) or value is None:
        raise ValueError(f"the reference {reference!r} is no number")
    return value


def _grade(*, right: bool, wrong: str) -> Grade:
    score = 1.0 if right else 0.0
    return Grade(
        score=Score(hard=score, soft=score), reason="the expected answer" if right else wrong
    )


# ── Multiple choice: which option an answer names.

_ALONE = re.compile(r"[\s(\[]*([A-Za-z])[\s)\].:]*$")
_FIRST = re.compile(r"\(?([A-Za-z])[).:]\s")
_SAID = re.compile(r"\b(?i:answer(?: is)?|choose|pick)\s*:?\s*[*_]*\(?([A-Z])\b(?!['’])")
_MARKED = re.compile(
    r"\(([A-Za-z])\)|\*\*\(?([A-Za-z])\)?[.:]?\*\*|\b(?i:option|choice)\s*:?\s*\(?([A-Z])\b"
)


def read_choices(value: JsonValue) -> dict[str, str]:
    """The options by letter, of a list of texts, a map from letters, or a text cut at `|`.

    Raises: ValueError.
    """
    if isinstance(value, str):
        parts: list[JsonValue] = [part.strip() for part in value.split("|")]
        value = json.loads(value) if value.lstrip().startswith("[") else parts
    if isinstance(value, dict) and set(value) == {"text", "label"}:
        texts, labels = value["text"], value["label"]
        if isinstance(texts, list) and isinstance(labels, list) and len(texts) == len(labels):
            value = dict(zip(map(str, labels), texts, strict=True))
    if isinstance(value, list):
        value = dict(zip(ascii_uppercase, value, strict=False))
    if not isinstance(value, dict) or len(value) < 2:
        raise ValueError("choices: two or more options, as a list of texts")
    options = {}
    for letter, text in value.items():
        if not isinstance(text, str | int | float) or isinstance(text, bool) or not str(text):
            raise ValueError("choices: every option is a text")
        options[letter.strip().upper()] = str(text)
    return options


def option_of_reference(reference: str, options: Mapping[str, str]) -> str:
    """The letter that a reference means: an option's text, or a letter.

    Raises: ValueError.
    """
    for letter, text in options.items():
        if plain(text) == plain(reference):
            return letter
    letter = reference.strip().upper()
    if letter in options:
        return letter
    raise ValueError(f"the reference {reference!r} is none of the choices")


def chosen_option(answer: str, options: Mapping[str, str]) -> str | None:
    """The one letter an answer names, or `None` when it names none or several."""
    text = final_answer(answer)
    bare = plain(text)
    for letter, option in options.items():
        if bare == plain(option):
            return letter
    rows = [row for row in text.splitlines() if row.strip()] or [""]
    alone = (_ALONE.match(row) for row in (bare, plain(rows[0]), plain(rows[-1])))
    letters = {match[1].upper() for match in alone if match}
    if letters:
        return _single(letters & options.keys()) if len(letters) == 1 else None
    said = {str(letter).upper() for letter in _SAID.findall(answer)} & options.keys()
    if len(said) == 1:
        return said.pop()
    named = {str(a or b or c).upper() for a, b, c in _MARKED.findall(text)} & options.keys() | said
    start = text.lstrip("*_ \t\n")
    if first := _FIRST.match(start):
        letter, rest = first[1].upper(), plain(start[first.end() :])
        if letter in options and rest.startswith(plain(options[letter])):
            return letter
        named |= {letter} & options.keys()
    return _single(named)


def _single(letters: set[str]) -> str | None:
    return next(iter(letters)) if len(letters) == 1 else None
