"""The file of mined tasks: a person's, to read, edit and mark."""

from __future__ import annotations

import json

import pytest
from transcripts import ClaudeSession, read_bytes

from skillgit.config import TasksConfig
from skillgit.errors import TaskError
from skillgit.sleep.harvest.lineage import merged
from skillgit.sleep.mine import MinedTask, mine_heuristic, update
from skillgit.tasks import load_tasks

RATIO = (0.5, 0.25, 0.25)


def mined(n: int = 8, start: int = 0) -> list[MinedTask]:
    sessions = []
    for number in range(start, start + n):
        built = ClaudeSession(f"s{number}").user(f"Write brief {number} on topic {number * number}")
        built.agent().user("no, use pytest instead of unittest")
        sessions.append(merged(read_bytes("claude-code", built.data, f"s{number}.jsonl")))
    return mine_heuristic(sessions)


def written(tasks: list[MinedTask], text: str = "", max_tasks: int = 40) -> str:
    return update(text, tasks, ratio=RATIO, max_tasks=max_tasks).text


def test_the_file_is_a_task_set_that_can_be_trained_on() -> None:
    text = written(mined())
    found = load_tasks(
        TasksConfig(path="mined.jsonl"),
        read=lambda _: text.encode(),
        list_files=lambda path: [path],
    )
    assert len(found.tasks) == 8
    assert found.train
    assert found.val
    assert all(task.origin.value == "real" for task in found.tasks)


def test_every_task_says_where_it_comes_from() -> None:
    row = json.loads(written(mined(1)))
    assert row["reviewed"] is False
    assert row["origin"] == "real"
    assert row["evidence"][1]["text"] == "no, use pytest instead of unittest"
    assert {"session", "turn", "time", "origin", "text"} == set(row["evidence"][0])
    assert row["split"] in ("train", "val", "test")


def test_what_a_person_has_edited_stays_byte_for_byte() -> None:
    first, *others = written(mined()).splitlines()
    edited = first.replace('"reviewed": false', '"reviewed":true')
    after = written(mined(), "\n".join([edited, *others]) + "\n")
    assert after.splitlines() == [edited, *others]


def test_more_tasks_go_to_the_end_and_the_splits_given_stay() -> None:
    before = written(mined())
    after = written(mined(12), before)
    assert after.startswith(before)
    assert len(after.splitlines()) == 12


def test_there_are_at_most_so_many_tasks() -> None:
    found = update(written(mined(3)), mined(12), ratio=RATIO, max_tasks=5)
    assert (found.tasks, found.over_limit) == (5, 7)


def test_a_file_that_holds_something_else_is_not_written_over() -> None:
    with pytest.raises(TaskError, match="line 2"):
        update('{"id": "a"}\n# A heading\n', mined(1), ratio=RATIO, max_tasks=40)
