"""The report on a task set: counts, near-duplicates, and what is broken."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from skillgit.config import TasksConfig
from skillgit.tasks import TasksReport, report_tasks

Held = Callable[..., Any]


def report(held: Held, text: str, **settings: Any) -> TasksReport:
    read, list_files = held({"t.jsonl": text})
    return report_tasks(TasksConfig(path="t.jsonl"), read=read, list_files=list_files, **settings)


def row(number: int, prompt: str, **fields: Any) -> str:
    return json.dumps({"id": f"t{number}", "prompt": prompt, "reference": "x", **fields}) + "\n"


def test_what_was_read_is_counted(held: Held) -> None:
    text = row(0, "tides") + row(1, "Tides!") + row(2, "canals") + row(3, "rust", judge="f1")
    seen = report(held, text, looks_at_shape_only=lambda task: task.id == "t2")
    assert (seen.reader, seen.n_tasks) == ("jsonl", 4)
    assert sum(seen.splits.values()) == 4
    assert seen.judges == {"exact": 3, "f1": 1}
    assert seen.origins == {"real": 4}
    assert [group.ids for group in seen.near_duplicates] == [("t0", "t1")]
    assert len(seen.near_duplicates[0].splits) == 1
    assert seen.shape_only == ("t2",)
    assert (seen.broken, seen.refused) == ((), None)


def test_near_duplicates_in_two_splits_are_seen(held: Held) -> None:
    text = row(0, "tides", split="train") + row(1, "Tides!", split="val") + row(2, "x", split="val")
    assert report(held, text).near_duplicates[0].splits == ("train", "val")


def test_broken_rows_are_listed_beside_the_good_ones(held: Held) -> None:
    seen = report(held, row(0, "tides") + "{\n" + row(1, " ") + row(2, "canals"))
    assert seen.n_tasks == 2
    assert [problem.split(": ")[0] for problem in seen.broken] == ["t.jsonl:2", "t.jsonl:3"]
    assert (sum(seen.splits.values()), seen.named_splits) == (2, {})


def test_every_broken_row_is_listed_not_the_first_ten_alone(held: Held) -> None:
    text = row(0, "tides") + row(1, "canals") + row(2, "rust") + "{\n" * 30
    assert len(report(held, text).broken) == 30


def test_ids_that_stand_twice_are_broken_rows(held: Held) -> None:
    text = "".join(row(i // 2, f"prompt {i}") for i in range(30))
    seen = report(held, text)
    assert len(seen.broken) == 15
    assert seen.broken[0] == "t.jsonl:1, t.jsonl:2: the id 't0' stands 2 times"
    assert seen.refused is None


def test_what_is_named_is_told_from_what_is_assigned(held: Held) -> None:
    text = row(0, "tides", split="test") + "".join(row(i, f"prompt {i}") for i in range(1, 8))
    seen = report(held, text)
    assert seen.named_splits == {"test": 1}
    assert sum(seen.splits.values()) == 8


def test_a_set_that_cannot_be_trained_on_says_why(held: Held) -> None:
    seen = report(held, row(0, "tides"))
    assert seen.refused is not None
    assert "only one task" in seen.refused
