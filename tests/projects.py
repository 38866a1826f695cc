"""Small projects in real repositories, trained by the simulated model in process."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from conftest import FixedClock

from skillgit.config import Config, parse_config
from skillgit.evaluation.wiring import Runtime
from skillgit.models.journal import Journal
from skillgit.ports import Clock, Model
from skillgit.prompting.prompts import load_prompts
from skillgit.records import Skill
from skillgit.runtime.progress import Progress
from skillgit.store.git.repository import open_repository
from skillgit.store.git_store import GitStore
from skillgit.tasks import load_tasks
from skillgit.train import train
from skillgit.training.resume import OpenRun, open_run
from skillgit.training.state import Recorded
from skillgit.training.wiring import TrainingContext, open_training_context

SKILL_PATH = "skills/brief/SKILL.md"
SKILL_TEXT = """---
name: brief
description: Writes short research briefs. Use when somebody asks for a brief.
---
# Brief writer

Write a brief on the topic that is asked for.

## Style

- Write in full sentences.
"""

CONFIG = """
[skill]
path = "skills/brief/SKILL.md"
[tasks]
path = "tasks/brief.jsonl"
[target]
provider = "simulated"
model = "sim-target"
[optimizer]
provider = "simulated"
model = "sim-optimizer"
[train]
epochs = 2
seed = 3
batch_size = 4
minibatch_size = 2
workers = 4
"""

TOPICS = (
    "tidal power", "rail freight", "urban beekeeping", "desalination", "open-source maps",
    "night trains", "soil carbon", "heat pumps", "public libraries", "satellite imaging",
    "peat bogs", "cargo bikes", "sea walls", "seed banks", "slow steaming", "green roofs",
    "tram networks", "kelp farming", "paper recycling", "micro grids",
)  # fmt: skip


def brief_tasks(train: int = 8, val: int = 8, test: int = 4) -> list[dict[str, object]]:
    """Tasks that fail under the skill above: a section, a confidence line, a closing line."""
    splits = ["train"] * train + ["val"] * val + ["test"] * test
    return [
        {
            "id": f"b-{i:02d}",
            "prompt": f"Write a brief on {TOPICS[i]}.",
            "split": split,
            "judge": {
                "kind": "rule",
                "checks": [
                    {"op": "section_present", "arg": "Key Risks"},
                    {
                        "op": "regex",
                        "arg": "[Cc]onfidence\\s*[:=]",
                        "hint": "a brief closes with a confidence line",
                    },
                ][: 1 + i % 2],
            },
        }
        for i, split in enumerate(splits)
    ]


class Project:
    """A repository with a skill, tasks and a config, committed on main."""

    def __init__(
        self,
        path: Path,
        *,
        config: str = CONFIG,
        skill: str = SKILL_TEXT,
        tasks: list[dict[str, object]] | None = None,
    ) -> None:
        self.path = path
        self.clock = FixedClock()
        self.config_text = config
        path.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("config", "user.name", "Ada Tester")
        self.git("config", "user.email", "ada@example.org")
        self.write(SKILL_PATH, skill)
        lines = [json.dumps(task) for task in tasks or brief_tasks()]
        self.write("tasks/brief.jsonl", "\n".join(lines) + "\n")
        self.write("skillgit.toml", config)
        self.commit("Add the skill")

    def write(self, path: str, text: str) -> None:
        whole = self.path / path
        whole.parent.mkdir(parents=True, exist_ok=True)
        whole.write_text(text, encoding="utf-8")

    def commit(self, message: str) -> None:
        self.git("add", "--all")
        self.git("-c", "core.hooksPath=/dev/null", "commit", "--quiet", "--message", message)

    def git(self, *arguments: str) -> str:
        environ = {
            "PATH": "/usr/bin:/bin:/usr/local/bin",
            "HOME": str(self.path.parent),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_DATE": "2026-02-01T00:00:00Z",
            "GIT_COMMITTER_DATE": "2026-02-01T00:00:00Z",
        }
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.path,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"git {' '.join(arguments)}: {done.stderr}"
        return done.stdout

    def refs(self) -> dict[str, str]:
        lines = self.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        return dict(line.split() for line in lines)

    def subjects(self, rev: str = "skillopt/run/train-1") -> list[str]:
        return self.git("log", "--reverse", "--format=%s", f"main..{rev}").splitlines()

    @contextmanager
    def context(
        self, config: str | None = None, *, wrap: Callable[[Model], Model] | None = None
    ) -> Iterator[TrainingContext]:
        """The parts of a run, freshly opened as a new process would; `wrap` stands before models."""
        parsed = parse_config(config or self.config_text)
        repository = open_repository(self.path)
        store = GitStore(
            repository, parsed.skill, skill_name="brief", clock=self.clock, command="train"
        )
        tasks = load_tasks(
            parsed.tasks,
            read=lambda path: (self.path / path).read_bytes(),
            list_files=lambda path: [path],
        )
        with Journal(repository.private.journal, durable=False) as journal:
            context = open_training_context(
                parsed,
                tasks,
                store,
                journal,
                Runtime(
                    key_of=lambda _role, _model: None,
                    clock=self.clock,
                    prompts=load_prompts(),
                    progress=Progress(),
                ),
            )
            yield context if wrap is None else _wrapped(context, wrap, parsed, self.clock)

    def train(
        self,
        config: str | None = None,
        *,
        wrap: Callable[[Model], Model] | None = None,
        new: bool = False,
        start: Skill | None = None,
        force: bool = False,
    ) -> list[Recorded]:
        """Train to the end, as one process would."""
        with self.context(config, wrap=wrap) as context:
            context.store.prepare()
            opened: OpenRun = open_run(context, new=new, start=start, force=force)
            with context.store.hold(opened.training.run_head.name):
                return list(train(opened.training))


def _wrapped(
    context: TrainingContext, wrap: Callable[[Model], Model], config: Config, clock: Clock
) -> TrainingContext:
    from skillgit.environments.chat import ChatEnvironment
    from skillgit.models import build_model

    def model(which: str) -> Model:
        return wrap(build_model(getattr(config, which), api_key=None, clock=clock, workers=4))

    optimizer = model("optimizer")
    return replace(
        context,
        evaluator=replace(
            context.evaluator,
            workers=config.train.workers,
            environment=ChatEnvironment(model("target"), config.target),
        ),
        optimizer_model=lambda paid: replace(
            context.optimizer_model(paid), model=optimizer, workers=config.train.workers
        ),
    )
