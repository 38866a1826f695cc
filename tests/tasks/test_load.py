"""Reading a task set: what is accepted, and what is refused by name and reason."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from skillgit.config import TasksConfig
from skillgit.errors import TaskError
from skillgit.records import Split, Task
from skillgit.tasks import TaskSet, load_tasks

RULE = {"kind": "rule", "checks": [{"op": "contains", "arg": "x"}]}
TOPICS = (
    "tides", "glaciers", "harbours", "volcanoes", "orchards", "railways", "satellites", "bridges",
    "markets", "vaccines", "turbines", "archives", "canals", "lighthouses", "deserts", "forests",
)  # fmt: skip


Load = Callable[..., TaskSet]


@pytest.fixture
def load(held: Callable[..., Any]) -> Load:
    def load_from(
        files: Mapping[str, bytes | str],
        path: str = "tasks.jsonl",
        check: Callable[[Task], object] | None = None,
        **settings: Any,
    ) -> TaskSet:
        read, list_files = held(files)
        config = TasksConfig(path=path, **settings)
        return load_tasks(config, read=read, list_files=list_files, check=check)

    return load_from


def task(number: int, **fields: Any) -> dict[str, Any]:
    prompt = f"Write a short brief on {TOPICS[number % len(TOPICS)]}, part {number}"
    return {"id": f"t{number}", "prompt": prompt, "judge": RULE, **fields}


def lines(*tasks: object) -> str:
    return "".join(json.dumps(t) + "\n" for t in tasks)


def split_of(task_set: TaskSet) -> dict[str, Split]:
    return {t.id: t.split for t in task_set.tasks}


def test_our_own_shape_is_read_whole(load: Load) -> None:
    tool = {"name": "search", "parameters": {"type": "object"}, "result": "nothing found"}
    whole = task(
        0,
        context="some notes",
        system="You are brief.",
        turns=["and shorter"],
        tools=[tool],
        reference={"a": 1},
        split="val",
        tags=["hard"],
    )
    read = load({"tasks.jsonl": lines(whole, task(1, split="train"), task(2, split="train"))})
    first = read.tasks[0]
    assert first.context == "some notes"
    assert first.turns == ("and shorter",)
    assert first.tools[0].result == "nothing found"
    assert first.reference == {"a": 1}
    assert first.split is Split.VAL
    assert first.judge.kind == "rule"
    assert first.judge.settings == {"checks": RULE["checks"]}


def test_the_shape_of_rule_judged_benchmarks_is_read(load: Load) -> None:
    rows = [
        {
            "task_id": f"bm-{n:03}",
            "task": f"Write a brief on {TOPICS[n]}",
            "judge": RULE,
            "difficulty": 3,
        }
        for n in range(15)
    ]
    read = load({"tasks.jsonl": lines(*rows)})
    assert [t.id for t in read.tasks][:2] == ["bm-000", "bm-001"]
    assert (len(read.train), len(read.val), len(read.test)) == (7, 4, 4)


def test_a_reference_without_a_judge_is_compared_exactly(load: Load) -> None:
    rows = [{"id": str(n), "prompt": TOPICS[n], "reference": "a"} for n in range(3)]
    assert {t.judge.kind for t in load({"tasks.jsonl": lines(*rows)}).tasks} == {"exact"}


def test_the_configured_judge_is_for_tasks_that_name_none(load: Load) -> None:
    rows = [task(0), *({"id": str(n), "prompt": TOPICS[n], "answer": "a"} for n in (1, 2))]
    read = load({"tasks.jsonl": lines(*rows)}, judge={"kind": "f1"})
    assert [t.judge.kind for t in read.tasks] == ["rule", "f1", "f1"]


def test_a_byte_order_mark_blank_lines_and_windows_line_ends_do_not_matter(load: Load) -> None:
    plain = lines(*(task(n) for n in range(4)))
    windows = ("\ufeff\n" + plain.replace("\n", "\r\n \r\n")).encode()
    assert load({"tasks.jsonl": windows}) == load({"tasks.jsonl": plain})


def test_files_that_were_joined_may_have_marks_inside(load: Load) -> None:
    joined = "".join("\ufeff" + lines(task(n)) for n in range(3))
    assert len(load({"tasks.jsonl": joined}).tasks) == 3


def test_a_line_separator_inside_a_text_is_no_line_end(load: Load) -> None:
    rows = [task(n, context="a\u2028b\u0085c") for n in range(3)]
    text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    assert load({"tasks.jsonl": text}).tasks[0].context == "a\u2028b\u0085c"


def test_a_lone_surrogate_is_replaced(load: Load) -> None:
    text = lines(*(task(n) for n in range(3))).replace("part 1", r"part \ud83d 1")
    assert "\ufffd" in load({"tasks.jsonl": text}).tasks[1].prompt


def test_a_pair_of_surrogates_is_one_character(load: Load) -> None:
    text = lines(*(task(n) for n in range(3))).replace("part 1", r"part \ud83d\ude00 1")
    assert "😀" in load({"tasks.jsonl": text}).tasks[1].prompt


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{not json", "not valid JSON"),
        ('{"id": "x", "prompt": "p", "judge": {"kind": "rule"}, "reference": NaN}', "NaN"),
        ('{"id": "x", "prompt": "p", "reference": -Infinity}', "-Infinity"),
        ('{"id": "x", "prompt": "p", "reference": 1e309}', "out of range"),
        ('{"id": "x", "id": "y", "prompt": "p", "reference": 1}', "stands twice"),
        ("[" * 100_000, "too deeply"),
        ('{"id": "x", "prompt": "p", "reference": ' + "9" * 5000 + "}", "limit"),
        ("[]", "a task is a JSON object"),
        ('"x"', "a task is a JSON object"),
        ("null", "a task is a JSON object"),
        ('{"prompt": "p", "reference": 1}', "needs an 'id'"),
        ('{"id": "  ", "prompt": "p", "reference": 1}', "not blank"),
        ('{"id": true, "prompt": "p", "reference": 1}', "'id' must be a text"),
        ('{"id": 1.5, "prompt": "p", "reference": 1}', "'id' must be a text"),
        ('{"id": "a\\nb", "prompt": "p", "reference": 1}', "control characters"),
        ('{"id": "x", "reference": 1}', "task 'x': a task needs a 'prompt'"),
        ('{"id": "x", "prompt": " ", "reference": 1}', "a task needs a 'prompt'"),
        ('{"id": "x", "prompt": 3, "reference": 1}', "'prompt' must be a text, not a number"),
        ('{"id": "x", "prompt": "p"}', "neither a 'judge' nor a 'reference'"),
        ('{"id": "x", "prompt": "p", "judge": 3}', "'judge' must be an object, not a number"),
        ('{"id": "x", "prompt": "p", "judge": {}}', "'judge' needs a 'kind'"),
        ('{"id": "x", "prompt": "p", "refrence": 1}', "did you mean 'reference'?"),
        ('{"id": "x", "prompt": "p", "reference": 1, "split": "trian"}', "did you mean 'train'?"),
        ('{"id": "x", "prompt": "p", "reference": 1, "split": 3}', "unknown split 3"),
        ('{"id": "x", "prompt": "p", "reference": 1, "turns": "no"}', "'turns' must be a list"),
        ('{"id": "x", "prompt": "p", "reference": 1, "turns": [""]}', "not blank"),
        ('{"id": "x", "prompt": "p", "reference": 1, "tools": [{}]}', "tool 1: name"),
        (
            '{"id": "x", "prompt": "p", "reference": 1, "tools": [{"name":"a"},{"name":"a"}]}',
            "tool 'a' is declared twice",
        ),
    ],
)
def test_a_broken_line_is_named_with_its_reason(load: Load, line: str, reason: str) -> None:
    with pytest.raises(TaskError) as caught:
        load({"tasks.jsonl": lines(task(0), task(1)) + line + "\n" + lines(task(2))})
    assert "tasks.jsonl:3: " in caught.value.message
    assert reason in caught.value.message


def test_all_problems_are_told_at_once_up_to_ten(load: Load) -> None:
    with pytest.raises(TaskError) as caught:
        load({"tasks.jsonl": "{\n" * 14})
    assert caught.value.message.count("not valid JSON") == 10
    assert "and 4 more" in caught.value.message


def test_bytes_that_are_no_utf8_are_named_with_their_line(load: Load) -> None:
    broken = lines(task(0)).encode() + b"caf\xe9\n"
    with pytest.raises(TaskError, match=r"tasks\.jsonl:2: is not UTF-8"):
        load({"tasks.jsonl": broken})
    with pytest.raises(TaskError, match="UTF-16"):
        load({"tasks.jsonl": lines(task(0)).encode("utf-16")})


def test_a_check_that_refuses_a_task_is_told_with_the_line(load: Load) -> None:
    def check(one: Task) -> None:
        if one.id == "t1":
            raise TaskError("task 't1': bad judge")

    with pytest.raises(TaskError, match=r"tasks\.jsonl:2: task 't1': bad judge"):
        load({"tasks.jsonl": lines(task(0), task(1), task(2))}, check=check)


def test_an_id_that_stands_twice_is_refused_by_name(load: Load) -> None:
    with pytest.raises(TaskError) as caught:
        load({"tasks.jsonl": lines(task(0), task(1), task(0), task(2))})
    assert "tasks.jsonl:1, tasks.jsonl:3: the id 't0' stands 2 times" in caught.value.message


def test_val_and_train_that_share_an_id_are_refused_by_name(load: Load) -> None:
    files = {
        "tasks/train.jsonl": lines(task(0), task(1)),
        "tasks/val.jsonl": lines(task(1), task(2)),
    }
    with pytest.raises(TaskError, match="'t1' stands 2 times, in train and val both"):
        load(files, "tasks")


@pytest.mark.parametrize(
    ("tasks", "reason"),
    [
        ([], "there are no tasks"),
        ([task(0)], "only one task"),
        ([task(0), task(1)], "only 2 tasks"),
        ([task(n, split="test") for n in range(3)], "no task is in train"),
        ([task(n, split="train") for n in range(3)], "no task is in val"),
        ([task(n, split="val") for n in range(3)], "no task is in train"),
        ([task(0, id=f"t{n}") for n in range(9)], "near-duplicates"),
    ],
)
def test_a_set_that_cannot_be_validated_is_refused(
    load: Load, tasks: list[dict[str, Any]], reason: str
) -> None:
    with pytest.raises(TaskError, match=reason):
        load({"tasks.jsonl": lines(*tasks)})


def test_a_path_with_nothing_there_is_refused(load: Load) -> None:
    with pytest.raises(TaskError, match=r"elsewhere\.jsonl: there are no tasks at this path"):
        load({}, "elsewhere.jsonl")


def test_a_task_set_in_another_order_has_the_same_splits(load: Load) -> None:
    tasks = [task(n) for n in range(16)]
    shuffled = random.Random(3).sample(tasks, len(tasks))
    ordered, mixed = load({"tasks.jsonl": lines(*tasks)}), load({"tasks.jsonl": lines(*shuffled)})
    assert split_of(ordered) == split_of(mixed)
    assert ordered.task_set_id == mixed.task_set_id


def test_near_duplicates_stay_together(load: Load) -> None:
    tasks = [task(n) for n in range(12)]
    twins = [task(n, id=f"twin{n}", prompt=tasks[n]["prompt"].upper() + " !!") for n in range(12)]
    read = load({"tasks.jsonl": lines(*tasks, *twins)})
    splits = split_of(read)
    assert all(splits[f"t{n}"] is splits[f"twin{n}"] for n in range(12))
    assert read.val
    assert read.train


def test_only_tasks_without_a_split_are_distributed(load: Load) -> None:
    named = [task(n, split="test") for n in range(4)]
    read = load({"tasks.jsonl": lines(*named, *(task(n) for n in range(4, 16)))})
    assert all(split_of(read)[f"t{n}"] is Split.TEST for n in range(4))
    assert (len(read.train), len(read.val), len(read.test)) == (6, 3, 4 + 3)


def test_three_tasks_are_one_for_each_split(load: Load) -> None:
    read = load({"tasks.jsonl": lines(*(task(n) for n in range(3)))})
    assert (len(read.train), len(read.val), len(read.test)) == (1, 1, 1)


def test_other_words_for_splits_are_known(load: Load) -> None:
    tasks = [task(0, split="training"), task(1, split="Dev"), task(2, split="validation")]
    read = load({"tasks.jsonl": lines(*tasks)})
    assert [t.split for t in read.tasks] == [Split.TRAIN, Split.VAL, Split.VAL]


def test_a_file_named_after_a_split_names_it(load: Load) -> None:
    files = {f"tasks/{s}.jsonl": lines(task(n)) for n, s in enumerate(("train", "val", "test"))}
    read = load(files, "./tasks/")
    assert split_of(read) == {"t0": Split.TRAIN, "t1": Split.VAL, "t2": Split.TEST}


def test_columns_name_the_fields_of_foreign_files(load: Load) -> None:
    rows = [{"nr": n, "words": TOPICS[n], "gold": "a", "prompt": "no"} for n in range(3)]
    read = load(
        {"tasks.jsonl": lines(*rows)},
        columns={"id": "nr", "prompt": "words", "reference": "gold"},
    )
    first = read.tasks[0]
    assert (first.id, first.prompt, first.reference) == ("0", TOPICS[0], "a")


@pytest.mark.parametrize("path", ["../tasks.jsonl", "/tmp/tasks.jsonl", "", "a/../../b"])
def test_a_path_outside_the_repository_is_refused(load: Load, path: str) -> None:
    with pytest.raises(TaskError, match="no path inside the repository"):
        load({}, path)


def test_files_in_no_known_shape_are_refused_with_the_known_ones(load: Load) -> None:
    with pytest.raises(TaskError, match="no task files") as caught:
        load({"tasks/readme.md": "hello"}, "tasks")
    assert "JSON Lines" in caught.value.hint
