"""The notes of a version, wherever its commit stands by now: they are on its run's own branch."""

from __future__ import annotations

import pygit2

from skillgit.history import NoteLine
from skillgit.records import Action
from skillgit.store.names import notes_ref
from skillgit.store.note_lines import parse_lines
from skillgit.store.notes import Notes
from skillgit.store.refs import Refs
from skillgit.store.runs import run_tip, walk
from skillgit.trailers import ParsedTrailers

Moments = dict[tuple[int, Action], str]


class NotedVersions:
    """Finds the notes of versions by what their trailers say."""

    def __init__(self, git: pygit2.Repository, refs: Refs) -> None:
        self._git = git
        self._refs = refs
        self._moments: dict[str, Moments] = {}

    def commit_of(self, trailers: ParsedTrailers) -> str | None:
        """The commit on the run's branch that a version is a copy of, if that run is here."""
        moments = self._moments.get(trailers.state.run_id)
        if moments is None:
            moments = self._moments[trailers.state.run_id] = self._read(trailers)
        return moments.get((trailers.step, trailers.action))

    def lines(self, trailers: ParsedTrailers) -> tuple[NoteLine, ...]:
        """The note lines on that commit; none where the run is not here."""
        commit = self.commit_of(trailers)
        if commit is None:
            return ()
        return parse_lines(Notes(self._git, self._refs, notes_ref(trailers.run)).lines(commit))

    def _read(self, trailers: ParsedTrailers) -> Moments:
        """The run's commits by what they stand for; none when another run has its name here."""
        tip = run_tip(self._git, trailers.run)
        if tip is None:
            return {}
        found = list(walk(self._git, tip))
        if found[0].state.run_id != trailers.state.run_id:
            return {}
        return {(commit.step, commit.action): commit.id for commit in found}
