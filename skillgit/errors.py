"""The tree of errors. Every error says what is wrong; its hint says what to do.

SkillgitError
├── UserError          1   the user can put it right
│   ├── ConfigError        skillgit.toml
│   ├── TaskError          a task file
│   ├── DocumentError      a skill's bytes
│   └── RepositoryError    the repository is not as a run needs it
├── UsageError         2   wrong words on the command line
├── BlockedError       3   a model could not be reached, or nothing usable came back
├── ConflictError      4   another writer moved the branch, or holds it
├── BudgetError        5   stopped by a budget; all finished work is committed
└── WaitingError       6   waiting for answers (handoff)

CallError              one paid call failed; whoever asked decides what that means
ReplyError             a model's answer is not what was asked for; recorded, never fatal
"""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar


class ExitCode(IntEnum):
    """How a command can end, each with what it means; the documentation's tables are made of it."""

    meaning: str

    def __new__(cls, code: int, meaning: str) -> ExitCode:
        """The code with its meaning."""
        member = int.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member

    DONE = 0, "done, also when nothing was accepted"
    USER = 1, "something you can put right"
    USAGE = 2, "wrong usage"
    BLOCKED = 3, "blocked: a model could not be reached, or nothing usable came back"
    CONFLICT = 4, "another writer moved the branch, or holds the run"
    BUDGET = 5, "stopped by a budget; all finished work is committed"
    WAITING = 6, "waiting for answers"
    BUG = 70, "a bug; the trace is in a file whose path is printed"
    INTERRUPTED = 130, "interrupted; all finished work is committed"


class SkillgitError(Exception):
    """An error that ends a command, with the exit code its class carries."""

    exit_code: ClassVar[ExitCode] = ExitCode.USER

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UserError(SkillgitError):
    """Something the user can put right."""


class ConfigError(UserError):
    """skillgit.toml is missing, not valid, or contradicts itself."""


class TaskError(UserError):
    """A task file cannot be used; the message names the file and the task."""


class DocumentError(UserError):
    """A skill's document cannot be used; the message names the line."""


class RepositoryError(UserError):
    """The repository is not as this command needs it."""


class UsageError(SkillgitError):
    """Wrong words on the command line."""

    exit_code = ExitCode.USAGE


class BlockedError(SkillgitError):
    """A model could not be reached, or nothing usable came back: no step is recorded."""

    exit_code = ExitCode.BLOCKED


class ConflictError(SkillgitError):
    """Another writer moved the branch, or holds it."""

    exit_code = ExitCode.CONFLICT


class BudgetError(SkillgitError):
    """A budget is used up; everything finished before is committed."""

    exit_code = ExitCode.BUDGET


class WaitingError(SkillgitError):
    """Questions are written out and wait for answers."""

    exit_code = ExitCode.WAITING


class CallError(Exception):
    """One paid call failed after its retries. The text is safe to store: it holds no key."""


class ReplyError(Exception):
    """A model's answer could not be read as what was asked for; `text` is the whole answer."""

    def __init__(self, message: str, *, text: str = "") -> None:
        super().__init__(message)
        self.text = text
