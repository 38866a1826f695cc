"""The key of a task: what changes it and what does not."""

from __future__ import annotations

from typing import Any

import pytest

from skillgit.records import JudgeSpec, Split, Task, ToolSpec
from skillgit.tasks import task_key

JUDGE = {"kind": "exact", "version": 1, "settings": {}}
TASK = Task(id="a", prompt="p", judge=JudgeSpec(kind="exact"), split=Split.TRAIN, reference="r")


def test_a_key_is_sixteen_hex_digits() -> None:
    assert len(task_key(TASK, JUDGE)) == 16
    assert int(task_key(TASK, JUDGE), 16) >= 0


@pytest.mark.parametrize("change", [{"id": "b"}, {"split": Split.VAL}, {"tags": ("x",)}])
def test_name_split_and_tags_do_not_change_the_key(change: dict[str, Any]) -> None:
    assert task_key(TASK.model_copy(update=change), JUDGE) == task_key(TASK, JUDGE)


@pytest.mark.parametrize(
    "change",
    [
        {"prompt": "q"},
        {"context": "c"},
        {"system": "s"},
        {"turns": ("t",)},
        {"tools": (ToolSpec(name="f", result="1"),)},
        {"reference": "other"},
    ],
)
def test_what_the_target_or_the_judge_sees_changes_the_key(change: dict[str, Any]) -> None:
    assert task_key(TASK.model_copy(update=change), JUDGE) != task_key(TASK, JUDGE)


def test_the_judges_version_changes_the_key() -> None:
    assert task_key(TASK, {**JUDGE, "version": 2}) != task_key(TASK, JUDGE)
