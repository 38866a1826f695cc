"""Tasks, and how they are judged."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field, JsonValue

from skillgit.records.base import Record


class Split(StrEnum):
    """Which part of the task set a task belongs to."""

    TRAIN = "train"
    VAL = "val"
    TEST = "test"


class TaskOrigin(StrEnum):
    """Where a task comes from: a person's words, or a variant made of them."""

    REAL = "real"
    DREAM = "dream"


class ToolSpec(Record):
    """A tool that a task declares, answered by its fixed `result`."""

    name: str
    description: str = ""
    parameters: dict[str, JsonValue] = Field(default_factory=dict)
    result: str = ""


class JudgeSpec(Record):
    """How a task is judged: the judge's kind and its settings, as the judge's file reads them."""

    kind: str
    settings: dict[str, JsonValue] = Field(default_factory=dict)


class Task(Record):
    """One training item. `turns` are the user messages that follow the prompt.

    `skills` are those of a repository's skills that it is for; none: all.
    """

    id: str
    prompt: str
    context: str = ""
    system: str = ""
    turns: tuple[str, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    reference: JsonValue = None
    judge: JudgeSpec
    split: Split
    tags: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    origin: TaskOrigin = TaskOrigin.REAL

    def is_for(self, skill: str | None) -> bool:
        """Whether the skill trains on it; `None` is the one skill there is."""
        return skill is None or not self.skills or skill in self.skills
