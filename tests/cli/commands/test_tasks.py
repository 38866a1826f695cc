from __future__ import annotations

import json
from pathlib import Path

import pytest

CONFIG = """\
[skill]
path = "skills/brief/SKILL.md"
[tasks]
path = "tasks/brief.jsonl"
[target]
model = "m"
base_url = "https://elsewhere.example/v1"
api_key_env = "A_KEY_NOBODY_HAS"
[optimizer]
model = "m"
"""


@pytest.fixture
def configured(skill_repo: Path) -> Path:
    (skill_repo / "skillgit.toml").write_text(CONFIG)
    return skill_repo


def add(repo: Path, *rows: str) -> None:
    with (repo / "tasks" / "brief.jsonl").open("a") as file:
        file.write("".join(f"{row}\n" for row in rows))


def test_tasks_are_counted_without_keys_and_without_trust(skillgit, configured: Path) -> None:
    out = skillgit("tasks").ok().out
    assert out.startswith("tasks/brief.jsonl, read as jsonl: 15 tasks\n")
    assert "all assigned" in out
    assert "15 rule" in out
    assert "15 real" in out


def test_every_broken_row_is_shown_with_its_line_and_the_exit_code_says_so(
    skillgit, configured: Path
) -> None:
    add(configured, *['{"task_id": "x", "task": 3}'] * 12)
    done = skillgit("tasks")
    assert done.code == 1
    assert [f"tasks/brief.jsonl:{line}: " in done.out for line in range(16, 28)] == [True] * 12
    assert "12 rows cannot be used" in done.out


def test_json_has_an_object_for_each_broken_row(skillgit, configured: Path) -> None:
    add(configured, "{", '{"id": "y", "prompt": "x", "judge": {"kind": "rul"}}')
    done = skillgit("tasks", "--json")
    assert done.code == 1
    *broken, summary = done.objects
    assert [o["place"] for o in broken] == ["tasks/brief.jsonl:16", "tasks/brief.jsonl:17"]
    assert "did you mean 'rule'" in broken[1]["reason"]
    assert (summary["kind"], summary["n_tasks"], summary["n_broken"]) == ("tasks", 15, 2)


def test_near_duplicates_and_judges_of_form_alone_are_named(skillgit, configured: Path) -> None:
    judge = {"kind": "rule", "checks": [{"op": "max_chars", "arg": 10}]}
    for name, split, prompt in (("a", "train", "Say hello!"), ("b", "val", "say HELLO")):
        add(configured, json.dumps({"id": name, "prompt": prompt, "split": split, "judge": judge}))
    out = skillgit("tasks").ok().out
    assert "in train and val: a, b  (apart" in out
    assert "Form only: 2 tasks" in out
    assert "1 train, 1 val, 0 test named, the others assigned" in out


def test_a_set_that_cannot_be_trained_on_is_refused_in_words(skillgit, configured: Path) -> None:
    (configured / "tasks" / "brief.jsonl").write_text(
        '{"id": "a", "prompt": "x", "reference": "y"}\n'
    )
    done = skillgit("tasks")
    assert done.code == 1
    assert "Refused: tasks/brief.jsonl: only one task" in done.out


def test_no_tasks_at_the_path_is_an_error(skillgit, configured: Path) -> None:
    (configured / "tasks" / "brief.jsonl").unlink()
    done = skillgit("tasks")
    assert (done.code, done.out) == (1, "")
    assert "there are no tasks at this path" in done.err


def test_what_a_task_file_says_does_not_steer_the_terminal(skillgit, configured: Path) -> None:
    add(configured, '{"id": "a\\u001b[2J", "prompt": "x"}')
    assert "\x1b" not in skillgit("tasks").out
