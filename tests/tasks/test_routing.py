"""Tasks that say which of several skills they are for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from skillgit.config import TasksConfig
from skillgit.errors import TaskError
from skillgit.records import Task
from skillgit.tasks import load_tasks

ALL = ("for-a", "for-b", "for-both", "for-all")


def rows(**fields: object) -> str:
    """Three tasks of each kind, one in each split."""
    found = []
    for kind, skill in (
        ("for-a", "a"),
        ("for-b", ["b"]),
        ("for-both", ["a", "b"]),
        ("for-all", None),
    ):
        for split in ("train", "val", "test"):
            row = {"id": f"{kind}-{split}", "prompt": f"{kind} {split}", "split": split,
                   "reference": "x", "skill": skill, **fields}  # fmt: skip
            found.append(json.dumps({k: v for k, v in row.items() if v is not None}))
    return "\n".join(found)


def loaded(held: Any, text: str, skill: str | None, path: str = "t.jsonl") -> list[Task]:
    read, list_files = held({path: text})
    config = TasksConfig(path=path)
    return list(load_tasks(config, read=read, list_files=list_files, skill=skill).tasks)


def kinds(tasks: list[Task]) -> list[str]:
    return list(dict.fromkeys(task.id.rpartition("-")[0] for task in tasks))


@pytest.mark.parametrize(
    ("skill", "expected"),
    [
        (None, ALL),
        ("a", ("for-a", "for-both", "for-all")),
        ("b", ("for-b", "for-both", "for-all")),
        ("c", ("for-all",)),
    ],
)
def test_a_skill_trains_on_its_own_tasks_and_on_those_for_all(held, skill, expected) -> None:
    assert kinds(loaded(held, rows(), skill)) == list(expected)


def test_whom_a_task_is_for_is_read_as_a_name_or_a_list(held) -> None:
    tasks = {task.id: task.skills for task in loaded(held, rows(), None)}
    assert tasks["for-a-val"] == ("a",)
    assert tasks["for-both-val"] == ("a", "b")
    assert tasks["for-all-val"] == ()


@pytest.mark.parametrize("wrong", [3, True, {"a": 1}, ["a", 2], [""], ["  "]])
def test_anything_else_is_an_error_that_names_the_task(held, wrong) -> None:
    with pytest.raises(TaskError, match=r"for-a-train.*'skill' must be a list of texts"):
        loaded(held, rows(skill=wrong), None)


def test_other_shapes_mean_something_else_by_it(held) -> None:
    text = json.dumps(
        [{"id": f"t{i}", "question": f"q{i}", "answer": "x", "skill": "sums"} for i in range(8)]
    )
    assert len(loaded(held, text, "a", "t.json")) == 8


def test_a_skill_that_no_task_is_for_is_named(held) -> None:
    text = "\n".join(line for line in rows().splitlines() if "for-all" not in line)
    with pytest.raises(TaskError, match=r"t\.jsonl: no task in it is for c"):
        loaded(held, text, "c")


def test_an_id_may_stand_twice_for_two_skills(held) -> None:
    twice = rows().replace("for-b-", "for-a-")
    assert len(loaded(held, twice, "a")) == 9
    with pytest.raises(TaskError, match="stands 2 times"):
        loaded(held, twice, None)
