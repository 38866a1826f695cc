"""The notes of a version, wherever its commit stands by now: they are on its run's own branch."""

from __future__ import annotations

import pygit2

from skillgit.history import NoteLine, RunCommit
from skillgit.history.trailers import ParsedTrailers, parse_commit
from skillgit.records import Action
from skillgit.store.git.names import notes_ref
from skillgit.store.git.refs import Refs
from skillgit.store.git.trees import author_of, commit_at, message_of
from skillgit.store.notes.ledger import parse_lines
from skillgit.store.notes.notes import Notes
from skillgit.store.runs.runs import read_commit, run_commit, run_tips, walk

Steps = dict[tuple[int, Action], RunCommit]

Version = ParsedTrailers | RunCommit
"""A commit of a run, or of a copy of one, by what it says of itself."""


class NotedVersions:
    """Finds the notes of versions by what they say of themselves."""

    def __init__(self, git: pygit2.Repository, refs: Refs) -> None:
        self._git = git
        self._refs = refs
        self._runs: dict[str, list[Steps]] = {}

    def commit_of(self, version: Version, *, author: str = "") -> str | None:
        """The commit on the run's branch that a version is a copy of, if that run is here.

        `author` is that of the copy, where there is a commit of it.
        """
        found = find_original(self._steps(version.run), version, author, self._git)
        return None if found is None else found.id

    def lines(self, version: Version, *, author: str = "") -> tuple[NoteLine, ...]:
        """The note lines on that commit; none where the run is not here."""
        commit = self.commit_of(version, author=author)
        if commit is None:
            return ()
        return parse_lines(Notes(self._git, self._refs, notes_ref(version.run)).lines(commit))

    def read(self, commit_id: str) -> RunCommit | None:
        """A version wherever it stands, with its run's state as the run's own branch has it.

        `None` for what is no version, or of a run that is not here.
        """
        own = read_commit(self._git, commit_id)
        if own is not None:
            return own
        commit = commit_at(self._git, commit_id)
        told = parse_commit(message_of(commit))
        if told is None:
            return None
        found = find_original(self._steps(told.run), told, author_of(commit), self._git)
        return None if found is None else run_commit(commit, told, found.state)

    def _steps(self, run: str) -> list[Steps]:
        if run not in self._runs:
            self._runs[run] = steps_of_runs(self._git, run)
        return self._runs[run]


def steps_of_runs(git: pygit2.Repository, run: str) -> list[Steps]:
    """The commits of each run of a name that is here, by what they stand for."""
    return [{(c.step, c.action): c for c in walk(git, tip)} for tip in run_tips(git, run)]


def find_original(
    runs: list[Steps], version: Version, author: str, git: pygit2.Repository
) -> RunCommit | None:
    """The commit that a version is a copy of: by its run's id, its author, or else its score."""
    same = [own for run in runs if (own := run.get((version.step, version.action))) is not None]
    run_id = version.state.run_id if version.state is not None else None
    if run_id is not None:
        return next((own for own in same if own.state.run_id == run_id), None)
    by_author = (own for own in same if author and author_of(commit_at(git, own.id)) == author)
    by_score = (own for own in same if version.score is None or own.score == version.score)
    return next(by_author, None) or next(by_score, None)
