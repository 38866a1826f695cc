"""The seam between the command line and the harvest: where this person's transcripts are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePath

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.app.keys import find_key
from skillgit.cli.app.worktree import Worktree, worktree_at
from skillgit.cli.sessions.project import Project, open_project
from skillgit.cli.sessions.training import prompts_of
from skillgit.cli.show.output import count, one_line
from skillgit.config import CONFIG_FILE, Miner, SleepConfig
from skillgit.errors import ConfigError, UsageError
from skillgit.models import build_model
from skillgit.models.journal import Journal
from skillgit.models.paid import Meter, StepPaid
from skillgit.prompting.prompts import Optimizer
from skillgit.records import Role
from skillgit.records.canonical import fingerprint
from skillgit.sleep.harvest import (
    Damage,
    Digests,
    Places,
    Session,
    SourceLocation,
    Wanted,
    source_named,
)
from skillgit.sleep.harvest.lines import parse_time
from skillgit.sleep.mine import Mined, mine_heuristic, mine_llm
from skillgit.tasks import TaskSet
from skillgit.training.wiring import is_simulated

ALL_PROJECTS = "*"
STATE = "state.json"
TASKS = "tasks.jsonl"
RUN = "harvest"
RATIO = (0.5, 0.25, 0.25)


@dataclass(frozen=True)
class HarvestContext:
    """What is harvested, and for whom; `project` is `None` where there is no skillgit.toml yet."""

    invocation: Invocation
    tree: Worktree
    project: Project | None

    @property
    def config(self) -> SleepConfig:
        """The settings, or what they are without a config."""
        return self.project.config.sleep if self.project else SleepConfig()

    @property
    def ratio(self) -> tuple[float, float, float]:
        """The shares of train, val and test."""
        return self.project.config.tasks.ratio if self.project else RATIO

    @property
    def folder(self) -> Path:
        """Where digests, state and, by default, the tasks are kept."""
        return self.tree.private.harvest

    def places(self, chosen: Sequence[str] = ()) -> list[SourceLocation]:
        """Where transcripts lie, by the sources of the command line or else of the config.

        Raises: ConfigError for a source that is not known.
        """
        environ = self.invocation.environ
        places = Places(home=self.home, variables=environ)
        found: dict[str, list[Path]] = {}
        for entry in chosen or self.config.sources:
            name, _, folder = entry.partition(":")
            source = source_named(name)
            own = [self._path(folder)] if folder else source.folders(places)
            found.setdefault(name, []).extend(self.invocation.directory / path for path in own)
        return [
            SourceLocation(name, source_named(name), tuple(folders))
            for name, folders in found.items()
        ]

    def projects(self) -> tuple[PurePath, ...] | None:
        """The folders whose sessions are wanted; `None` is all."""
        named = self.config.projects
        if ALL_PROJECTS in named:
            return None
        if named:
            return tuple(self._path(folder) for folder in named)
        listed = self.tree.ask("worktree", "list", "--porcelain", "-z") or ""
        trees = [line[9:] for line in listed.split("\0") if line.startswith("worktree ")]
        return tuple(dict.fromkeys((self.tree.root, *(Path(tree).resolve() for tree in trees))))

    def wanted(self, since: datetime | None) -> Wanted:
        """The sessions of the projects after a time."""
        return Wanted(self.projects(), since)

    def named(self, target: Path, places: Sequence[SourceLocation]) -> str:
        """What tells this harvest from one of other sessions, or into another file."""
        projects = self.projects()
        folders = [[place.name, *map(str, place.folders)] for place in places]
        looked_at = None if projects is None else [str(project) for project in projects]
        return fingerprint([str(target), looked_at, folders])

    def digests(self) -> Digests:
        """What was read before."""
        return Digests(self.folder)

    def mine(self, sessions: Sequence[Session], miner: Miner, *, most: int) -> Mined:
        """The tasks that the miner finds, at most so many where it need not find more.

        Raises: ConfigError where the miner asks a model and there is no config; what trust, a key
        or the model can be the reason for.
        """
        if miner is Miner.HEURISTIC:
            return Mined(mine_heuristic(sessions, most=most))
        if self.project is None:
            raise ConfigError(
                f"the miner `llm` asks the optimizer, and there is no {CONFIG_FILE} that names one",
                hint=f"{self.invocation.typed('harvest', '--miner', 'heuristic')} asks no model.",
            )
        return _mine_llm(self.project, sessions)

    @property
    def home(self) -> Path:
        """The person's home folder."""
        home = self.invocation.environ.get("HOME")
        return Path(home) if home else Path.home()

    def _path(self, folder: str) -> Path:
        if folder == "~" or folder.startswith("~/"):
            return (self.home / folder[2:]).resolve()
        return (self.tree.root / folder).resolve()


