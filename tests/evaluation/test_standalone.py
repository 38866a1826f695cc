"""Measuring outside of a run: shared with trainings through the ledger, and exact after a stop."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from projects import CONFIG, SKILL_TEXT, Project

from skillgit.errors import BudgetError
from skillgit.evaluation.standalone import Measuring
from skillgit.history import Phase, ScoresLine
from skillgit.models.paid import Meter
from skillgit.ports import Model
from skillgit.records import ModelReply, ModelRequest, Split

NOISY = CONFIG.replace(
    'model = "sim-target"', 'model = "sim-target"\nsimulation = { obedience = 0.5 }'
)


class Counted:
    """A model that counts its calls, and stops the machine after so many."""

    def __init__(self, model: Model, most: int | None = None) -> None:
        self._model = model
        self._most = most
        self.calls = 0

    def complete(self, request: ModelRequest) -> ModelReply:
        if self._most is not None and self.calls >= self._most:
            raise KeyboardInterrupt
        self.calls += 1
        return self._model.complete(request)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "repo")


@contextmanager
def measuring(
    project: Project, *, split: Split = Split.VAL, most: int | None = None, **settings: Any
) -> Iterator[tuple[Measuring, list[Counted]]]:
    counted: list[Counted] = []

    def wrap(model: Model) -> Model:
        counted.append(Counted(model, most))
        return counted[-1]

    with project.training_context(wrap=wrap) as context:
        tasks = context.tasks.of(split)
        yield (
            Measuring(
                evaluator=replace(context.evaluator, workers=1),
                store=context.store,
                journal=context.journal,
                clock=context.clock,
                tasks=tasks,
                val=frozenset(context.evaluator.keys[t.id] for t in context.tasks.val),
                max_unscored=0.2,
                meter=settings.pop("meter", Meter()),
                **settings,
            ),
            counted,
        )


def calls(counted: list[Counted]) -> int:
    return sum(model.calls for model in counted)


def skill_of(found: Measuring) -> Any:
    return found.store.committed_skill("main")


def lines(found: Measuring) -> list[ScoresLine]:
    noted = found.store.notes_on(found.store.object_id(skill_of(found)))
    return [line for line in noted if isinstance(line, ScoresLine)]


def test_what_was_measured_is_in_the_ledger_and_not_measured_again(project: Project) -> None:
    with measuring(project) as (found, counted):
        skill = skill_of(found)
        assert found.most_calls([skill]) == 8
        (first,) = found.measure([skill]).values()
        assert (first.measured, first.scored, calls(counted)) == (8, 8, 8)
    with measuring(project) as (found, counted):
        assert found.most_calls([skill]) == 0
        (second,) = found.measure([skill]).values()
        assert (second.measured, calls(counted)) == (0, 0)
        assert second.tasks == first.tasks


def test_a_training_takes_what_was_measured_here(project: Project) -> None:
    with measuring(project) as (found, _):
        (scores,) = found.measure([skill_of(found)]).values()
    baseline, *_ = project.train()
    assert baseline.entry.object_lines == ()
    assert scores.mean is not None
    assert baseline.entry.score.score == scores.mean.hard


def test_what_a_training_measured_is_taken_here(project: Project) -> None:
    project.train()
    with measuring(project) as (found, counted):
        (scores,) = found.measure([skill_of(found)]).values()
        assert (scores.measured, scores.scored, calls(counted)) == (0, 8, 0)


def test_again_measures_the_next_repeat_of_each_task(project: Project) -> None:
    for repeat in range(3):
        with measuring(project, again=repeat > 0) as (found, counted):
            (scores,) = found.measure([skill_of(found)]).values()
            assert calls(counted) == 8
            assert {len(of_task) for of_task in scores.tasks.values()} == {repeat + 1}
    with measuring(project) as (found, _):
        assert sorted(line.repeat for line in lines(found)) == [0, 1, 2]
        assert len({line.run for line in lines(found)}) <= 3


def test_again_asks_otherwise_than_before(tmp_path: Path) -> None:
    rules = '- Add a section headed "## Key Risks".\n- Close with a line "Confidence: high".\n'
    project = Project(tmp_path / "repo", config=NOISY, skill=SKILL_TEXT + rules)
    with measuring(project) as (found, _):
        found.measure([skill_of(found)])
    with measuring(project, again=True) as (found, _):
        (scores,) = found.measure([skill_of(found)]).values()
    assert any(len(set(of_task)) > 1 for of_task in scores.tasks.values())


def test_a_measurement_that_was_stopped_goes_on_and_leaves_the_same_line(
    project: Project, tmp_path: Path
) -> None:
    with pytest.raises(KeyboardInterrupt), measuring(project, most=3) as (found, _):
        found.measure([skill_of(found)])
    assert "refs/notes/skillopt" not in project.refs()
    with measuring(project) as (found, counted):
        found.measure([skill_of(found)])
        assert calls(counted) == 5
        stopped = [line.to_line() for line in lines(found)]
    other = Project(tmp_path / "other")
    with measuring(other) as (found, _):
        found.measure([skill_of(found)])
        assert [line.to_line() for line in lines(found)] == stopped


def test_again_that_was_stopped_is_not_one_more_measurement(project: Project) -> None:
    with measuring(project) as (found, _):
        found.measure([skill_of(found)])
    with pytest.raises(KeyboardInterrupt), measuring(project, most=3, again=True) as (found, _):
        found.measure([skill_of(found)])
    with measuring(project, again=True) as (found, counted):
        (scores,) = found.measure([skill_of(found)]).values()
        assert calls(counted) == 5
        assert {len(of_task) for of_task in scores.tasks.values()} == {2}


def test_the_same_scores_from_another_clone_are_another_measurement(
    project: Project, tmp_path: Path
) -> None:
    other = Project(tmp_path / "other")
    other.git("config", "user.email", "bob@example.org")
    noted = []
    for own in (project, other):
        with measuring(own) as (found, _):
            found.measure([skill_of(found)])
            noted += lines(found)
    assert noted[0].tasks == noted[1].tasks
    assert noted[0].to_line() != noted[1].to_line()


def test_equal_versions_are_measured_once(project: Project) -> None:
    with measuring(project) as (found, counted):
        skill = skill_of(found)
        assert found.most_calls([skill, skill]) == 8
        assert len(found.measure([skill, skill])) == 1
        assert calls(counted) == 8


def test_test_tasks_are_marked_as_what_no_gate_compares(project: Project) -> None:
    with measuring(project, split=Split.TEST) as (found, _):
        found.measure([skill_of(found)])
        assert [line.phase for line in lines(found)] == [Phase.END]
    with measuring(project) as (found, _):
        found.measure([skill_of(found)])
        assert sorted(line.phase for line in lines(found)) == [Phase.END, Phase.STEP]


def test_a_budget_stops_it_and_nothing_paid_is_lost(project: Project) -> None:
    with pytest.raises(BudgetError), measuring(project, meter=Meter(max_calls=3)) as (found, _):
        found.measure([skill_of(found)])
    with measuring(project) as (found, counted):
        found.measure([skill_of(found)])
        assert calls(counted) == 5


def test_nothing_moves_but_the_notes(project: Project) -> None:
    before = project.refs()
    with measuring(project) as (found, _):
        found.measure([skill_of(found)])
    assert {**project.refs(), "refs/notes/skillopt": ""} == {**before, "refs/notes/skillopt": ""}
    assert project.git("status", "--porcelain") == ""
