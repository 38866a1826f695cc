"""A skill's scores: what the ledger knows is taken, the rest is rolled out and can be noted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from projects import CONFIG, Project

from skillgit.errors import BlockedError, CallError
from skillgit.evaluation.evaluate import Evaluation, evaluate, sending_order
from skillgit.history import RunPosition
from skillgit.models.paid import Meter, StepPaid
from skillgit.ports import Model
from skillgit.records import ModelReply, ModelRequest, Skill
from skillgit.training.wiring import TrainingContext


@dataclass
class Silent:
    """A model whose first calls fail."""

    model: Model
    failing: int

    def complete(self, request: ModelRequest) -> ModelReply:
        self.failing -= 1
        if self.failing >= 0:
            raise CallError("the line went dead")
        return self.model.complete(request)


@pytest.fixture
def context(tmp_path: Path) -> Iterator[TrainingContext]:
    with Project(tmp_path / "repo", config=CONFIG).context() as opened:
        yield opened


def evaluated(context: TrainingContext, run_id: str = "one", **more: Any) -> Evaluation:
    paid = StepPaid(context.journal, run_id, 1, meter=Meter(), clock=context.clock)
    given = {"max_unscored": 0.2, **more}
    return evaluate(
        context.evaluator,
        context.store,
        context.tasks.val,
        skill_of(context),
        paid,
        target="target",
        position=RunPosition(run_id=run_id, step=1),
        **given,
    )


def skill_of(context: TrainingContext) -> Skill:
    return context.store.committed_skill("main")


def noted(context: TrainingContext, found: Evaluation) -> None:
    lines = [(found.measurements.object_id, line) for line in found.lines]
    context.store.add_lines("train-1", lines, message="scores")


def test_every_task_has_a_score_and_a_place_in_the_lines(context: TrainingContext) -> None:
    found = evaluated(context)
    keys = {context.evaluator.keys[task.id] for task in context.tasks.val}
    assert set(found.measurements.scores) == keys
    assert (found.measured, found.from_ledger, found.unscored) == (8, 0, 0)
    assert [set(line.tasks) for line in found.lines] == [keys]


def test_what_is_noted_is_not_measured_again(context: TrainingContext) -> None:
    first = evaluated(context)
    noted(context, first)
    second = evaluated(context, "two")
    assert (second.measured, second.from_ledger, second.lines) == (0, 8, ())
    assert second.measurements == first.measurements


def test_a_run_does_not_go_by_what_it_noted_at_or_after_its_position(
    context: TrainingContext,
) -> None:
    noted(context, evaluated(context))
    assert evaluated(context).from_ledger == 0


def test_more_repeats_than_are_known_measure_only_the_missing_ones(
    context: TrainingContext,
) -> None:
    noted(context, evaluated(context))
    found = evaluated(context, "two", repeats=3)
    assert len(found.rounds) == 3
    assert found.measured == 16
    assert [line.repeat for line in found.lines] == [1, 2]


def test_again_measures_as_often_once_more(context: TrainingContext) -> None:
    noted(context, evaluated(context))
    assert evaluated(context, "two", again=True).measured == 8


def test_too_many_tasks_without_a_score_block_and_the_first_is_named(tmp_path: Path) -> None:
    project = Project(tmp_path / "repo", config=CONFIG)
    with project.context(wrap=lambda model: Silent(model, 2)) as opened:
        context = replace(opened, evaluator=replace(opened.evaluator, workers=1))
        with pytest.raises(BlockedError, match=r"2 of 8 tasks .* the line went dead"):
            evaluated(context)
    with project.context(wrap=lambda model: Silent(model, 1)) as opened:
        context = replace(opened, evaluator=replace(opened.evaluator, workers=1))
        assert evaluated(context, "two").unscored == 1


def test_tasks_are_sent_in_an_order_of_the_seed_alone() -> None:
    keys = [f"k{n}" for n in range(20)]
    assert sending_order(keys, 1) == sending_order(reversed(keys), 1)
    assert sending_order(keys, 1) != sending_order(keys, 2)
    assert sorted(sending_order(keys, 1)) == sorted(keys)
