"""Reading runs without a config: which there are, their commits, and the names of versions."""

from __future__ import annotations

from collections.abc import Iterator

from skillgit.cli.invocation import Invocation
from skillgit.errors import UserError
from skillgit.history import RunCommit
from skillgit.store.names import parse_run
from skillgit.store.repository import Repository, open_repository
from skillgit.store.revisions import resolve, run_tip
from skillgit.store.runs import read_commit, run_names, walk


class Runs:
    """The runs of one repository."""

    def __init__(self, repository: Repository, invocation: Invocation) -> None:
        self.repository = repository
        self._git = repository.git
        self._invocation = invocation

    def names(self) -> list[str]:
        """The runs that have a branch here, the one that moved last at the end."""
        return sorted(run_names(self.repository), key=self._moved)

    def has(self, run: str) -> bool:
        """Whether there is a branch of this run, here or of a remote."""
        return run_tip(self._git, run) is not None

    def history(self, run: str) -> Iterator[RunCommit]:
        """A run's commits, newest first.

        Raises: UserError when there is no such run.
        """
        tip = run_tip(self._git, str(parse_run(run)))
        if tip is None:
            names = self.names()
            known = f"There are {', '.join(names)}." if names else "There is none yet."
            raise UserError(f"there is no run {run}", hint=known)
        return walk(self._git, tip)

    def named_or_newest(self, run: str | None) -> str:
        """The run that was named, or the one that moved last.

        Raises: UserError when there is none.
        """
        if run is not None:
            return run
        names = self.names()
        if not names:
            raise UserError(
                "there is no run yet", hint=f"{self._invocation.typed('train')} begins one."
            )
        return names[-1]

    def commit_of(self, version: str) -> str:
        """The commit that a version's name means: one of ours, or any that git understands.

        Raises: UserError when there is no such version.
        """
        return resolve(self._git, version)

    def read(self, commit: str) -> RunCommit | None:
        """A commit of a run; `None` for one that is none."""
        return read_commit(self._git, commit)

    def _moved(self, run: str) -> float:
        tip = run_tip(self._git, run)
        commit = None if tip is None else self.read(tip)
        return 0.0 if commit is None else commit.time.timestamp()


def open_runs(invocation: Invocation) -> Runs:
    """The runs of the repository that the command is in.

    Raises: RepositoryError.
    """
    return Runs(open_repository(invocation.directory), invocation)
