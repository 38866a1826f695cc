"""What every judge's settings have in common, and what judges are built with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from skillgit.ports import Clock, Model
from skillgit.records import Record


class JudgeSettings(Record):
    """A judge's settings as a task file has them."""

    def identity(self) -> dict[str, JsonValue]:
        """What of the settings changes a grade's score; what equals its default is left out."""
        return self.model_dump(mode="json", exclude_defaults=True)


def _trusts_nothing(command: Sequence[str]) -> bool:
    return not command


@dataclass(frozen=True)
class JudgeResources:
    """What judges need from outside; building and checking a judge needs none of it.

    `model` is asked by rubrics, with the prompt named `rubric` among `prompts`. A command judge
    runs for the files of `root`, sees those of `variables` that it names, and only if `may_run`
    trusts its command.
    """

    model: Model | None = None
    model_name: str = ""
    temperature: float | None = None
    max_tokens: int | None = None
    prompts: Mapping[str, str] = field(default_factory=dict)
    clock: Clock | None = None
    root: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    may_run: Callable[[Sequence[str]], bool] = _trusts_nothing
