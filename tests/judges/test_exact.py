"""The exact judge: texts, numbers within a tolerance, and multiple choice."""

from __future__ import annotations

from typing import Any

import pytest
from work import grows_in_proportion

from skillgit.errors import TaskError
from skillgit.judges import JudgeResources, build_judge, judge_identity
from skillgit.records import JudgeSpec, PaidCall, Record, Rollout, Split, Task


def no_paid(call: PaidCall, request: Record, reply: object, perform: object) -> Any:
    raise AssertionError("an exact judge pays for nothing")


def exact_task(reference: Any, **settings: Any) -> Task:
    spec = JudgeSpec(kind="exact", settings=settings)
    return Task(id="q1", prompt="p", reference=reference, judge=spec, split=Split.VAL)


def is_right(answer: str, reference: Any, **settings: Any) -> bool:
    judge = build_judge(exact_task(reference, **settings), JudgeResources())
    return judge.grade(Rollout(task_id="q1", answer=answer), no_paid, "q1/0").passed


@pytest.mark.parametrize(
    ("answer", "reference", "right"),
    [
        ("Paris", "paris", True),
        ("  Paris.\n", "Paris", True),
        ('"Paris"', "Paris", True),
        ("**Paris**", "Paris", True),
        ("New   York", "new york", True),
        ("ＰＡＲＩＳ", "Paris", True),
        ("Paris, France", "Paris", False),
        ("It is Paris", "Paris", False),
        ("", "Paris", False),
        ("Lutetia", ["Paris", "Lutetia"], True),
        ("true", True, True),
        ("1", True, False),
    ],
)
def test_texts(answer: str, reference: Any, right: bool) -> None:
    assert is_right(answer, reference) is right


def test_case_counts_when_asked() -> None:
    assert is_right("MiB", "MiB", case_sensitive=True)
    assert not is_right("mib", "MiB", case_sensitive=True)


@pytest.mark.parametrize(
    ("answer", "reference", "settings", "right"),
    [
        ("42", 42, {}, True),
        ("The total is 42.0 euros.", 42, {}, True),
        ("0.30000000000000004", 0.3, {}, True),
        ("43", 42, {}, False),
        ("no number", 42, {}, False),
        ("3.2", "3.14", {"tolerance": 0.1}, True),
        ("3.3", "3.14", {"tolerance": 0.1}, False),
        ("0.4", 0.3, {"tolerance": 0.1}, True),
        ("1,250", 1250, {}, True),
        ("$1,250.50", 1250.5, {}, True),
        ("−7", -7, {}, True),
        ("pages 10-20", 20, {}, True),
        ("2.5e3", 2500, {}, True),
        ("3/4", 0.75, {}, True),
        ("1/0", 1, {}, False),
        ("1e999", 1, {"tolerance": 1e9}, False),
        ("NaN", 1, {"tolerance": 1e9}, False),
        ("105", 100, {"relative_tolerance": 0.05}, True),
        ("106", 100, {"relative_tolerance": 0.05}, False),
        ("-105", -100, {"relative_tolerance": 0.05}, True),
        ("Answer: 42\nI used 3 steps.", 42, {}, True),
        ("first 7, then \\boxed{42} of 9", 42, {}, True),
        ("<answer>42</answer> (of 50)", 42, {}, True),
        ("GPT4", 4, {}, False),
        ("8", [7, 8], {}, True),
        ("first <answer>7</answer>, no: <Answer> 42 </Answer>", 42, {}, True),
        ("so \\boxed{\\frac{84}{2}} = \\boxed{42}", 42, {}, True),
    ],
)
def test_numbers(answer: str, reference: Any, settings: dict[str, Any], right: bool) -> None:
    assert is_right(answer, reference, **settings) is right


CITIES = ["London", "Paris", "Rome", "A Coruña"]


@pytest.mark.parametrize(
    "answer",
    [
        "B",
        "b",
        "(B)",
        "B.",
        "**B**",
        "B) Paris",
        "(B) Paris, since it is the capital",
        "Answer: B",
        "The answer is B.",
        "**Answer:** B",
        "I compared them.\n\nFinal answer: **B**",
        "paris",
        "\\boxed{B}",
        "It must be option B, as shown.",
        "Reasoning …\nso I choose (B)",
        "Answer is B",
        "My answer: b.",
        "B\n\nBecause it is the capital.",
        "It is the capital, so:\n\nB",
        "The answer is Paris",
        "so the answer is **B**, not (A)",
        "Option A is tempting, but the answer is B.",
        "$\\boxed{\\text{B}}$",
        "Final Answer: The final answer is (B). I hope it is correct.",
    ],
)
def test_the_option_that_an_answer_names_is_read(answer: str) -> None:
    assert is_right(answer, "B", choices=CITIES)
    assert is_right(answer, "Paris", choices=CITIES)
    assert not is_right(answer, "A", choices=CITIES)


@pytest.mark.parametrize(
    "answer", ["", "A or B", "(A) or (B)", "E", "A big city", "London or Paris", "A\nor\nB"]
)
def test_no_single_option_is_wrong(answer: str) -> None:
    assert not is_right(answer, "A", choices=CITIES)
    assert not is_right(answer, "B", choices=CITIES)


def test_choices_come_in_several_forms() -> None:
    for choices in ("London|Paris", '["London", "Paris"]', {"A": "London", "B": "Paris"}):
        assert is_right("B", "Paris", choices=choices)
    labelled = {"text": ["x", "y"], "label": ["1", "2"]}
    assert is_right("y", "2", choices=labelled)


@pytest.mark.parametrize(
    ("reference", "settings", "reason"),
    [
        (None, {}, "needs a 'reference'"),
        ([], {}, "not an empty list"),
        ([None], {}, "needs a 'reference'"),
        ({"a": 1}, {}, "needs a 'reference'"),
        ("many", {"tolerance": 1}, "is no number"),
        (3, {"tolerance": -1}, "tolerance"),
        (3, {"tolerance": "x"}, "tolerance"),
        (3, {"tolerence": 1}, "did you mean 'tolerance'?"),
        ("E", {"choices": CITIES}, "none of the choices"),
        ("A", {"choices": ["one"]}, "two or more options"),
        ("A", {"choices": [1, None]}, "every option is a text"),
        ("A", {"choices": "[broken"}, "judge 'exact'"),
        ("A", {"choices": CITIES, "tolerance": 1}, "do not go together"),
    ],
)
def test_settings_that_cannot_be_used_are_refused_by_task(
    reference: Any, settings: dict[str, Any], reason: str
) -> None:
    with pytest.raises(TaskError) as caught:
        build_judge(exact_task(reference, **settings), JudgeResources())
    assert "task 'q1'" in caught.value.message
    assert reason in caught.value.message


def test_what_equals_its_default_is_no_part_of_the_identity() -> None:
    spelled = judge_identity(exact_task("a", case_sensitive=False), JudgeResources())
    assert spelled == judge_identity(exact_task("a"), JudgeResources())


@pytest.mark.parametrize(
    "unit", ["<answer>", "\\boxed{", "answer ", "**", "\n", "1,", "1/ ", "(A ", "Answer"]
)
def test_reading_an_answer_takes_work_in_proportion_to_it(unit: str) -> None:
    assert grows_in_proportion(lambda size: is_right(unit * size, "A", choices=CITIES), 500)
    assert grows_in_proportion(lambda size: is_right(unit * size, 3), 500)
