"""The rows of a checkup, and what the checks are handed."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.app.worktree import Worktree
from skillgit.cli.sessions.project import Project
from skillgit.records import Record
from skillgit.store.git.repository import Repository
from skillgit.store.git_store import GitStore
from skillgit.tasks import TaskSet


class State(StrEnum):
    """How a thing is: in order, worth a look, or in the way."""

    OK = "ok"
    WARN = "warn"
    BAD = "bad"


class Row(Record):
    """One thing that was looked at: how it is, and what to do (`do`, a command where there is one)."""

    name: str
    state: State
    says: str
    do: str = ""


def ok(name: str, says: str) -> Row:
    """A row for what is in order."""
    return Row(name=name, state=State.OK, says=says)


def warn(name: str, says: str, do: str) -> Row:
    """A row for what is worth a look."""
    return Row(name=name, state=State.WARN, says=says, do=do)


def bad(name: str, says: str, do: str) -> Row:
    """A row for what is in the way."""
    return Row(name=name, state=State.BAD, says=says, do=do)


@dataclass
class DoctorContext:
    """What could be opened so far; what could not is `None`, and its checks are left out.

    `tasks` are those of all skills together, and `stores` has one for each skill.
    """

    invocation: Invocation
    offline: bool = False
    transcripts: bool = False
    tree: Worktree | None = None
    repository: Repository | None = None
    project: Project | None = None
    tasks: TaskSet | None = None
    stores: list[GitStore] = field(default_factory=list)
    trusted: bool = False
    """Whether nothing that the config asks for is waiting for a person's word."""
