"""A project to measure on: a repository in a temporary folder, and models that cost nothing."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from skillgit.config import Config, parse_config
from skillgit.environments.chat import ChatEnvironment
from skillgit.evaluation.wiring import Runtime
from skillgit.models.journal import Journal
from skillgit.ports import Model
from skillgit.prompting.prompts import load_prompts
from skillgit.records import ModelReply, ModelRequest, Role, Usage
from skillgit.runtime.progress import Progress
from skillgit.store.git.repository import open_repository
from skillgit.store.git_store import GitStore
from skillgit.tasks import load_tasks
from skillgit.training.resume import OpenRun, open_run
from skillgit.training.wiring import open_training_context

SKILL = """---
name: bench
description: A skill to measure on.
---
# Bench

## Rules

""" + "".join(f"- Rule number {i}: keep the answer short and to the point.\n" for i in range(40))

CONFIG = """
[skill]
path = "skills/bench/SKILL.md"
[tasks]
path = "tasks.jsonl"
[target]
provider = "simulated"
model = "sim-target"
[optimizer]
provider = "simulated"
model = "sim-optimizer"
[train]
epochs = {epochs}
batch_size = 16
workers = 16
"""


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class FreeModel:
    """Answers at once: a fixed text to a task, and to the optimizer's prompts always a new rule.

    Its own time is counted, so that it can be taken off.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n = 0
        self.seconds = 0.0
        self.calls = 0

    def complete(self, request: ModelRequest) -> ModelReply:
        began = time.thread_time()
        with self._lock:
            self.calls += 1
            self._n += 1
            n = self._n
        text = "The answer, short and to the point, as the rules ask."
        if request.answer_schema is not None:
            edits = [
                {"op": "add", "content": f"- Rule {n}.{i}: say it once.", "task_ids": []}
                for i in range(3)
            ]
            text = json.dumps({"reasoning": "", "edits": edits, "selected_indices": [0, 1, 2, 3]})
        reply = ModelReply(text=text, usage=Usage(prompt_tokens=900, completion_tokens=40))
        spent = time.thread_time() - began
        with self._lock:
            self.seconds += spent
        return reply


def git(path: Path, *arguments: str) -> str:
    """Run git in a folder and return what it prints."""
    done = subprocess.run(["git", *arguments], cwd=path, check=True, capture_output=True, text=True)
    return done.stdout


def make_repository(path: Path, *, train: int = 160, val: int = 64, epochs: int = 1) -> Config:
    """A repository with a skill, `train` + `val` tasks that half pass, and a config."""
    (path / "skills/bench").mkdir(parents=True)
    git(path, "init", "--quiet", "--initial-branch=main")
    git(path, "config", "user.name", "Bench")
    git(path, "config", "user.email", "bench@localhost")
    git(path, "config", "gc.auto", "0")
    (path / "skills/bench/SKILL.md").write_text(SKILL)
    rows = []
    for i in range(train + val):
        wanted = "short" if i % 2 else "a word that never comes"
        rows.append(
            {
                "id": f"t-{i:04d}",
                "prompt": f"Say something about subject number {i}. " + "Context. " * 20,
                "split": "train" if i < train else "val",
                "judge": {"kind": "rule", "checks": [{"op": "contains", "arg": wanted}]},
            }
        )
    (path / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    text = CONFIG.format(epochs=epochs)
    (path / "skillgit.toml").write_text(text)
    git(path, "add", "--all")
    git(path, "commit", "--quiet", "--message", "Start")
    return parse_config(text)


@contextmanager
def opened(path: Path, config: Config, model: Model, *, waits: bool = False) -> Iterator[OpenRun]:
    """The project's run, opened with one model for both roles and without fsync.

    `waits` says that the model is one behind a network, so that calls are made side by side.
    """
    clock = SystemClock()
    repository = open_repository(path, durable=False)
    store = GitStore(repository, config.skill, skill_name="bench", clock=clock)
    tasks = load_tasks(
        config.tasks, read=lambda p: (path / p).read_bytes(), list_files=lambda p: [p]
    )
    with Journal(repository.private.journal, durable=False) as journal:
        context = open_training_context(
            config,
            tasks,
            store,
            journal,
            Runtime(
                key_of=lambda _role, _model: None,
                clock=clock,
                prompts=load_prompts(),
                progress=Progress(),
                stand_ins=dict.fromkeys((Role.TARGET, Role.OPTIMIZER), model) if waits else {},
            ),
        )
        asked = context.optimizer_model
        context = replace(
            context,
            evaluator=replace(context.evaluator, environment=ChatEnvironment(model, config.target)),
            optimizer_model=lambda paid: replace(asked(paid), model=model),
        )
        yield open_run(context)
