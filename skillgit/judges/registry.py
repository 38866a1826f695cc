"""Which kinds of judges there are. A new one is a module, and a line here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from pydantic import JsonValue, ValidationError

from skillgit.errors import TaskError, did_you_mean
from skillgit.judges import command, exact, f1, rubric, rule
from skillgit.judges.settings import JudgeResources, JudgeSettings
from skillgit.ports import Judge
from skillgit.prompting.prompts import prompt_id
from skillgit.records import JudgeSpec, Task
from skillgit.runtime.processes import command_digest


class Asks(StrEnum):
    """What a judge has to ask, one paid call a grade."""

    MODEL = "model"
    PROGRAM = "program"


class JudgeKind(NamedTuple):
    """A kind of judge: its settings, how it is built from them, and its version.

    `build` raises ValueError for settings that do not go with the task. `version` goes up when
    equal answers would get other scores; `asks` is what a grade has to be paid to.
    """

    settings: type[JudgeSettings]
    build: Callable[[Task, Any, JudgeResources], Judge]
    version: int
    asks: Asks | None = None


JUDGES: Mapping[str, JudgeKind] = {
    "rule": JudgeKind(rule.RuleSettings, rule.build_rule, rule.VERSION),
    "exact": JudgeKind(exact.ExactSettings, exact.build_exact, exact.VERSION),
    "f1": JudgeKind(f1.F1Settings, f1.build_f1, f1.VERSION),
    "rubric": JudgeKind(
        rubric.RubricSettings, rubric.build_rubric, rubric.VERSION, asks=Asks.MODEL
    ),
    "command": JudgeKind(
        command.CommandSettings, command.CommandJudge, command.VERSION, asks=Asks.PROGRAM
    ),
}


@dataclass(frozen=True)
class ReadJudge:
    """The judge that a task asks for, its settings validated."""

    task: Task
    kind: JudgeKind
    settings: JudgeSettings

    @property
    def asks(self) -> Asks | None:
        """What one grade is paid to: a model, a program, or nothing."""
        return self.kind.asks

    def build(self, resources: JudgeResources) -> Judge:
        """The judge, ready to grade.

        Raises: TaskError naming the task, when its settings do not go with it.
        """
        try:
            return self.kind.build(self.task, self.settings, resources)
        except ValueError as error:
            raise _refused(self.task, error) from error

    def identity(self, resources: JudgeResources) -> dict[str, JsonValue]:
        """What of it changes its scores, for the task's key: no hints."""
        name, settings = self.task.judge.kind, self.settings
        identity: dict[str, JsonValue] = {
            "kind": name,
            "version": self.kind.version,
            "settings": settings.identity(),
        }
        if self.asks is Asks.MODEL:
            identity["model"] = resources.model_name
            text = resources.prompts.get(name)
            identity["prompt"] = None if text is None else prompt_id(text)
        if isinstance(settings, command.CommandSettings):
            identity["program"] = command_digest(settings.command, resources.root)
        return identity


def read_judge(task: Task) -> ReadJudge:
    """The judge that a task asks for.

    Raises: TaskError naming the task and what is wrong with its judge.
    """
    try:
        kind, settings = _read(task.judge)
    except ValueError as error:
        raise _refused(task, error) from error
    return ReadJudge(task, kind, settings)


def check_judge(task: Task) -> None:
    """Nothing, if the task's judge could be built.

    Raises: TaskError naming the task and what is wrong with its judge.
    """
    read_judge(task).build(JudgeResources())


def judge_commands(tasks: Iterable[Task]) -> tuple[tuple[str, ...], ...]:
    """The commands that tasks are judged by, each once, in order: they need a person's trust.

    Raises: TaskError.
    """
    return tuple(dict.fromkeys(words for words, _ in judge_programs(tasks)))


def judge_programs(tasks: Iterable[Task]) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    """The same commands, each with the names of the variables that it sees.

    Raises: TaskError.
    """
    read = (read_judge(task).settings for task in tasks)
    programs = ((s.command, s.env) for s in read if isinstance(s, command.CommandSettings))
    return tuple(dict.fromkeys(programs))


def soft_parts(task: Task) -> int | None:
    """How many parts a task's soft score counts; `None` where any share may come."""
    settings = read_judge(task).settings
    return len(settings.checks) if isinstance(settings, rule.RuleSettings) else None


def looks_at_shape_only(task: Task) -> bool:
    """Whether a task's judge can be satisfied by reformatting alone."""
    settings = read_judge(task).settings
    return isinstance(settings, rule.RuleSettings) and rule.is_shape_only(settings)


def _refused(task: Task, error: ValueError) -> TaskError:
    return TaskError(f"task {task.id!r}: judge {task.judge.kind!r}: {error}")


def _read(spec: JudgeSpec) -> tuple[JudgeKind, JudgeSettings]:
    kind = JUDGES.get(spec.kind)
    if kind is None:
        suggestion = did_you_mean(spec.kind, JUDGES) or f", known are {', '.join(JUDGES)}"
        raise ValueError(f"there is no such judge{suggestion}")
    try:
        return kind, kind.settings.model_validate(spec.settings)
    except ValidationError as error:
        problems = [_describe(e["type"], e["loc"], e["msg"], kind) for e in error.errors()]
        raise ValueError("; ".join(problems)) from error


def _describe(problem: str, loc: tuple[int | str, ...], message: str, kind: JudgeKind) -> str:
    where = ".".join(str(part + 1 if isinstance(part, int) else part) for part in loc)
    if problem == "extra_forbidden":
        return f"unknown setting {where!r}{did_you_mean(loc[-1], kind.settings.model_fields)}"
    if problem == "missing":
        return f"{where!r} is missing"
    text = message.removeprefix("Value error, ")
    return f"{where}: {text}" if where else text
