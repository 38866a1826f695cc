"""Task files of other tools: tables, JSON lists, split folders and a skill's own evals."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from skillgit.config import TasksConfig
from skillgit.errors import TaskError
from skillgit.records import Split
from skillgit.tasks import TaskSet, load_tasks
from skillgit.tasks.fields import NAMES

Load = Callable[..., TaskSet]

QUESTIONS = (
    "What are tides?",
    "Who dug the canal?",
    "Where do glaciers calve?",
    "Why is rust red?",
)


@pytest.fixture
def load(held: Callable[..., Any]) -> Load:
    def load_from(files: Mapping[str, bytes | str], path: str, **settings: Any) -> TaskSet:
        read, list_files = held(files)
        return load_tasks(TasksConfig(path=path, **settings), read=read, list_files=list_files)

    return load_from


def items(*numbers: int) -> list[dict[str, Any]]:
    return [{"id": f"q{n}", "question": QUESTIONS[n], "answers": [f"a{n}"]} for n in numbers]


# ── tables ───────────────────────────────────────────────────────────────────────────────────


def test_a_table_with_the_usual_columns_is_read(load: Load) -> None:
    text = "id,question,answer,split,difficulty\r\n" + "".join(
        f'{n},"{q}",a{n},{("train", "val", "test", "train")[n]},3\r\n'
        for n, q in enumerate(QUESTIONS)
    )
    read = load({"t.csv": text}, "t.csv")
    first = read.tasks[0]
    assert (first.id, first.prompt, first.reference, first.split) == (
        "0", QUESTIONS[0], "a0", Split.TRAIN,
    )  # fmt: skip
    assert first.judge.kind == "exact"
    assert len(read.train) == 2


@pytest.mark.parametrize(("name", "mark"), [("t.csv", ";"), ("t.tsv", "\t"), ("t.csv", "\t")])
def test_semicolons_and_tabs_are_known(load: Load, name: str, mark: str) -> None:
    text = "\n".join(
        mark.join(cells) for cells in [("prompt", "answer"), *((q, "a, b") for q in QUESTIONS)]
    )
    assert load({name: text}, name).tasks[1].reference == "a, b"


def test_a_cell_may_hold_line_ends_quotes_and_a_byte_order_mark_may_lead(load: Load) -> None:
    text = '\ufeffprompt,answer\n"one\ntwo ""three""",a\n' + "".join(f"{q},b\n" for q in QUESTIONS)
    read = load({"t.csv": text}, "t.csv")
    assert read.tasks[0].prompt == 'one\ntwo "three"'


def test_columns_may_have_any_names(load: Load) -> None:
    text = "Frage,Lösung,Nr\n" + "".join(f"{q},x,{n}\n" for n, q in enumerate(QUESTIONS))
    columns = {"prompt": "Frage", "reference": "Lösung", "id": "Nr"}
    read = load({"t.csv": text}, "t.csv", columns=columns, judge={"kind": "f1"})
    assert (read.tasks[2].id, read.tasks[2].judge.kind) == ("2", "f1")


def test_choices_and_judges_may_stand_in_cells(load: Load) -> None:
    judge = json.dumps({"kind": "exact", "tolerance": 0.5}).replace('"', '""')
    text = (
        "prompt,answer,choices,judge\n"
        f"{QUESTIONS[0]},B,red|blue,\n"
        f'{QUESTIONS[1]},B,"[""red"", ""blue""]",\n'
        f'{QUESTIONS[2]},3,,"{judge}"\n'
        f"{QUESTIONS[3]},x,,f1\n"
    )
    tasks = load({"t.csv": text}, "t.csv").tasks
    assert tasks[0].judge.settings == {"choices": "red|blue"}
    assert tasks[1].judge.settings == {"choices": ["red", "blue"]}
    assert tasks[2].judge.settings == {"tolerance": 0.5}
    assert tasks[3].judge.kind == "f1"


