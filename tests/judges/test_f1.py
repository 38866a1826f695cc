"""The F1 judge: SQuAD's normalisation, exact match and overlap of words."""

from __future__ import annotations

from typing import Any

import pytest

from skillgit.errors import TaskError
from skillgit.judges import JudgeResources, read_judge
from skillgit.judges.f1 import squad_words
from skillgit.records import JudgeSpec, PaidCall, Record, Rollout, Split, Task


def no_paid(call: PaidCall, request: Record, reply: object, perform: object) -> Any:
    raise AssertionError("an F1 judge pays for nothing")


def scores(answer: str, reference: Any, **settings: Any) -> tuple[float, float]:
    spec = JudgeSpec(kind="f1", settings=settings)
    task = Task(id="q", prompt="p", reference=reference, judge=spec, split=Split.VAL)
    grade = (
        read_judge(task)
        .build(JudgeResources())
        .grade(Rollout(task_id="q", answer=answer), no_paid, "q/0")
    )
    assert grade.score is not None
    assert grade.reason
    return grade.score.hard, pytest.approx(grade.score.soft)


def test_case_punctuation_and_articles_do_not_count() -> None:
    assert squad_words("The Eiffel-Tower, in a “Park”!") == ["eiffeltower", "in", "park"]
    assert squad_words("another theatre") == ["another", "theatre"]


@pytest.mark.parametrize(
    ("answer", "reference", "hard", "soft"),
    [
        ("The Eiffel Tower.", "eiffel tower", 1, 1),
        ("the tall Eiffel Tower", "Eiffel Tower", 0, 0.8),
        ("Big Ben", "Eiffel Tower", 0, 0),
        ("cat cat cat", "cat", 0, 0.5),
        ("", "Eiffel Tower", 0, 0),
        ("the", "", 1, 1),
        ("something", "", 0, 0),
        ("$5", "5", 1, 1),
        ("42", 42, 1, 1),
        ("red house", ["blue house", "red house on hill"], 0, 2 / 3),
        ("red house", ["blue", "Red House"], 1, 1),
    ],
)
def test_the_best_reference_counts(answer: str, reference: Any, hard: float, soft: float) -> None:
    assert scores(answer, reference) == (hard, pytest.approx(soft))


def test_a_task_without_a_reference_is_refused() -> None:
    with pytest.raises(TaskError, match="task 'q': judge 'f1': needs a 'reference'"):
        scores("x", None)
