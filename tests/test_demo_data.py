"""The demo's skill is deficient, its tasks are in order, and its house style can be learnt."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import skillgit
from skillgit.config import SimulationConfig, TasksConfig
from skillgit.judges.registry import read_judge
from skillgit.judges.settings import JudgeResources
from skillgit.models.simulated.target import answer
from skillgit.records import (
    Message,
    ModelRequest,
    PaidCall,
    PaidReply,
    Record,
    Rollout,
    Speaker,
    Task,
)
from skillgit.tasks.load import load_tasks
from skillgit.tasks.task_set import TaskSet

FOLDER = Path(skillgit.__file__).parent / "demo_data"
SKILL = (FOLDER / "SKILL.md").read_text(encoding="utf-8")

LEARNT = SKILL.replace('- Finish with "Hope this helps!"\n', "") + (
    '- Always add a section headed "## Key Risks".\n'
    '- Always add a section headed "## Upgrade".\n'
    "- A brief closes with a confidence line.\n"
    "- Dates are written as YYYY-MM-DD.\n"
    "- No exclamation marks.\n"
    '- Start with a "TL;DR" line.\n'
    "- Release notes are never in the first person.\n"
    "- Distances are in metric units.\n"
)


def demo_tasks() -> TaskSet:
    def files(path: str) -> Sequence[str]:
        return [path] if (FOLDER / path).is_file() else []

    return load_tasks(
        TasksConfig(path="tasks.jsonl"),
        read=lambda path: (FOLDER / path).read_bytes(),
        list_files=files,
    )


def share_passed(skill: str, tasks: Sequence[Task]) -> float:
    return sum(_passes(skill, task) for task in tasks) / len(tasks)


def _passes(skill: str, task: Task) -> bool:
    messages = (
        Message(role=Speaker.SYSTEM, content=skill),
        Message(role=Speaker.USER, content=task.prompt),
    )
    reply = answer(
        ModelRequest(model="sim-target", messages=messages), SimulationConfig(obedience=1.0)
    )
    rollout = Rollout(task_id=task.id, answer=reply.text)
    return read_judge(task).build(JudgeResources()).grade(rollout, _nothing_is_paid, "slot").passed


def _nothing_is_paid(call: PaidCall, request: Record, reply: type, perform: object) -> PaidReply:
    raise AssertionError("a rule judge pays for nothing")


def test_every_split_has_tasks_enough() -> None:
    tasks = demo_tasks()
    assert (len(tasks.train), len(tasks.val), len(tasks.test)) == (36, 24, 12)


def test_the_skill_fails_most_tasks_as_it_is() -> None:
    tasks = demo_tasks()
    assert 0.0 < share_passed(SKILL, tasks.val) < 0.25
    assert 0.0 < share_passed(SKILL, tasks.train) < 0.25


def test_a_skill_with_the_house_style_passes_all() -> None:
    assert share_passed(LEARNT, demo_tasks().tasks) == 1.0


def test_each_rule_of_the_house_style_is_worth_something() -> None:
    tasks = demo_tasks()
    for line in LEARNT.splitlines()[-8:]:
        without = LEARNT.replace(f"{line}\n", "")
        assert share_passed(without, tasks.tasks) < 1.0, line