def test_rows_without_an_id_are_known_by_their_content(load: Load) -> None:
    rows = [f"{q},a" for q in QUESTIONS]
    read = load({"t.csv": "\n".join(["prompt,answer", *rows])}, "t.csv")
    back = load({"t.csv": "\n".join(["prompt,answer", *reversed(rows)])}, "t.csv")
    assert read.task_set_id == back.task_set_id
    assert {t.id for t in read.tasks} == {t.id for t in back.tasks}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("prompt,answer\na,b\nc,d,e\n", "t.csv:3: has 3 cells, and there are 2 columns"),
        ("prompt,prompt\na,b\n", "t.csv:1: the column 'prompt' stands twice"),
        ("words,answer\na,b\n", "says which of its fields that is: words, answer"),
        ('prompt,answer\n"a,b\n', "t.csv:2: is no table from here on"),
        ("prompt,judge\na,{broken\n", "t.csv:2: column 'judge': not valid JSON"),
        ("prompt,answer\na,\n", "t.csv:2: task 't-"),
        ("prompt,answer\n", "there are no tasks in it"),
        ("", "there are no tasks in it"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused_by_line(load: Load, text: str, reason: str) -> None:
    with pytest.raises(TaskError) as caught:
        load({"t.csv": text}, "t.csv")
    assert reason in caught.value.message


# ── JSON lists ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "wrap",
    [
        lambda rows: rows,
        lambda rows: {"data": rows, "version": 1},
        lambda rows: {"tasks": rows},
        lambda rows: {row["id"]: {k: v for k, v in row.items() if k != "id"} for row in rows},
    ],
)
def test_a_json_list_is_read_however_it_is_wrapped(load: Load, wrap: Any) -> None:
    read = load({"t.json": json.dumps(wrap(items(0, 1, 2, 3)))}, "t.json")
    assert [t.id for t in read.tasks] == ["q0", "q1", "q2", "q3"]
    assert read.tasks[0].reference == ["a0"]


def test_json_lines_in_a_json_file_are_read_as_lines(load: Load) -> None:
    text = "".join(json.dumps(row) + "\n" for row in items(0, 1, 2))
    assert len(load({"t.json": text.replace("question", "task")}, "t.json").tasks) == 3


def test_a_json_list_in_a_file_of_lines_is_read_as_a_list(load: Load) -> None:
    text = json.dumps(items(0, 1, 2), indent=1)
    assert len(load({"t.jsonl": text}, "t.jsonl").tasks) == 3


def test_squad_answers_are_their_texts(load: Load) -> None:
    rows = [
        {"id": n, "question": QUESTIONS[n], "answers": {"text": ["x", "y"], "answer_start": [0, 3]}}
        for n in range(3)
    ]
    assert load({"t.json": json.dumps(rows)}, "t.json").tasks[0].reference == ["x", "y"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[1, 2]", "t.json: item 1: a task is a JSON object"),
        ('[{"id": "a", "question": "q", "answer": NaN}]', "NaN"),
        ("{}", "holds no list of tasks"),
        ('"x"', "holds no list of tasks"),
        ("", "not valid JSON"),
        ('[{"id": "a"}]', "t.json: item 1: task 'a': a task needs a 'prompt'"),
    ],
)
def test_a_json_file_that_cannot_be_read_is_refused(load: Load, text: str, reason: str) -> None:
    with pytest.raises(TaskError) as caught:
        load({"t.json": text}, "t.json")
    assert reason in caught.value.message


# ── SkillOpt's split folders ─────────────────────────────────────────────────────────────────


def test_split_folders_say_the_splits(load: Load) -> None:
    files = {
        "data/split_manifest.json": "{}",
        "data/train/items.json": json.dumps(items(0, 1)),
        "data/train/raw.json": json.dumps(items(0, 1)),
        "data/val/items.json": json.dumps(items(2)),
        "data/test/items.json": json.dumps(items(3)),
    }
    read = load(files, "data", judge={"kind": "f1"})
    assert [(t.id, t.split) for t in read.tasks] == [
        ("q0", Split.TRAIN), ("q1", Split.TRAIN), ("q2", Split.VAL), ("q3", Split.TEST),
    ]  # fmt: skip


def test_split_folders_hold_any_kind_of_file(load: Load) -> None:
    files = {
        "data/train/a.csv": f"id,question,answer\n1,{QUESTIONS[0]},x\n2,{QUESTIONS[1]},x\n",
        "data/valid/b.jsonl": json.dumps({"task_id": "3", "task": QUESTIONS[2], "answer": "x"}),
    }
    read = load(files, "data")
    assert (len(read.train), len(read.val)) == (2, 1)


