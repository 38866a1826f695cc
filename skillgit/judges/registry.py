"""Which kinds of judges there are. A new one is a module, and a line here."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from pydantic import JsonValue, ValidationError

from skillgit.errors import TaskError
from skillgit.judges import exact, rule
from skillgit.judges.settings import JudgeResources, JudgeSettings
from skillgit.ports import Judge
from skillgit.records import JudgeSpec, Task


class JudgeKind(NamedTuple):
    """A kind of judge: its settings, how it is built from them, and its version.

    `build` raises ValueError for settings that do not go with the task. `version` goes up when
    equal answers would get other scores; `asks_a_model` puts the model into a task's key.
    """

    settings: type[JudgeSettings]
    build: Callable[[Task, Any, JudgeResources], Judge]
    version: int
    asks_a_model: bool = False


JUDGES: Mapping[str, JudgeKind] = {
    "rule": JudgeKind(rule.RuleSettings, rule.build_rule, rule.VERSION),
    "exact": JudgeKind(exact.ExactSettings, exact.build_exact, exact.VERSION),
}


def build_judge(task: Task, resources: JudgeResources) -> Judge:
    """The judge that a task asks for.

    Raises: TaskError naming the task and what is wrong with its judge.
    """
    try:
        kind, settings = _read(task.judge)
        return kind.build(task, settings, resources)
    except ValueError as error:
        raise TaskError(f"task {task.id!r}: judge {task.judge.kind!r}: {error}") from error


def judge_identity(task: Task, resources: JudgeResources) -> dict[str, JsonValue]:
    """What of a task's judge changes its scores, for the task's key: no hints.

    Raises: TaskError.
    """
    try:
        kind, settings = _read(task.judge)
    except ValueError as error:
        raise TaskError(f"task {task.id!r}: judge {task.judge.kind!r}: {error}") from error
    identity: dict[str, JsonValue] = {
        "kind": task.judge.kind,
        "version": kind.version,
        "settings": settings.identity(),
    }
    if kind.asks_a_model:
        identity["model"] = resources.model_name
    return identity


def looks_at_shape_only(task: Task) -> bool:
    """Whether a task's judge can be satisfied by reformatting alone."""
    _, settings = _read(task.judge)
    return isinstance(settings, rule.RuleSettings) and rule.is_shape_only(settings)


def _read(spec: JudgeSpec) -> tuple[JudgeKind, JudgeSettings]:
    kind = JUDGES.get(spec.kind)
    if kind is None:
        near = difflib.get_close_matches(spec.kind, JUDGES, n=1)
        suggestion = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(JUDGES)}"
        raise ValueError(f"there is no such judge, {suggestion}")
    try:
        return kind, kind.settings.model_validate(spec.settings)
    except ValidationError as error:
        problems = [_describe(e["type"], e["loc"], e["msg"], kind) for e in error.errors()]
        raise ValueError("; ".join(problems)) from error


def _describe(problem: str, loc: tuple[int | str, ...], message: str, kind: JudgeKind) -> str:
    where = ".".join(str(part + 1 if isinstance(part, int) else part) for part in loc)
    if problem == "extra_forbidden":
        near = difflib.get_close_matches(str(loc[-1]), kind.settings.model_fields, n=1)
        return f"unknown setting {where!r}" + (f", did you mean {near[0]!r}?" if near else "")
    if problem == "missing":
        return f"{where!r} is missing"
    text = message.removeprefix("Value error, ")
    return f"{where}: {text}" if where else text
