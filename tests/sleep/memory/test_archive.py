from __future__ import annotations

import json

from night_projects import as_lines, ask, asks, task

from skillgit.sleep.memory.archive import (
    MOST_ARCHIVED,
    read_archive,
    united,
    with_reviewed,
    with_tasks,
)


def rows(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def test_given_tasks_come_back_as_they_were() -> None:
    tasks = asks(2, 1)
    assert [kept.task for kept in read_archive(with_tasks("", tasks))] == tasks


def test_a_task_that_is_given_again_stands_once_at_the_end() -> None:
    text = with_tasks(with_tasks("", asks(2, 1)), [ask("t0", "Something new", "val")])
    assert [row["id"] for row in rows(text)] == ["t1", "t2", "t0"]


def test_the_oldest_go_when_there_are_too_many() -> None:
    many = [ask(f"n{i}", f"Write about number {i}", "train") for i in range(MOST_ARCHIVED + 5)]
    text = with_tasks("", many)
    assert len(rows(text)) == MOST_ARCHIVED
    assert rows(text)[0]["id"] == "n5"


def test_what_a_person_reviewed_goes_before_what_was_mined_but_keeps_its_split() -> None:
    mined = as_lines([task("a", "Old words for it", "val"), task("b", "Another", "train")])
    mended = task("a", "My own words for it", "train") | {"reviewed": True}
    fresh = task("c", "All mine", "test") | {"reviewed": True}
    ignored = task("d", "Not looked at", "train") | {"reviewed": False}
    text = with_reviewed(mined, as_lines([mended, fresh, ignored]))
    kept = {item.task.id: item.task for item in read_archive(text)}
    assert kept["a"].prompt == "My own words for it"
    assert kept["a"].split.value == "val"
    assert kept["c"].split.value == "test"
    assert "d" not in kept


def test_lines_that_are_no_tasks_are_left_out() -> None:
    text = "[]\nnull\n{broken\n" + as_lines([task("a", "Fine", "train")]) + '{"id": "x"}\n'
    assert [kept.task.id for kept in read_archive(text)] == ["a"]


def test_a_tasks_evidence_is_what_was_said() -> None:
    row = task("a", "Write it", "train") | {"evidence": [{"text": "No, use uv"}, {"turn": 1}]}
    (kept,) = read_archive(as_lines([row]))
    assert kept.session_texts == ("Write it", "No, use uv")


def test_what_another_night_archived_meanwhile_stays() -> None:
    older, newer = with_tasks("", asks(2, 0)), with_tasks("", [ask("t1", "New", "val")])
    assert [(r["id"], r["prompt"]) for r in rows(united(older, newer))][1] == ("t1", "New")
    assert len(rows(united(older, newer))) == 2
    assert united("", newer) == newer
