"""The gate once more: exact after a stop, by the config's own rule, with the guards of a run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from evaluation.test_standalone import Counted
from projects import CONFIG, SKILL_PATH, SKILL_TEXT, Project

from skillgit.errors import UserError
from skillgit.history import RunHead
from skillgit.models.paid import Meter
from skillgit.ports import Model
from skillgit.records import Skill, SkillDocument
from skillgit.records.canonical import fingerprint
from skillgit.training.regate import OneLook, Regate

GOOD = SKILL_TEXT + '- Add a section headed "## Key Risks".\n- Close with "Confidence: high".\n'
OBEYS = CONFIG.replace(
    'model = "sim-target"', 'model = "sim-target"\nsimulation = { obedience = 1.0 }'
)


def skill(text: str) -> Skill:
    return Skill(name="brief", documents=(SkillDocument(path=SKILL_PATH, data=text.encode()),))


@contextmanager
def regate(
    project: Project, more: str = "", *, dies_after: int | None = None
) -> Iterator[tuple[Regate, Counted]]:
    counted: list[Counted] = []

    def wrap(model: Model) -> Model:
        counted.append(Counted(model, dies_after))
        return counted[-1]

    with project.training_context(f"{OBEYS}\n{more}", wrap=wrap) as context:
        head = RunHead(
            name="train-1",
            run_id="0123456789ab",
            skill="brief",
            onto="main",
            base="0" * 40,
            target=fingerprint(dict(context.evaluator.environment.fingerprint)),
            run="",
            metric=context.config.gate.metric,
        )
        setup = OneLook(
            run=head,
            config=context.config,
            tasks=context.tasks,
            evaluator=replace(context.evaluator, workers=1),
            store=context.store,
            rule=context.rule,
        )
        yield Regate(setup, context.store, context.journal, context.clock, Meter()), counted[1]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "repo")


def test_both_are_measured_and_what_is_better_passes(project: Project) -> None:
    with regate(project) as (gate, calls):
        assert gate.most_calls(skill(GOOD), skill(SKILL_TEXT)) == 16
        found = gate.measure(skill(GOOD), skill(SKILL_TEXT))
        assert (found.before, found.score, calls.calls) == (0.0, 1.0, 16)
        assert gate.most_calls(skill(GOOD), skill(SKILL_TEXT)) == 0
        assert gate.measure(skill(GOOD), skill(SKILL_TEXT)) == found
        assert calls.calls == 16


def test_the_same_score_does_not_pass(project: Project) -> None:
    other = GOOD.replace("Write in full", "Write in whole")
    with regate(project) as (gate, _), pytest.raises(UserError, match="train-1, applied again on"):
        gate.measure(skill(other), skill(GOOD))


@pytest.mark.parametrize("most", [1, 7, 8, 15])
def test_stopped_it_notes_nothing_and_goes_on_where_it_was(project: Project, most: int) -> None:
    with regate(project, dies_after=most) as (gate, _), pytest.raises(KeyboardInterrupt):
        gate.measure(skill(GOOD), skill(SKILL_TEXT))
    assert "refs/notes/skillopt" not in project.refs()
    with regate(project) as (gate, calls):
        assert gate.measure(skill(GOOD), skill(SKILL_TEXT)).score == 1.0
        assert calls.calls == 16 - most


def test_every_measurement_that_the_gate_asks_for_is_made(project: Project) -> None:
    with regate(project, "[gate]\nrepeats = 3\n") as (gate, calls):
        assert gate.most_calls(skill(GOOD), skill(SKILL_TEXT)) == 48
        gate.measure(skill(GOOD), skill(SKILL_TEXT))
        assert calls.calls == 48


def test_what_a_guard_refuses_is_not_measured(project: Project) -> None:
    leak = GOOD + "- Write a brief on seed banks.\n- [Cc]onfidence\\s*[:=]\n"
    with regate(project, '[gate]\nleak = "reject"\n') as (gate, calls):
        with pytest.raises(UserError, match="not measured"):
            gate.measure(skill(leak), skill(SKILL_TEXT))
        assert calls.calls == 0


def test_without_a_gate_it_passes_with_its_score(project: Project) -> None:
    with regate(project, "[gate]\nenabled = false\n") as (gate, calls):
        found = gate.measure(skill(SKILL_TEXT + "\n"), skill(GOOD))
        assert (found.before, found.score, calls.calls) == (None, 0.0, 8)


def test_a_rule_that_asks_for_more_says_how_much(project: Project) -> None:
    with (
        regate(project, '[gate]\nrule = "paired"\n') as (gate, _),
        pytest.raises(UserError, match="do not pass the gate there"),
    ):
        gate.measure(skill(SKILL_TEXT + '- Close with "Confidence: high".\n'), skill(SKILL_TEXT))
