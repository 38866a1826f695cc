"""The rubric judge: a model reads the answer against criteria and says how well it meets them."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, JsonValue, field_validator, model_validator

from skillgit.errors import BlockedError, CallError, ReplyError
from skillgit.judges.settings import JudgeResources, JudgeSettings
from skillgit.ports import Paid
from skillgit.prompting.answers import Answer
from skillgit.prompting.prompts import Prompt
from skillgit.prompting.replies import extract
from skillgit.records import (
    Grade,
    ModelReply,
    PaidCall,
    Record,
    Role,
    Rollout,
    Score,
    Task,
    UnitInterval,
)
from skillgit.records.canonical import canonical_json, slot_seed

VERSION = 1
PURPOSE = "judge"


class RubricFields(Record):
    """What the judge model is shown."""

    task: str
    reference: str
    criteria: str
    answer: str


class RubricAnswer(Answer):
    """The judge model's verdict."""

    score: UnitInterval = Field(description="How well the answer meets the criteria, 0 to 1.")
    reason: str = Field(default="", description="What is missing or wrong, in a sentence or two.")

    @field_validator("reason", mode="before")
    @classmethod
    def _none_is_no_reason(cls, value: object) -> object:
        return "" if value is None else value


RUBRIC = Prompt("rubric", RubricFields, RubricAnswer)


class RubricSettings(JudgeSettings):
    """The criteria, as a text, a list or both; an answer passes from `pass_at` on.

    Without criteria, the answer is compared with the task's reference.
    """

    rubric: str = ""
    criteria: tuple[str, ...] = ()
    pass_at: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] = 0.8

    @model_validator(mode="after")
    def _not_blank(self) -> Self:
        if any(not criterion.strip() for criterion in self.criteria):
            raise ValueError("criteria: none may be blank")
        return self

    @property
    def text(self) -> str:
        """All criteria as Markdown."""
        listed = "\n".join(f"- {criterion.strip()}" for criterion in self.criteria)
        return "\n\n".join(part for part in (self.rubric.strip(), listed) if part)


class RubricJudge:
    """Soft is the model's score, hard whether it reaches the pass mark."""

    def __init__(self, task: Task, settings: RubricSettings, resources: JudgeResources) -> None:
        self._task = task
        self._settings = settings
        self._resources = resources

    def grade(self, rollout: Rollout, paid: Paid, slot: str) -> Grade:
        """The grade; unscored when the model's answer is no score from 0 to 1.

        Raises: BlockedError, BudgetError.
        """
        try:
            reply = self._ask(rollout, paid, slot)
            verdict = extract(reply.text, RUBRIC.answer.read)
        except CallError as error:
            return Grade(score=None, reason=f"the judge could not be asked: {error}")
        except ReplyError as error:
            return Grade(score=None, reason=f"the judge gave no usable score: {error}")
        hard = 1.0 if verdict.score >= self._settings.pass_at else 0.0
        return Grade(score=Score(hard=hard, soft=verdict.score), reason=verdict.reason.strip())

    def _ask(self, rollout: Rollout, paid: Paid, slot: str) -> ModelReply:
        resources = self._resources
        model, text = resources.model, resources.prompts.get(RUBRIC.name)
        if model is None or text is None:
            raise BlockedError("a task is judged by a rubric, and there is no judge model to ask")
        request = RUBRIC.request(
            text,
            self._show(rollout),
            model=resources.model_name,
            temperature=resources.temperature,
            max_tokens=resources.max_tokens,
            seed=slot_seed(PURPOSE, slot),
        )
        call = PaidCall(role=Role.JUDGE, purpose=PURPOSE, slot=slot)
        return paid(call, request, ModelReply, lambda: model.complete(request))

    def _show(self, rollout: Rollout) -> RubricFields:
        task = self._task
        parts = (task.context, task.prompt, *task.turns)
        return RubricFields(
            task="\n\n".join(part for part in parts if part.strip()),
            reference=_shown(task.reference) or "(There is none.)",
            criteria=self._settings.text or "The answer says what the reference says.",
            answer=rollout.answer.strip() or "(The answer is empty.)",
        )


def build_rubric(task: Task, settings: RubricSettings, resources: JudgeResources) -> RubricJudge:
    """The rubric judge of a task.

    Raises: ValueError when there is nothing to judge by.
    """
    if not settings.text and task.reference is None:
        raise ValueError("needs a 'rubric' or 'criteria', or the task a 'reference'")
    return RubricJudge(task, settings, resources)


def _shown(reference: JsonValue) -> str:
    if reference is None or isinstance(reference, str):
        return (reference or "").strip()
    return canonical_json(reference)