def test_split_folders_that_share_an_id_are_refused_by_name(load: Load) -> None:
    files = {
        "data/train/items.json": json.dumps(items(0, 1)),
        "data/val/items.json": json.dumps(items(1, 2)),
    }
    with pytest.raises(TaskError, match="the id 'q1' stands 2 times, in train and val both"):
        load(files, "data")


def test_a_split_that_contradicts_its_folder_is_refused(load: Load) -> None:
    files = {
        "data/train/items.json": json.dumps([{**items(0)[0], "split": "val"}]),
        "data/val/items.json": json.dumps(items(1, 2)),
    }
    with pytest.raises(TaskError, match="split 'val', but its file says 'train'"):
        load(files, "data")


# ── a skill's own evals ──────────────────────────────────────────────────────────────────────


def evals(*changes: dict[str, Any]) -> str:
    rows = [
        {
            "id": n + 1,
            "prompt": QUESTIONS[n],
            "expected_output": "a short answer",
            "files": [],
            "assertions": ["is short", {"text": "is right"}],
        }
        for n in range(3)
    ]
    rows[: len(changes)] = [{**row, **change} for row, change in zip(rows, changes, strict=False)]
    return json.dumps({"skill_name": "brief", "evals": rows})


@pytest.mark.parametrize("path", ["s/evals/evals.json", "s/evals", "s"])
def test_evals_are_judged_by_a_rubric_of_their_assertions(load: Load, path: str) -> None:
    first = load({"s/SKILL.md": "# S", "s/evals/evals.json": evals()}, path).tasks[0]
    assert (first.id, first.reference, first.judge.kind) == ("1", "a short answer", "rubric")
    assert first.judge.settings["criteria"] == ["is short", "is right"]


def test_the_files_of_an_eval_are_its_context(load: Load) -> None:
    files = {
        "s/evals/evals.json": evals({"files": ["evals/files/a.csv"]}, {"files": ["b.txt"]}),
        "s/evals/files/a.csv": "x,y\n1,2\n",
        "s/evals/b.txt": "words",
    }
    tasks = load(files, "s").tasks
    assert tasks[0].context == "The file evals/files/a.csv:\n\nx,y\n1,2\n"
    assert tasks[1].context == "The file b.txt:\n\nwords"


def test_an_eval_with_a_judge_of_its_own_keeps_it(load: Load) -> None:
    judge = {"kind": "exact"}
    assert (
        load({"evals.json": evals({"judge": judge})}, "evals.json").tasks[0].judge.kind == "exact"
    )


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"files": ["../../x"]}, "leads out of the skill's folder"),
        ({"files": ["/etc/passwd"]}, "leads out"),
        ({"files": ["no.txt"]}, "'no.txt' is not there"),
        ({"files": ["bin"]}, "no text in UTF-8"),
        ({"files": "a"}, "list of paths"),
        ({"files": [1]}, "list of paths"),
        ({"assertions": "x"}, "'assertions' must be a list of texts"),
        ({"assertions": [1]}, "'assertions' must be a list of texts"),
        ({"assertions": [], "expected_output": None}, "neither an 'expected_output'"),
        ({"prompt": ""}, "a task needs a 'prompt'"),
    ],
)
def test_an_eval_that_cannot_be_used_is_named(
    load: Load, change: dict[str, Any], reason: str
) -> None:
    with pytest.raises(TaskError) as caught:
        load({"s/evals/evals.json": evals(change), "s/bin": b"\xff\xfe\x00"}, "s")
    assert "s/evals/evals.json: eval 1: " in caught.value.message
    assert reason in caught.value.message


# ── the page about all this ──────────────────────────────────────────────────────────────────


def test_the_docs_name_every_field_and_show_tasks_that_load(load: Load) -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "tasks.md").read_text()
    for name, others in NAMES.items():
        assert all(f"`{other}`" in page for other in (name, *others))
    examples = [block.split("```")[0] for block in page.split("```json\n")[1:]]
    third = {"id": "x", "prompt": "Explain rust.", "reference": "oxide"}
    read = load({"t.jsonl": "".join([*examples, json.dumps(third)])}, "t.jsonl")
    assert [t.id for t in read.tasks] == ["brief-01", "bm-001", "x"]
