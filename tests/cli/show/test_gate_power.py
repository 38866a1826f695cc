from __future__ import annotations

from pathlib import Path

import pytest
from projects import CONFIG, Project

from skillgit.cli.show.gate_power import odds_lines
from skillgit.training.resume import open_run

NEVER_SAMPLES = f"{CONFIG}\n[target.simulation]\nobedience = 1.0\n"


def lines(tmp_path: Path, gate: str, config: str = NEVER_SAMPLES) -> str:
    tmp_path.mkdir(exist_ok=True)
    project = Project(tmp_path / "project")
    with project.context(f"{config}\n[gate]\n{gate}\n") as context:
        setup = open_run(context).training
        checks = {len(task.judge.settings["checks"]) for task in setup.tasks.val}  # type: ignore[arg-type]
        assert (len(setup.tasks.val), max(checks)) == (8, 2)
        return " ".join(odds_lines(setup, None))


@pytest.mark.parametrize(
    ("metric", "least"),
    [("hard", "0.125"), ("soft", "0.062"), ("mixed", "0.031")],
)
def test_the_smallest_gain_is_that_of_the_metric(tmp_path: Path, metric: str, least: str) -> None:
    assert f"smallest gain it can see is {least}" in lines(tmp_path, f'metric = "{metric}"')


def test_for_soft_scores_of_a_target_that_samples_it_is_said_how_the_gain_is_reckoned(
    tmp_path: Path,
) -> None:
    assert "reckoned for pass or fail" in lines(tmp_path / "a", 'metric = "soft"', CONFIG)
    assert "reckoned for pass or fail" not in lines(tmp_path / "b", 'metric = "hard"', CONFIG)
