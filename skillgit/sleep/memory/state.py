"""What is kept between nights: numbers, times, the nights' own history, and the slow memory.

Four files on one ref; a file that cannot be read counts as not there, so that a night always runs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from pydantic import Field, ValidationError

from skillgit.editing.matching import fold
from skillgit.records import Action, Edit, EditOp, Record
from skillgit.store.runs.sleep_ref import SleepFiles

STATE, SLOW_MEMORY, HISTORY, TASKS = "state.json", "slow_memory.md", "history.jsonl", "tasks.jsonl"
SKILL, MEMORY = "skill", "memory"
_MARK = re.compile(r"^\s*[-*+][ \t]+")


class EditRecord(Edit):
    """An edit of a night; its `target` is `skill` or `memory`."""

    @property
    def words(self) -> str:
        """What it says, without a bullet's mark; of a replacement, both texts."""
        text = _MARK.sub("", self.content or self.anchor)
        return f"{self.anchor} → {text}" if self.op is EditOp.REPLACE else text


class ProjectState(Record):
    """How far a project's sessions were harvested: the time of the last record, UTC."""

    until: datetime | None = None


class StateFile(Record):
    """The file `state.json`. `night` is the highest number ever used."""

    version: Literal[1] = 1
    night: int = 0
    projects: dict[str, ProjectState] = Field(default_factory=dict)


class NightRecord(Record):
    """One night in the history. A quiet one had nothing to do, and has no run branch.

    `proposal` is the commit that was proposed, `identity` what the night depended on.
    """

    night: int
    run_id: str
    skill: str
    time: datetime
    action: Action
    quiet: bool = False
    reason: str = ""
    baseline: float | None = None
    candidate: float | None = None
    n_sessions: int = 0
    n_tasks: int = 0
    proposal: str | None = None
    memory: str | None = None
    edits: tuple[EditRecord, ...] = ()
    rejected: tuple[EditRecord, ...] = ()
    identity: str = ""

    @property
    def run(self) -> str:
        """The night's name."""
        return f"night-{self.night}"


@dataclass(frozen=True)
class SleepState:
    """The state as it was read; `source` is what the next one is committed over."""

    source: SleepFiles
    state: StateFile = field(default_factory=StateFile)
    slow_memory: str = ""
    history: tuple[NightRecord, ...] = ()
    tasks: str = ""

    def until(self, project: str) -> datetime | None:
        """The time of the last record that was harvested for a project."""
        return self.state.projects.get(project, ProjectState()).until

    def of_skill(self, skill: str) -> tuple[NightRecord, ...]:
        """The nights of one skill, oldest first."""
        return tuple(night for night in self.history if night.skill == skill)


def parse_state(source: SleepFiles) -> SleepState:
    """The state in the files of the ref."""
    texts = {name: data.decode("utf-8", "replace") for name, data in source.files.items()}
    try:
        state = StateFile.model_validate_json(texts.get(STATE, "{}"))
    except ValidationError:
        state = StateFile()
    history = tuple(_history(texts.get(HISTORY, "")))
    highest = max([state.night, *(night.night for night in history)])
    return SleepState(
        source=source,
        state=state.model_copy(update={"night": highest}),
        slow_memory=texts.get(SLOW_MEMORY, ""),
        history=history,
        tasks=texts.get(TASKS, ""),
    )


def files_after(
    before: SleepState,
    night: NightRecord,
    *,
    project: str,
    until: datetime | None,
    slow_memory: str,
    tasks: str,
) -> Mapping[str, bytes]:
    """The files after a night."""
    projects = dict(before.state.projects)
    times = [time for time in (before.until(project), until) if time is not None]
    projects[project] = ProjectState(until=max(times, default=None))
    state = StateFile(night=max(night.night, before.state.night), projects=projects)
    lines = [*before.history, night]
    texts = {
        STATE: state.model_dump_json(exclude_defaults=False) + "\n",
        SLOW_MEMORY: slow_memory,
        HISTORY: "".join(line.model_dump_json(exclude_defaults=True) + "\n" for line in lines),
        TASKS: tasks,
    }
    return {name: text.encode("utf-8") for name, text in texts.items()}


def as_record(edit: Edit, memory: str | None) -> EditRecord:
    """The edit under its document's alias."""
    alias = MEMORY if edit.target == memory else SKILL
    return EditRecord.model_validate({**edit.model_dump(), "target": alias})


def meaning(edit: Edit) -> tuple[str, str, str, str]:
    """What two edits have in common when they say the same of the same document."""
    return (edit.target, edit.op.value, _folded(edit.anchor), _folded(edit.content))


def says_any(edit: Edit, others: Sequence[Edit], *, anywhere: bool = False) -> bool:
    """Whether an edit says the same as one of others, be it of another document or not."""
    start = 1 if anywhere else 0
    return meaning(edit)[start:] in {meaning(other)[start:] for other in others}


def _folded(text: str) -> str:
    return fold(_MARK.sub("", text)).casefold()


def _history(text: str) -> list[NightRecord]:
    nights: list[NightRecord] = []
    for line in text.split("\n"):
        try:
            nights.append(NightRecord.model_validate_json(line))
        except ValidationError:
            continue
    return nights
