"""Reading runs without a config: which there are, their commits, and the names of versions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from skillgit.cli.invocation import Invocation
from skillgit.errors import UserError
from skillgit.history import RunCommit
from skillgit.records import Action
from skillgit.store.names import best_tag, parse_run, proposal_ref, run_ref
from skillgit.store.repository import Repository, open_repository
from skillgit.store.runs import read_commit, run_names, walk

_VERSION = re.compile(
    r"(?P<run>[a-z]+-[0-9]+)(?:@(?:(?P<step>[0-9]+)(?P<after>\+)?|e(?P<epoch>[0-9]+)|(?P<best>best)))?"
)


class Runs:
    """The runs of one repository."""

    def __init__(self, repository: Repository, invocation: Invocation) -> None:
        self.repository = repository
        self._invocation = invocation

    def tip(self, run: str) -> str | None:
        """The commit that a run's branch is at, if there is such a branch."""
        return self._at(run_ref(run))

    def names(self) -> list[str]:
        """The runs that have a branch here, the one that moved last at the end."""
        return sorted(run_names(self.repository), key=self._moved)

    def history(self, run: str) -> Iterator[RunCommit]:
        """A run's commits, newest first.

        Raises: UserError when there is no such run.
        """
        tip = self.tip(str(parse_run(run)))
        if tip is None:
            raise self._no_run(run)
        return walk(self.repository.git, tip)

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
        if version == "best":
            commit = self._at(best_tag())
            if commit is None:
                raise UserError(
                    "there is no best version yet",
                    hint=f"{self._invocation.typed('status')} shows how far the runs are.",
                )
            return commit
        matched = _VERSION.fullmatch(version)
        if matched is None:
            return self._by_git(version)
        run = matched["run"]
        if "@" not in version:
            return self._at(proposal_ref(run)) or next(self.history(run)).id
        found = [c for c in self.history(run) if _is_meant(c, matched)]
        if matched["best"]:
            found = _best_of(self.history(run))
        if not found:
            raise UserError(
                f"{run} has no version {version.partition('@')[2]!r}",
                hint=f"{self._invocation.typed('log', run)} shows what there is.",
            )
        return found[0].id

    def read(self, commit: str) -> RunCommit | None:
        """A commit of a run; `None` for one that is none."""
        return read_commit(self.repository.git, commit)

    def _by_git(self, version: str) -> str:
        try:
            return str(self.repository.git.revparse_single(version + "^{commit}").id)
        except (KeyError, ValueError) as error:
            raise UserError(
                f"there is no version {version!r}",
                hint="A version is named like train-1@12, best, or as git names a commit.",
            ) from error

    def _at(self, ref: str) -> str | None:
        found = self.repository.git.references.get(ref)
        return None if found is None else str(found.target)

    def _moved(self, run: str) -> float:
        tip = self.tip(run)
        commit = None if tip is None else self.read(tip)
        return 0.0 if commit is None else commit.time.timestamp()

    def _no_run(self, run: str) -> UserError:
        names = self.names()
        known = f"there are {', '.join(names)}" if names else "there is none yet"
        return UserError(f"there is no run {run}", hint=f"{known[0].upper()}{known[1:]}.")


def open_runs(invocation: Invocation) -> Runs:
    """The runs of the repository that the command is in.

    Raises: RepositoryError.
    """
    return Runs(open_repository(invocation.directory), invocation)


def _is_meant(commit: RunCommit, version: re.Match[str]) -> bool:
    if version["epoch"]:
        return commit.action is Action.EPOCH and commit.state.epoch == int(version["epoch"])
    if version["step"] is None or commit.step != int(version["step"]):
        return False
    if commit.action in (Action.EPOCH, Action.END):
        return False
    return bool(version["after"]) or commit.action is not Action.REVERT


def _best_of(history: Iterator[RunCommit]) -> list[RunCommit]:
    """The commit that made the version which is best at the run's tip."""
    commits = list(history)
    best = commits[0].state.best
    return [
        c
        for c in commits
        if c.step == best.step and c.state.best == best and c.state.current.origin == best.origin
    ][-1:]
