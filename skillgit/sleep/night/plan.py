"""What a night goes by, settled when it begins: killed and begun again, it is the same night."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from skillgit.config import Config, LrConfig, Scheduler, UpdateMode
from skillgit.history import RunHead
from skillgit.history.run_names import parse_run
from skillgit.records import Edit, Record, Role, Task
from skillgit.records.canonical import fingerprint
from skillgit.tasks.near_duplicates import clusters
from skillgit.training.cost_estimate import calls_to_come, most_price
from skillgit.training.identity import Identity, identity_fingerprint
from skillgit.training.state import Training

MAX_EDITS = 4
"""The most edits that a night makes to one document."""

SKILL_STEP, MEMORY_STEP = 1, 2


class NightPlan(Record):
    """Everything that a night depends on and that may be different tomorrow.

    `memory` is the memory file's path, be it there or not. `earlier` is what the optimizer is
    told of earlier nights, `decided` what became of them. `banned` edits a person turned down;
    `pending` ones wait for a person. `unverified` says why nothing can be accepted, `needed` how
    many held-out tasks more would do. `said` are the words of the sessions behind the tasks.
    """

    v: Literal[1] = 1
    head: RunHead
    started: datetime
    project: str
    identity: Identity
    tasks: tuple[Task, ...]
    n_sessions: int = 0
    until: datetime | None = None
    archive: str = ""
    memory: str | None = None
    slow_memory: str = ""
    earlier: str = ""
    decided: str = ""
    banned: tuple[Edit, ...] = ()
    pending: tuple[Edit, ...] = ()
    unverified: str = ""
    needed: int | None = None
    said: tuple[str, ...] = ()

    @property
    def night(self) -> int:
        """The night's number."""
        return parse_run(self.head.name).number


@dataclass(frozen=True, kw_only=True)
class Night(Training):
    """A night as a run of two steps: the skill's, and the memory file's."""

    plan: NightPlan

    @property
    def steps_per_epoch(self) -> int:
        """Both steps."""
        return MEMORY_STEP

    @property
    def total_steps(self) -> int:
        """Both steps: a night is one epoch."""
        return MEMORY_STEP

    def steps_after(self, step: int) -> Sequence[int]:
        """The steps that have a document."""
        return [n for n in super().steps_after(step) if self.document(n) is not None]

    def document(self, step: int) -> str | None:
        """The path of the document that a step edits; `None` where there is none."""
        return self.start.main.path if step == SKILL_STEP else self.plan.memory


def night_config(config: Config, n_train: int) -> Config:
    """The configuration under which a night runs on the machinery of a training."""
    train = {
        "epochs": 1,
        "accumulation": 1,
        "batch_size": max(1, n_train),
        "update_mode": UpdateMode.PATCH,
    }
    return config.model_copy(
        update={
            "gate": config.sleep.gate,
            "train": config.train.model_copy(update=train),
            "lr": LrConfig(scheduler=Scheduler.CONSTANT, max=MAX_EDITS, min=MAX_EDITS),
            "reflect": config.reflect.model_copy(update={"skill_aware": False}),
            "slow_update": config.slow_update.model_copy(update={"enabled": False}),
            "meta_skill": config.meta_skill.model_copy(update={"enabled": False}),
        }
    )


def why_unverified(train: Sequence[Task], val: Sequence[Task]) -> tuple[str, int | None]:
    """Why val is not held out, and how many tasks more it would take; two nothings if it is."""
    if not val:
        return "no task is held out from the optimizer; 1 more is needed", 1
    texts = [task.prompt for task in (*train, *val)]
    shared = [
        group
        for group in clusters(texts)
        if any(i < len(train) for i in group) and any(i >= len(train) for i in group)
    ]
    if not shared:
        return "", None
    names = sorted({val[i - len(train)].id for group in shared for i in group if i >= len(train)})
    held_out = len(val) - len(names)
    listed = ", ".join(names[:3]) + (" and others" if len(names) > 3 else "")
    return f"val is not held out: the optimizer sees {listed} as train tasks, too", max(
        1, len(names) - held_out
    )


def everything_seen(identity: Identity, tasks: Sequence[Task]) -> str:
    """16 hex of all that a night goes by, its tasks word for word."""
    words = fingerprint([task.model_dump(mode="json") for task in tasks])
    return identity_fingerprint({**identity, "tasks seen": words})


class PlanFile:
    """The plans of nights that have not ended, a file each in the private folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, plan: NightPlan) -> None:
        """Keep a plan before the night's first call."""
        new = self._path(plan.head.name).with_suffix(".new")
        new.touch(mode=0o600)
        new.write_text(plan.model_dump_json(exclude_defaults=True) + "\n", "utf-8")
        new.replace(self._path(plan.head.name))

    def read(self, run_name: str) -> NightPlan | None:
        """A night's plan; `None` when it is not there, or not readable."""
        try:
            return NightPlan.model_validate_json(self._path(run_name).read_bytes())
        except (OSError, ValidationError):
            return None

    def names(self) -> list[str]:
        """The nights that have a plan."""
        return sorted(path.stem for path in self._folder.glob("night-*.json"))

    def remove(self, run_name: str) -> None:
        """Forget a plan: its night has ended."""
        self._path(run_name).unlink(missing_ok=True)

    def _path(self, run_name: str) -> Path:
        return self._folder / f"{run_name}.json"


# ── The largest number of paid calls that a night can make, by role. Pure arithmetic.


def most_calls(setup: Night) -> dict[Role, int]:
    """Calls of each role at most, from the beginning: baseline, two steps, and the fresh look."""
    price = replace(
        most_price(setup), rollouts=setup.config.sleep.dream_rollouts, confirmed=1, tested=2
    )
    calls = calls_to_come(setup, None, price)
    calls[Role.OPTIMIZER] += 1  # the slow memory
    if setup.config.sleep.dream_factor:
        calls[Role.OPTIMIZER] += len(setup.tasks.train)
    return {role: count for role, count in calls.items() if count}
