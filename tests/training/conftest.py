from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from projects import CONFIG, Project

from skillgit.training.resume import open_run
from skillgit.training.state import Training

OpenTraining = Callable[..., Training]


@pytest.fixture
def open_training(tmp_path: Path) -> Iterator[OpenTraining]:
    """Opens a training of a small project, of which nothing is committed yet."""
    with ExitStack() as opened:

        def made(config: str = CONFIG, *, force: bool = False, **project: object) -> Training:
            there = Project(tmp_path / "project", config=config, **project)
            context = opened.enter_context(there.context())
            context.store.prepare()
            return open_run(context, force=force).training

        yield made
