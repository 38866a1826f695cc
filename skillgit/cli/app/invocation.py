"""One start of the program: where it runs, what surrounds it, and what to say if it is stopped."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from skillgit.errors import UsageError

if TYPE_CHECKING:
    from skillgit.ports import Clock


@dataclass
class Invocation:
    """What every command is handed.

    `name` is how the program was called; `resume` is set by a command that can be interrupted
    and gone on with. `secrets` collects what must never be written anywhere.
    """

    environ: Mapping[str, str]
    directory: Path
    name: str = "skillgit"
    moved: list[str] = field(default_factory=list)
    resume: str | None = None
    secrets: set[str] = field(default_factory=set)

    def enter(self, directory: Path) -> None:
        """Run from another folder from here on, as git's `-C` does, one after the other.

        Raises: UsageError when there is no such folder.
        """
        target = self.directory / directory
        if not target.is_dir():
            raise UsageError(f"-C: there is no folder {str(directory)!r}")
        self.directory = target.resolve()
        self.moved.append(str(directory))

    def path(self, given: str) -> Path:
        """A path from the command line, seen from where the command runs."""
        return self.directory / given

    def typed(self, *words: str) -> str:
        """A skillgit command as a person in the starting folder would type it."""
        program = "git skillgit" if self.name == "git-skillgit" else self.name
        where = [word for directory in self.moved for word in ("-C", directory)]
        return f"{program} {shlex.join([*where, *words])}".strip()

    def seen(self, path: Path) -> str:
        """A path as it is named from where the command runs."""
        return os.path.relpath(path, self.directory)

    def typed_git(self, *words: str) -> str:
        """A git command as a person in the starting folder would type it."""
        where = [word for directory in self.moved for word in ("-C", directory)]
        return shlex.join(["git", *where, *words])

    @property
    def clock(self) -> Clock:
        """The system's clock, or the one that `SKILLGIT_CLOCK` sets.

        Raises: UsageError when `SKILLGIT_CLOCK` is no time.
        """
        from skillgit.cli.app.clock import clock_of

        return clock_of(self.environ)
