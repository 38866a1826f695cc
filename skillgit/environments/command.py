"""The command environment: any program is the agent.

It reads the task as JSON on standard input, finds the skill's documents in the folder it runs in,
at their paths in the repository, and prints its answer, or a rollout as JSON.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from skillgit.config import ModelConfig
from skillgit.environments.agent_reply import AgentReply, read_reply, refuse_login_message
from skillgit.errors import BlockedError, CallError
from skillgit.ports import Clock, Paid
from skillgit.records import Message, PaidCall, Role, Rollout, Skill, Speaker, Task
from skillgit.records.canonical import canonical_json
from skillgit.runtime.processes import CommandReply, Program, command_digest, printable_command

VERSION = 1

NOT_RUN = (126, 127)
"""Exit codes that say a program could not be run."""

ALWAYS_SEEN = "PATH"
_LAST_LINE = 300


class CommandEnvironment:
    """Runs a program on every task."""

    def __init__(
        self,
        config: ModelConfig,
        *,
        clock: Clock,
        variables: Mapping[str, str],
        root: str | None = None,
    ) -> None:
        """`variables` may hold more than the program may see; `root` is the work tree."""
        seen = {ALWAYS_SEEN, *config.env}
        self._config = config
        self._program = Program(
            command=config.command,
            timeout=config.timeout,
            variables={name: value for name, value in variables.items() if name in seen},
            root=root,
            clock=clock,
        )

    @property
    def fingerprint(self) -> Mapping[str, str | int | float | None]:
        """The command, the files of the repository that it names, and what it is told of a model."""
        config = self._config
        return {
            "environment": "command",
            "version": VERSION,
            "provider": config.provider,
            "command": canonical_json(list(config.command)),
            "program": command_digest(config.command, self._program.root),
            "model": config.model,
            "temperature": config.temperature,
            "max_tokens": config.max_tokens,
        }

    def max_calls(self, task: Task) -> int:  # noqa: ARG002
        """One run of the program."""
        return 1

    def rollout(
        self, task: Task, skill: Skill, paid: Paid, *, purpose: str, slot: str, seed: int
    ) -> Rollout:
        """One run of the program, and what it printed."""
        stdin = canonical_json(self._question(task, skill, seed))
        files = {document.path: document.data for document in skill.documents}
        places = {"skill_file": skill.main.path, "skill_dir": _folder(skill.main.path)}
        call = PaidCall(role=Role.TARGET, purpose=purpose, slot=slot)
        try:
            reply = paid(
                call,
                self._program.request(stdin, files),
                CommandReply,
                lambda: self._usable(self._program.run(stdin, files, places)),
            )
            read = read_reply(reply)
        except CallError as error:
            return Rollout(task_id=task.id, failure=str(error))
        return Rollout(
            task_id=task.id,
            answer=read.answer,
            trajectory=read.trajectory or _exchange(task, read),
            usage=reply.usage,
            milliseconds=reply.milliseconds,
            files=read.files,
        )

    def _question(self, task: Task, skill: Skill, seed: int) -> dict[str, JsonValue]:
        """What the program reads: the task without how it is judged."""
        told = {"id", "prompt", "context", "system", "turns", "tools"}
        settings = self._config.model_dump(include={"model", "temperature", "max_tokens"})
        return {
            **task.model_dump(mode="json", include=told),
            "skill": [document.path for document in skill.documents],
            "seed": seed,
            "settings": settings,
        }

    def _usable(self, reply: CommandReply) -> CommandReply:
        """The reply with its tokens, if it is one worth keeping.

        Raises: CallError for a run that failed; BlockedError when no run can succeed.
        """
        shown = printable_command(self._config.command)
        if reply.exit_code:
            said = _last_line(reply.stderr) or _last_line(reply.stdout)
            refuse_login_message(said, who=f"the command {shown}")
            if reply.exit_code in NOT_RUN:
                raise BlockedError(f"the command {shown} could not be run: {said}")
            how = f"with exit code {reply.exit_code}"
            if reply.exit_code < 0:
                how = f"by signal {-reply.exit_code}"
            raise CallError(f"{shown} ended {how}: {said or 'it said nothing'}")
        read = read_reply(reply)
        refuse_login_message(read.answer, who=f"the command {shown}")
        return reply.model_copy(update={"usage": read.tokens})


def _exchange(task: Task, read: AgentReply) -> tuple[Message, ...]:
    """The trajectory of a program that tells none: what was asked, and what came back."""
    return (
        Message(role=Speaker.USER, content=task.prompt),
        Message(role=Speaker.ASSISTANT, content=read.answer),
    )


def _folder(path: str) -> str:
    return path.rpartition("/")[0] or "."


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][-_LAST_LINE:] if lines else ""
