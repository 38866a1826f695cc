"""The rule judge: checks on the answer, no model. Hard when all pass, soft the share that does."""

from __future__ import annotations

from pydantic import Field, JsonValue

from skillgit.errors import did_you_mean
from skillgit.judges.checks import OPERATORS, Built, CheckedAnswer, SlowPatternError
from skillgit.judges.settings import JudgeResources, JudgeSettings
from skillgit.ports import Paid
from skillgit.records import Grade, Record, Rollout, Score, Task

VERSION = 1


class Check(Record):
    """One check; `hint` is what the optimizer is told when it fails, instead of plain words."""

    op: str
    arg: JsonValue = None
    hint: str = ""


class RuleSettings(JudgeSettings):
    """The checks, of which there is at least one."""

    checks: tuple[Check, ...] = Field(min_length=1)

    def identity(self) -> dict[str, JsonValue]:
        """The checks without their hints."""
        return {"checks": [{"op": check.op, "arg": check.arg} for check in self.checks]}


class RuleJudge:
    """Grades by checks."""

    def __init__(self, settings: RuleSettings) -> None:
        """Raises: ValueError naming the check that cannot be used."""
        self._checks = [
            (_build(number, check), check.hint.strip())
            for number, check in enumerate(settings.checks, start=1)
        ]

    def grade(self, rollout: Rollout, paid: Paid, slot: str) -> Grade:  # noqa: ARG002
        """The grade; unscored when a pattern comes to no end on this answer."""
        answer = CheckedAnswer(rollout)
        try:
            failed = [hint or built.words for built, hint in self._checks if not built.test(answer)]
        except SlowPatternError:
            return Grade(score=None, reason="a check's pattern took too long on this answer")
        share = (len(self._checks) - len(failed)) / len(self._checks)
        return Grade(
            score=Score(hard=0.0 if failed else 1.0, soft=share),
            reason="; ".join(failed) or "all checks pass",
            reasons=tuple(failed),
        )


def build_rule(task: Task, settings: RuleSettings, resources: JudgeResources) -> RuleJudge:  # noqa: ARG001
    """The rule judge of a task."""
    return RuleJudge(settings)


def is_shape_only(settings: RuleSettings) -> bool:
    """Whether every check looks at form alone, so that reformatting is enough to pass."""
    return all(_build(number, check).shape for number, check in enumerate(settings.checks, 1))


def _build(number: int, check: Check) -> Built:
    operator = OPERATORS.get(check.op)
    if operator is None:
        suggestion = did_you_mean(check.op, OPERATORS, cutoff=0.4)
        raise ValueError(f"check {number}: unknown op {check.op!r}{suggestion}")
    try:
        return operator(check.arg)
    except ValueError as error:
        raise ValueError(f"check {number}: {check.op} {error}") from error
