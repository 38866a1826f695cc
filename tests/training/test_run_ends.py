"""The two ends of a run: the baseline, and the look at test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from projects import brief_tasks

from skillgit.errors import UserError
from skillgit.history import ConfigNote, Phase, TestNote
from skillgit.records import Action
from skillgit.training.run_ends import baseline, run_end
from skillgit.training.state import INITIAL, Training

Open = Callable[..., Training]


def easy_tasks() -> list[dict[str, object]]:
    judge = {"kind": "rule", "checks": [{"op": "regex", "arg": "."}]}
    return [{**task, "judge": judge} for task in brief_tasks()]


def test_the_baseline_is_the_skill_as_it_was_found(open_training: Open) -> None:
    setup = open_training()
    found = baseline(setup)
    assert (found.entry.step, found.entry.action) == (0, Action.BASELINE)
    assert found.entry.candidate is None
    assert found.state.current == found.state.best
    assert found.state.current.skill == setup.start
    assert found.state.current.origin == INITIAL
    assert len(found.state.current.measurements.scores) == len(setup.tasks.val)


def test_a_val_split_in_which_nothing_passes_is_warned_of(open_training: Open) -> None:
    judge = {"kind": "rule", "checks": [{"op": "contains", "arg": "no answer holds this"}]}
    setup = open_training(tasks=[{**task, "judge": judge} for task in brief_tasks()])
    (note,) = baseline(setup).entry.lines
    assert isinstance(note, ConfigNote)
    assert "every val task fails" in note.warnings[0]


def test_a_skill_that_passes_everything_is_not_trained_unless_it_has_to(
    open_training: Open,
) -> None:
    setup = open_training(tasks=easy_tasks())
    with pytest.raises(UserError, match="nothing left to learn"):
        baseline(setup)
    assert baseline(replace(setup, force=True)).state.current.score == 1.0


def test_a_run_that_found_nothing_better_measures_test_once(open_training: Open) -> None:
    setup = open_training()
    found = run_end(setup, baseline(setup).state)
    assert found.state.ended
    assert (found.entry.action, found.entry.phase) == (Action.END, Phase.END)
    (note,) = found.entry.lines
    assert isinstance(note, TestNote)
    assert note.n_tasks == len(setup.tasks.test)
    assert note.baseline == note.best == note.final
    (line,) = [line for _, line in found.entry.object_lines]
    assert len(line.tasks) == len(setup.tasks.test)


def test_without_a_test_split_a_run_ends_without_a_note(open_training: Open) -> None:
    setup = open_training(tasks=brief_tasks(test=0))
    found = run_end(setup, baseline(setup).state)
    assert found.entry.lines == ()
    assert found.entry.summary == ""


def test_the_final_skill_is_best_if_it_measures_better(open_training: Open) -> None:
    setup = open_training()
    state = baseline(setup).state
    better = state.current.model_copy(
        update={
            "origin": INITIAL.of_step(1),
            "step": 1,
            "score": 1.0,
            "measurements": state.current.measurements.model_copy(
                update={
                    "scores": {
                        key: score.model_copy(update={"hard": 1.0, "soft": 1.0})
                        for key, score in state.current.measurements.scores.items()
                        if score is not None
                    }
                }
            ),
        }
    )
    found = run_end(setup, replace(state, current=better))
    assert found.state.best == better
    assert found.entry.state.best.step == 1
