"""Reading runs without a config: which there are, their commits, and the names of versions."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from skillgit.cli.app.invocation import Invocation
from skillgit.errors import UserError
from skillgit.history import NoteLine, RunCommit
from skillgit.store.git.names import notes_ref, parse_run
from skillgit.store.git.refs import Refs
from skillgit.store.git.repository import Repository, open_repository
from skillgit.store.notes.ledger import parse_lines
from skillgit.store.notes.notes import Notes
from skillgit.store.runs.runs import read_commit, run_names, run_tip, walk


class Runs:
    """The runs of one repository; `skill` is the one of several whose best is meant."""

    def __init__(
        self, repository: Repository, invocation: Invocation, *, skill: str | None = None
    ) -> None:
        self.repository = repository
        self._skill = skill
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
        """The run that was named, or the one that moved last; of the one skill, where one is named.

        Raises: UserError when there is none, or when the run is another skill's.
        """
        names = self.names()
        if self._skill is not None:
            return self._of_skill(run, names, self._skill)
        if run is not None:
            return run
        if not names:
            raise UserError(
                "there is no run yet", hint=f"{self._invocation.typed('train')} begins one."
            )
        return names[-1]

    def skill_of(self, run: str) -> str | None:
        """The skill that a run trains; `None` when there is no such run."""
        tip = run_tip(self._git, run)
        commit = None if tip is None else self.read(tip)
        return None if commit is None else commit.state.skill

    def _of_skill(self, run: str | None, names: Sequence[str], skill: str) -> str:
        trained = {name: self.skill_of(name) for name in names}
        if run is not None:
            trains = self.skill_of(run)
            if trains in (skill, None):
                return run
            raise UserError(f"{run} trains {trains}, not {skill}")
        own = [name for name in names if trained[name] == skill]
        if own:
            return own[-1]
        others = sorted({found for found in trained.values() if found is not None})
        near = difflib.get_close_matches(skill, others, n=1)
        known = f"There are runs of {', '.join(others)}." if others else ""
        raise UserError(
            f"there is no run of a skill {skill!r} yet",
            hint=f"Did you mean {near[0]!r}?" if near else known,
        )

    def commit_of(self, version: str) -> str:
        """The commit that a version's name means: one of ours, or any that git understands.

        Raises: UserError when there is no such version.
        """
        from skillgit.store.revisions import resolve  # it knows of adoption; `log` need not wait

        return resolve(self._git, version, skill=self._skill)

    def read(self, commit: str) -> RunCommit | None:
        """A commit of a run; `None` for one that is none."""
        return read_commit(self._git, commit)

    def version(self, commit: str) -> RunCommit | None:
        """A version wherever it stands, on its run's branch or elsewhere; `None` for none."""
        from skillgit.store.runs.version_notes import NotedVersions  # `log` need not wait

        return NotedVersions(self._git, self._refs()).read(commit)

    def notes_on(self, commit: RunCommit) -> Sequence[NoteLine]:
        """The note lines on a run's commit whose kind is known."""
        notes = Notes(self._git, self._refs(), notes_ref(commit.run))
        return parse_lines(notes.lines(commit.id))

    def _refs(self) -> Refs:
        return Refs(
            self._git,
            self.repository.common,
            clock=self._invocation.clock,
            command=self._invocation.typed("log"),
        )

    def _moved(self, run: str) -> float:
        tip = run_tip(self._git, run)
        commit = None if tip is None else self.read(tip)
        return 0.0 if commit is None else commit.time.timestamp()


def open_runs(invocation: Invocation, *, skill: str | None = None) -> Runs:
    """The runs of the repository that the command is in.

    Raises: RepositoryError.
    """
    return Runs(open_repository(invocation.directory), invocation, skill=skill)
