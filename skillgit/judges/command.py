"""The command judge: a program says whether an answer is right, such as a run of tests.

It reads the task and the answer as JSON on standard input. Its exit code is the verdict, 0 passes,
unless its output, or the output's last line, is a JSON object with `hard`, and perhaps `soft` and
`reason`.
"""

from __future__ import annotations

import json
from typing import Annotated

from pydantic import Field, JsonValue, ValidationError

from skillgit.errors import BlockedError, CallError, UserError
from skillgit.judges.settings import JudgeResources, JudgeSettings
from skillgit.ports import Paid
from skillgit.records import Grade, PaidCall, Record, Role, Rollout, Score, Task, UnitInterval
from skillgit.records.canonical import canonical_json
from skillgit.runtime.processes import NOT_RUN, CommandReply, Program, last_line, printable_command

VERSION = 1
PURPOSE = "judge"


class CommandSettings(JudgeSettings):
    """The command as a list of words, and the names of the variables it may see.

    Unit: `timeout` in seconds.
    """

    command: tuple[Annotated[str, Field(min_length=1)], ...] = Field(min_length=1)
    timeout: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 60.0
    env: tuple[str, ...] = ()

    def identity(self) -> dict[str, JsonValue]:
        """The command alone."""
        return {"command": list(self.command)}


class CommandVerdict(Record):
    """What a command may print."""

    hard: UnitInterval
    soft: UnitInterval | None = None
    reason: str = ""


class CommandJudge:
    """Asks a program."""

    def __init__(self, task: Task, settings: CommandSettings, resources: JudgeResources) -> None:
        self._task = task
        self._settings = settings
        self._resources = resources

    def grade(self, rollout: Rollout, paid: Paid, slot: str) -> Grade:
        """The grade; unscored when the program's time was up, or what it printed is no score.

        Raises: BlockedError when it cannot be run; BudgetError; UserError when it is not trusted.
        """
        program = self._program()
        stdin = canonical_json(question(self._task, rollout))
        files = {path: text.encode("utf-8") for path, text in rollout.files.items()}
        call = PaidCall(role=Role.JUDGE, purpose=PURPOSE, slot=slot)
        request = program.request(stdin, files)
        try:
            reply = paid(
                call, request, CommandReply, lambda: program.run(stdin, files, {"files": "."})
            )
        except CallError as error:
            return Grade(score=None, reason=f"the judge gave no score: {error}")
        return verdict(reply, printable_command(self._settings.command))

    def _program(self) -> Program:
        settings, resources = self._settings, self._resources
        shown = printable_command(settings.command)
        if resources.clock is None:
            raise BlockedError(f"the judge {shown} cannot be run here")
        if not resources.may_run(settings.command):
            raise UserError(
                f"task {self._task.id!r} is judged by a command that you have not allowed: {shown}",
                hint="skillgit trust shows it and asks.",
            )
        visible = {"PATH", *settings.env}
        return Program(
            command=settings.command,
            timeout=settings.timeout,
            variables={k: v for k, v in resources.variables.items() if k in visible},
            root=resources.root,
            clock=resources.clock,
        )


def question(task: Task, rollout: Rollout) -> dict[str, JsonValue]:
    """What the program reads: the task without its judge, and the rollout."""
    return {
        "task": task.model_dump(mode="json", exclude={"judge", "skills"}),
        "answer": rollout.answer,
        "trajectory": [message.model_dump(mode="json") for message in rollout.trajectory],
        "files": dict(rollout.files),
    }


def verdict(reply: CommandReply, shown: str) -> Grade:
    """The grade that a program's output and exit code stand for.

    Raises: BlockedError for an exit code that says it could not be run.
    """
    if reply.exit_code in NOT_RUN:
        raise BlockedError(f"the judge {shown} could not be run: {last_line(reply.stderr)}")
    if reply.exit_code < 0:
        return Grade(score=None, reason=f"the judge was ended by signal {-reply.exit_code}")
    printed = _printed_score(reply.stdout)
    if printed is None:
        passed = reply.exit_code == 0
        words = last_line(reply.stdout) or last_line(reply.stderr)
        score = 1.0 if passed else 0.0
        reason = words or ("passed" if passed else f"the judge ended with {reply.exit_code}")
        return Grade(score=Score(hard=score, soft=score), reason=reason)
    try:
        read = CommandVerdict.model_validate(printed, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        return Grade(
            score=None, reason=f"the judge printed no usable score: {where}: {first['msg']}"
        )
    soft = read.hard if read.soft is None else read.soft
    return Grade(score=Score(hard=read.hard, soft=soft), reason=read.reason.strip())


def _printed_score(stdout: str) -> dict[str, JsonValue] | None:
    """The object with a score that is the whole output or its last line, not one in between.

    What stands further up may be the answer under judgement, shown by the program.
    """
    for text in (stdout.strip(), (stdout.strip().splitlines() or [""])[-1]):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and {"hard", "soft"} & value.keys():
            return value
    return None
