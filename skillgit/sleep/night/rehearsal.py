"""A store for a night that leaves nothing behind: what it would commit stays in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from skillgit.history import Entry, NoteLine, RejectedLine, RunCommit, RunHead, RunPosition
from skillgit.ports import Store
from skillgit.records import Measurements, Skill
from skillgit.store.notes.ledger import pooled, rejected


class Rehearsal:
    """Reads as the store behind it does, and keeps its own run apart from it."""

    def __init__(self, behind: Store, start: Skill, *, now: datetime) -> None:
        self._behind = behind
        self._start = start
        self._now = now
        self._commits: list[RunCommit] = []
        self._skills: dict[str, Skill] = {}
        self._notes: dict[str, tuple[NoteLine, ...]] = {}

    def object_id(self, skill: Skill) -> str:
        """The git object evaluated."""
        return self._behind.object_id(skill)

    def history(self, run_name: str) -> Iterable[RunCommit]:  # noqa: ARG002 - there is one run
        """The rehearsed run's commits, newest first."""
        return tuple(self._commits)

    def skill_at(self, commit_id: str) -> Skill:
        """The skill's documents as they stand in a commit."""
        return self._skills.get(commit_id) or self._behind.skill_at(commit_id)

    def notes_on(self, object_id: str) -> Sequence[NoteLine]:
        """The note lines on an object, the rehearsed ones too."""
        return (*self._behind.notes_on(object_id), *self._notes.get(object_id, ()))

    def measurements(
        self, object_id: str, target: str, *, repeats: int | None, before: RunPosition | None
    ) -> Sequence[Measurements]:
        """What the ledger knows, and what was measured in the rehearsal."""
        lines = self.notes_on(object_id)
        return pooled(object_id, lines, target, repeats=repeats, before=before)

    def rejections(
        self, object_id: str, target: str, *, before: RunPosition | None
    ) -> Sequence[RejectedLine]:
        """The sets of edits that were tried on a skill object and rejected."""
        return rejected(self.notes_on(object_id), target, before=before)

    def record(self, entry: Entry) -> RunCommit:
        """Keep the entry in memory."""
        number = len(self._commits) + 1
        commit_id, parent = f"{number:040x}", f"{number - 1:040x}"
        current = self._skills.get(parent, self._start)
        if entry.takes_back:
            current = self._start
        commit = RunCommit(
            id=commit_id,
            parent=parent,
            run=entry.run.name,
            step=entry.step,
            action=entry.action,
            score=entry.score.score,
            bound=entry.score.bound,
            state=entry.state,
            subject="",
            time=entry.finished_at or self._now,
        )
        kept = entry.candidate if entry.candidate and not entry.action.rejected else current
        self._skills[commit_id] = kept
        self._commits.insert(0, commit)
        self._add(commit_id, entry.lines)
        for object_id, line in entry.object_lines:
            self._add(object_id, (line,))
        return commit

    def finish(self, run: RunHead) -> str | None:
        """Nothing: a rehearsal proposes nothing."""

    def _add(self, object_id: str, lines: Iterable[NoteLine]) -> None:
        self._notes[object_id] = (*self._notes.get(object_id, ()), *lines)