def open_harvest_context(invocation: Invocation) -> HarvestContext:
    """What is harvested from the folder that the command runs in.

    Raises: RepositoryError, ConfigError.
    """
    tree = worktree_at(invocation.directory, invocation.environ)
    try:
        tree.read(CONFIG_FILE)
    except OSError:
        return HarvestContext(invocation, tree, None)
    return HarvestContext(invocation, tree, open_project(invocation))


def read_until(folder: Path, what: str | None = None) -> datetime | None:
    """The time of the last record that such a harvest took, UTC; without a name, that any took."""
    times = _state(folder)
    named = times.values() if what is None else [times.get(what)]
    return max(filter(None, map(parse_time, named)), default=None)


def write_until(folder: Path, what: str, until: datetime | None) -> None:
    """Keep the time of the last record that such a harvest took."""
    if until is not None:
        times = {**_state(folder), what: until.isoformat()}
        text = json.dumps({"version": 1, "until": times}, sort_keys=True)
        (folder / STATE).write_text(text + "\n", "utf-8")


def _state(folder: Path) -> dict[str, object]:
    with suppress(OSError, ValueError, AttributeError):
        times = json.loads((folder / STATE).read_text("utf-8")).get("until")
        return times if isinstance(times, dict) else {}
    return {}


def given_time(text: str) -> datetime:
    """A time from the command line, UTC.

    Raises: UsageError.
    """
    time = parse_time(text)
    if time is None:
        raise UsageError(
            f"--since: {text!r} is no time", hint="Write it as 2026-03-01T12:00:00Z or 2026-03-01."
        )
    return time


def _mine_llm(project: Project, sessions: Sequence[Session]) -> Mined:
    project.require_trust(TaskSet(tasks=()))
    config, clock = project.config, project.invocation.clock
    key = find_key(config.optimizer, Role.OPTIMIZER.value, project.invocation, project.tree)
    workers = config.train.workers
    model = build_model(config.optimizer, api_key=key, clock=clock, workers=workers)
    durable = not is_simulated(config)
    with Journal(project.tree.private.journal, durable=durable) as journal:
        meter = Meter.within(config.budget, clock=clock)
        optimizer = Optimizer(
            model=model,
            model_name=config.optimizer.model,
            paid=StepPaid(journal, RUN, 0, meter=meter, clock=clock),
            texts=prompts_of(project),
            seed=config.train.seed,
            temperature=config.optimizer.temperature,
            max_tokens=config.optimizer.max_tokens,
        )
        return mine_llm(sessions, optimizer, workers=workers)


def damage_lines(source: str, damage: Damage) -> list[str]:
    """What could not be read of a source, in a line or two; none when all could."""
    lines = []
    if damage.damaged:
        parts = ", ".join(f"{number} {what}" for what, number in sorted(damage.damaged.items()))
        lines.append(f"Damaged in {source}: {parts} (of {count(damage.lines, 'line')})")
    if damage.unknown:
        parts = ", ".join(f"{one_line(what)} {n}" for what, n in sorted(damage.unknown.items()))
        lines.append(f"Unknown records in {source}: {parts}")
    return lines
