"""Blame: from a line of a skill to the step that brought it, and the failures that asked for it.

git says which commit a line is from; its trailers name the run and the step, and the run's notes
hold the edit with its evidence. Reads only.
"""

from __future__ import annotations

from collections.abc import Sequence

from skillgit.editing.matching import LIST_MARK
from skillgit.history import NoteLine, StepNote
from skillgit.history.notes import (
    ComparisonNote,
    MetaSkillNote,
    PairKind,
    PairScores,
    SlowUpdateNote,
)
from skillgit.history.trailers import ParsedTrailers, epoch_named, parse_commit, quoted_commits
from skillgit.records import Action, Edit, FailurePattern, RawPatch, Record
from skillgit.review.hunks import folded
from skillgit.store.git.repository import Repository
from skillgit.store.git.trees import author_of, commit_at, message_of
from skillgit.store.runs.version_notes import NotedVersions
from skillgit.store.skills.blame import BlamedLine

_OF_EPOCHS = (ComparisonNote, MetaSkillNote, SlowUpdateNote)
_ASKS = (PairKind.REGRESSED, PairKind.PERSISTENT_FAIL)


class Origin(Record):
    """The version that brought a line, and why.

    `score` is what the version measured where the line was committed. `edit` is what put the line
    there, `lapse` says that it is a note on one, `tasks` asked for it. `patterns` are the failures
    seen in these; `pairs` the comparison that guidance was written from. `noted` says whether the
    run's notes are here at all.
    """

    run: str
    version: str
    action: Action
    score: float | None
    before: float | None = None
    after: float | None = None
    edit: Edit | None = None
    lapse: bool = False
    tasks: tuple[str, ...] = ()
    patterns: tuple[FailurePattern, ...] = ()
    pairs: tuple[PairScores, ...] = ()
    noted: bool = False


class TracedLine(BlamedLine):
    """A line with where it is from; `origin` is `None` for what a person wrote."""

    origin: Origin | None


class Tracer:
    """Traces lines of one document. `is_main` says that edits of the target `skill` mean it."""

    def __init__(
        self, repository: Repository, noted: NotedVersions, path: str, *, is_main: bool
    ) -> None:
        self._git = repository.git
        self._noted = noted
        self._targets = {path, *(["skill"] if is_main else [])}
        self._versions: dict[str, tuple[ParsedTrailers, ...]] = {}
        self._authors: dict[str, str] = {}
        self._lines: dict[tuple[str, int, Action], tuple[NoteLine, ...]] = {}

    def trace(self, line: BlamedLine) -> TracedLine:
        """The line with the version that it came with."""
        versions = self._of(line.commit)
        commit = line.commit or ""
        found = [self._origin(trailers, commit, line.text) for trailers in versions]
        origin = (
            next((o for o in found if o.tasks or o.edit or o.pairs), found[0]) if found else None
        )
        return TracedLine(**line.model_dump(), origin=origin)

    def _of(self, commit: str | None) -> tuple[ParsedTrailers, ...]:
        """The versions that a commit is of: one, or those that a squash is of, newest first."""
        if commit is None:
            return ()
        if commit not in self._versions:
            message = message_of(commit_at(self._git, commit))
            own = parse_commit(message)
            self._authors[commit] = author_of(commit_at(self._git, commit)) if own else ""
            quoted = quoted_commits(message) if own is None else (own,)
            self._versions[commit] = tuple(sorted(quoted, key=lambda t: t.step, reverse=True))
        return self._versions[commit]

    def _origin(self, trailers: ParsedTrailers, commit: str, text: str) -> Origin:
        lines = self._notes(trailers, commit)
        is_epoch = trailers.action is Action.EPOCH
        step = f"e{self._epoch(trailers, commit, lines)}" if is_epoch else str(trailers.step)
        origin = Origin(
            run=trailers.run,
            version=f"{trailers.run}@{step}",
            action=trailers.action,
            score=trailers.score,
            noted=bool(lines),
        )
        for line in lines:
            if isinstance(line, StepNote) and line.step == trailers.step:
                return origin.model_copy(update=self._of_step(line, text))
        return origin.model_copy(update=_of_guidance(lines, text)) if is_epoch else origin

    def _notes(self, trailers: ParsedTrailers, commit: str) -> tuple[NoteLine, ...]:
        key = (commit, trailers.step, trailers.action)
        if key not in self._lines:
            self._lines[key] = self._noted.lines(trailers, author=self._authors[commit])
        return self._lines[key]

    def _epoch(self, trailers: ParsedTrailers, commit: str, lines: Sequence[NoteLine]) -> int | str:
        """The epoch whose end a version is: its notes have it, or else its subject."""
        if trailers.state is not None:
            return trailers.state.epoch
        noted = (line.epoch for line in lines if isinstance(line, _OF_EPOCHS))
        named = epoch_named(message_of(commit_at(self._git, commit)))
        return next(noted, named or "?")

    def _of_step(self, note: StepNote, text: str) -> dict[str, object]:
        update: dict[str, object] = {"before": note.score_before, "after": note.score_after}
        if note.appendix is not None and any(_same(text, own) for own in note.appendix.added):
            tasks = _tasks_of_lapse(note.raw_patches, text)
            return {**update, "lapse": True, "tasks": tasks}
        edit = self._edit(note, text)
        if edit is None:
            return update
        seen = {*edit.task_ids}
        patterns = tuple(p for p in note.failure_patterns if seen & {*p.task_ids})
        return {**update, "edit": edit, "tasks": edit.task_ids, "patterns": patterns}

    def _edit(self, note: StepNote, text: str) -> Edit | None:
        """The edit whose content the line is, or is in the line; of several the last."""
        applied = [o.edit for o in note.edits if o.outcome.changed_text]
        own = [e for e in reversed(applied) if e.target in self._targets and e.content.strip()]
        whole = (e for e in own if any(_same(text, part) for part in e.content.split("\n")))
        return next(whole, None) or next((e for e in own if _is_in(e.content, text)), None)


def _of_guidance(lines: Sequence[NoteLine], text: str) -> dict[str, object]:
    """What guidance was written from, if the line is of it."""
    update: dict[str, object] = {}
    for line in lines:
        match line:
            case SlowUpdateNote() if any(_same(text, own) for own in line.guidance.split("\n")):
                update |= {"before": line.score_before, "after": line.score_after}
            case ComparisonNote():
                asks = tuple(pair for pair in line.pairs if pair.kind in _ASKS)
                update |= {"pairs": asks, "tasks": tuple(pair.task_id for pair in asks)}
            case _:
                pass
    return update


def _tasks_of_lapse(patches: Sequence[RawPatch], text: str) -> tuple[str, ...]:
    """The tasks that a note on a lapse is about; those it was shown where it names none."""
    found = [
        lapse.task_ids or patch.task_ids
        for patch in patches
        for lapse in patch.lapses
        if _same(text, lapse.note)
    ]
    return tuple(dict.fromkeys(task for tasks in found for task in tasks))


def _same(line: str, other: str) -> bool:
    return bool(_bare(line)) and _bare(line) == _bare(other)


def _is_in(content: str, line: str) -> bool:
    return "\n" not in content.strip() and _bare(content) in _bare(line)


def _bare(line: str) -> str:
    """A line's words, without the mark of a list."""
    mark = LIST_MARK.match(line)
    return folded(line[mark.end() :] if mark else line)
