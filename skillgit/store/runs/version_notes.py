"""The notes of a version, wherever its commit stands by now: they are on its run's own branch."""

from __future__ import annotations

import pygit2

from skillgit.history import NoteLine, RunCommit
from skillgit.history.trailers import ParsedTrailers
from skillgit.records import Action
from skillgit.store.git.names import notes_ref
from skillgit.store.git.refs import Refs
from skillgit.store.notes.ledger import parse_lines
from skillgit.store.notes.notes import Notes
from skillgit.store.runs.runs import run_tip, walk

Moments = dict[tuple[int, Action], str]

Version = ParsedTrailers | RunCommit
"""A commit of a run, or of a copy of one, by what it says of itself."""


class NotedVersions:
    """Finds the notes of versions by what they say of themselves."""

    def __init__(self, git: pygit2.Repository, refs: Refs) -> None:
        self._git = git
        self._refs = refs
        self._moments: dict[str, Moments] = {}

    def commit_of(self, version: Version) -> str | None:
        """The commit on the run's branch that a version is a copy of, if that run is here."""
        moments = self._moments.get(version.state.run_id)
        if moments is None:
            moments = self._moments[version.state.run_id] = self._read(version)
        return moments.get((version.step, version.action))

    def lines(self, version: Version) -> tuple[NoteLine, ...]:
        """The note lines on that commit; none where the run is not here."""
        commit = self.commit_of(version)
        if commit is None:
            return ()
        return parse_lines(Notes(self._git, self._refs, notes_ref(version.run)).lines(commit))

    def _read(self, version: Version) -> Moments:
        """The run's commits by what they stand for; none when another run has its name here."""
        tip = run_tip(self._git, version.run)
        if tip is None:
            return {}
        found = list(walk(self._git, tip))
        if found[0].state.run_id != version.state.run_id:
            return {}
        return {(commit.step, commit.action): commit.id for commit in found}
