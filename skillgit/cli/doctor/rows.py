"""The rows of a checkup, and what the checks are handed."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.sessions.project import Project
from skillgit.errors import SkillgitError
from skillgit.records import Record
from skillgit.store.git.repository import Repository
from skillgit.store.git_store import GitStore
from skillgit.tasks import TaskSet


class State(StrEnum):
    """How a thing is: in order, worth a look, or in the way."""

    OK = "ok"
    WARN = "warn"
    BAD = "bad"


class DoctorRow(Record):
    """One thing that was looked at: how it is, and what to do (`do`, a command where there is one)."""

    name: str
    state: State
    says: str
    do: str = ""


def ok(name: str, says: str) -> DoctorRow:
    """A row for what is in order."""
    return DoctorRow(name=name, state=State.OK, says=says)


def warn(name: str, says: str, do: str) -> DoctorRow:
    """A row for what is worth a look."""
    return DoctorRow(name=name, state=State.WARN, says=says, do=do)


def bad(name: str, says: str, do: str) -> DoctorRow:
    """A row for what is in the way."""
    return DoctorRow(name=name, state=State.BAD, says=says, do=do)


@dataclass
class DoctorContext:
    """What could be opened so far.

    `tasks` are those of all skills together, as far as they could be read, and `stores` has one
    for each skill.
    """

    invocation: Invocation
    offline: bool = False
    transcripts: bool = False
    opened_repository: Repository | None = None
    opened_project: Project | None = None
    tasks: TaskSet = field(default_factory=lambda: TaskSet(tasks=()))
    stores: list[GitStore] = field(default_factory=list)
    trusted: bool = False
    """Whether nothing that the config asks for is waiting for a person's word."""

    @property
    def repository(self) -> Repository:
        """The repository.

        Raises: NotOpenedError.
        """
        if self.opened_repository is None:
            raise NotOpenedError("the repository could not be opened")
        return self.opened_repository

    @property
    def project(self) -> Project:
        """The project.

        Raises: NotOpenedError.
        """
        if self.opened_project is None:
            raise NotOpenedError("the config could not be read")
        return self.opened_project


class NotOpenedError(SkillgitError):
    """A check needs what an earlier one could not open; that one has said why."""
