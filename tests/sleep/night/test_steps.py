"""A night's two steps: what each tries, and why one is skipped."""

from __future__ import annotations

from dataclasses import replace

import pytest
from night_projects import CHECKED, House, Proposing, asks

from skillgit.history import StepNote
from skillgit.models.paid import Meter
from skillgit.records import Action, Role, Task
from skillgit.sleep.night.cycle import run_sleep_cycle
from skillgit.sleep.night.plan import Night, most_calls
from skillgit.sleep.night.steps import night


def slept(house: House, tasks: list[Task], optimizer: Proposing) -> tuple[list[Action], Night]:
    """The actions of a night's commits, oldest first, and the night as it was set up."""
    seen: list[Night] = []

    def watch(setup: Night, _meter: Meter) -> None:
        seen.append(setup)

    config = house.config()
    with house.parts(config, stand_ins=optimizer.as_optimizer) as parts:
        run_sleep_cycle(config, parts=replace(parts, watch=watch), seed_tasks=tasks)
        commits = list(parts.store.history("night-1"))
    return [commit.action for commit in reversed(commits)], seen[0]


def notes(house: House) -> list[StepNote]:
    with house.parts(house.config()) as parts:
        commits = [*parts.store.history("night-1")]
        lines = [line for c in reversed(commits) for line in parts.store.notes_on(c.id)]
    return [line for line in lines if isinstance(line, StepNote)]


def test_a_night_is_a_baseline_a_step_for_each_document_and_an_end(house: House) -> None:
    actions, _ = slept(house, asks(4, 3), Proposing(CHECKED))
    assert (actions[0], actions[-1]) == (Action.BASELINE, Action.END)
    assert actions[1] is Action.ACCEPT_NEW_BEST
    skill, memory = notes(house)
    assert (skill.step, memory.step) == (1, 2)
    assert all(o.edit.target == "skills/notes/SKILL.md" for o in skill.edits)


def test_what_the_skill_learned_leaves_the_memorys_step_nothing_to_try(house: House) -> None:
    optimizer = Proposing(CHECKED)
    slept(house, asks(4, 3), optimizer)
    _, memory = notes(house)
    assert memory.action is Action.SKIP
    assert memory.gate_reason == "every val task passes already"
    assert memory.n_total == 0


ANY = {"checks": [{"op": "regex", "arg": "."}]}


def test_train_tasks_that_all_pass_leave_nothing_to_learn(house: House) -> None:
    easy = [
        task.model_copy(update={"judge": task.judge.model_copy(update={"settings": ANY})})
        for task in asks(4, 0)
    ]
    slept(house, [*easy, *asks(7, 3)[7:]], Proposing(CHECKED))
    assert {note.gate_reason for note in notes(house)} == {"no train task fails"}


def test_a_step_without_a_document_is_not_counted_on(house: House) -> None:
    _, setup = slept(house, asks(4, 3), Proposing(CHECKED))
    alone = replace(setup, plan=setup.plan.model_copy(update={"memory": None}))
    assert list(setup.steps_after(0)) == [1, 2]
    assert list(alone.steps_after(0)) == [1]
    assert most_calls(alone)[Role.OPTIMIZER] < most_calls(setup)[Role.OPTIMIZER]


def test_an_ended_night_yields_nothing_more(house: House) -> None:
    _, setup = slept(house, asks(4, 3), Proposing(CHECKED))
    with house.parts(house.config()) as parts:
        assert list(night(replace(setup, store=parts.store))) == []


@pytest.mark.parametrize("step", [1, 2])
def test_each_step_has_its_document(house: House, step: int) -> None:
    _, setup = slept(house, asks(4, 3), Proposing(CHECKED))
    assert setup.document(step) == {1: "skills/notes/SKILL.md", 2: "AGENTS.md"}[step]
