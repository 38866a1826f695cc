"""The exact judge: the answer is the reference, as a text, a number, or one of the choices."""

from __future__ import annotations

import math
from typing import Annotated, Self

from pydantic import Field, JsonValue, model_validator

from skillgit.judges.answers import as_text, final_answer, last_number, plain, references
from skillgit.judges.choices import chosen_option, option_of_reference, read_choices
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
