"""The rubric judge: what the judge model is asked, and which of its answers are scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from skillgit.errors import BlockedError, BudgetError, CallError, TaskError
from skillgit.judges import Asks, JudgeResources, read_judge
from skillgit.judges.rubric import RubricFields
from skillgit.prompting.prompts import holes, load_prompts
from skillgit.records import (
    Grade,
    JudgeSpec,
    ModelReply,
    ModelRequest,
    PaidCall,
    PaidReply,
    Record,
    Role,
    Rollout,
    Split,
    Task,
)

T = TypeVar("T", bound=PaidReply)


class OneAnswer:
    """A model that always says the same, or fails."""

    def __init__(self, answer: str | Exception) -> None:
        self.answer = answer
        self.requests: list[ModelRequest] = []

    def complete(self, request: ModelRequest) -> ModelReply:
        self.requests.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        return ModelReply(text=self.answer)


class Ledger:
    def __init__(self) -> None:
        self.calls: list[PaidCall] = []

    def __call__(
        self, call: PaidCall, request: Record, reply: type[T], perform: Callable[[], T]
    ) -> T:
        self.calls.append(call)
        return perform()


def rubric_task(reference: Any = None, **settings: Any) -> Task:
    spec = JudgeSpec(kind="rubric", settings=settings)
    return Task(id="t1", prompt="Name a tide.", reference=reference, judge=spec, split=Split.VAL)


def resources(model: OneAnswer, name: str = "judge-1") -> JudgeResources:
    return JudgeResources(model=model, model_name=name, prompts=load_prompts())


def grade(answer: str | Exception, **settings: Any) -> Grade:
    task = rubric_task(**{"rubric": "Names a tide.", **settings})
    judge = read_judge(task).build(resources(OneAnswer(answer)))
    return judge.grade(Rollout(task_id="t1", answer="Spring tide."), Ledger(), "t1/0")


def test_the_prompt_names_exactly_the_fields_of_its_record() -> None:
    assert holes(load_prompts()["rubric"]) == set(RubricFields.model_fields)


def test_the_judge_model_sees_task_reference_criteria_and_answer() -> None:
    model, paid = OneAnswer('{"score": 1, "reason": ""}'), Ledger()
    task = rubric_task(reference="neap tide", rubric="Be right.", criteria=["names one"])
    judge = read_judge(task).build(resources(model))
    judge.grade(Rollout(task_id="t1", answer="It is $tide."), paid, "t1/0")
    text = model.requests[0].messages[0].content
    for part in ("Name a tide.", "neap tide", "Be right.", "- names one", "It is $tide."):
        assert part in text
    schema = model.requests[0].answer_schema
    assert schema is not None
    assert schema["title"] == "RubricAnswer"
    assert model.requests[0].model == "judge-1"
    assert paid.calls == [PaidCall(role=Role.JUDGE, purpose="judge", slot="t1/0")]


@pytest.mark.parametrize(
    ("answer", "hard", "soft"),
    [
        ('{"score": 1, "reason": "fine"}', 1, 1),
        ('{"score": 0.8}', 1, 0.8),
        ('{"score": 0.79, "reason": "x"}', 0, 0.79),
        ('{"score": 0}', 0, 0),
        ('{"score": 0.5, "reason": null}', 0, 0.5),
        ('<think>{"score": 1}</think>{"score": 0}', 0, 0),
        ('Thinking.\n```json\n{"score": 0.5, "reason": "half"}\n```', 0, 0.5),
        ('{"score": 0.5, "confidence": "high"}', 0, 0.5),
    ],
)
def test_scores(answer: str, hard: float, soft: float) -> None:
    score = grade(answer).score
    assert score is not None
    assert (score.hard, score.soft) == (hard, soft)


@pytest.mark.parametrize(
    "answer",
    [
        '{"score": NaN}',
        '{"score": 85}',
        '{"score": 1e309}',
        '{"score": -Infinity}',
        '{"score": true}',
        '{"score": "0.5"}',
        '{"score": -0.1}',
        '{"score": 1.0001}',
        '{"score": null}',
        '{"score": [1]}',
        '{"reason": "good"}',
        "[]",
        "0.7",
        "I would say 0.7",
        "",
    ],
)
def test_what_is_no_score_from_0_to_1_is_unscored(answer: str) -> None:
    result = grade(answer)
    assert result.score is None
    assert "no usable score" in result.reason


def test_the_pass_mark_can_be_set() -> None:
    assert grade('{"score": 0.6}', pass_at=0.6).passed
    assert not grade('{"score": 0.99}', pass_at=1).passed


def test_a_call_that_failed_is_unscored_and_what_ends_a_run_passes() -> None:
    assert grade(CallError("timed out")).score is None
    for error in (BlockedError("no key"), BudgetError("spent")):
        with pytest.raises(type(error)):
            grade(error)


def test_without_a_judge_model_nothing_is_judged() -> None:
    judge = read_judge(rubric_task(rubric="x")).build(JudgeResources())
    with pytest.raises(BlockedError, match="no judge model"):
        judge.grade(Rollout(task_id="t1", answer="x"), Ledger(), "t1/0")


@pytest.mark.parametrize(
    "settings",
    [{}, {"rubric": " "}, {"rubric": 3}, {"criteria": [""]}, {"pass_at": 0}, {"rubrik": "x"}],
)
def test_settings_that_cannot_be_used_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(TaskError, match="task 't1': judge 'rubric'"):
        read_judge(rubric_task(**settings)).build(JudgeResources())


def test_a_reference_alone_is_enough() -> None:
    read_judge(rubric_task(reference="neap tide")).build(JudgeResources())


def test_the_model_and_the_prompt_are_part_of_the_identity() -> None:
    task, model = rubric_task(rubric="x"), OneAnswer("")
    one = read_judge(task).identity(resources(model, "judge-1"))
    assert one != read_judge(task).identity(resources(model, "judge-2"))
    other = JudgeResources(model=model, model_name="judge-1", prompts={"rubric": "other"})
    assert one != read_judge(task).identity(other)
    assert read_judge(task).asks is Asks.MODEL
