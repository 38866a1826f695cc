"""Lines of notes that once stood there and are gone: nothing of ours ever takes one away.

What was there is known from the history of the notes ref, from its reflog, and from our own log
of moves, so a rewritten history is found as well as a pruned one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence

import pygit2

from skillgit.records import Record
from skillgit.store.git.refs import GIT_ERRORS, ref_target
from skillgit.store.notes.notes import ID_DIGITS, blobs_on


class Loss(Record):
    """A line that is gone: the object it stood on, and the last commit seen that had it."""

    object_id: str
    line: str
    commit: str


def lost_lines(
    git: pygit2.Repository, ref: str, moves: Sequence[Mapping[str, object]] = ()
) -> list[Loss]:
    """The lines of a notes ref that are in no note now, newest loss first.

    `moves` are those of the log that were tried on the ref; one counts as made if another began
    where it ended.
    """
    tip = ref_target(git, ref)
    now = _Notes(git, tip)
    losses: dict[tuple[str, str], Loss] = {}
    for commit, after in _states(git, ref, tip, moves):
        for object_id, line in _taken_away(git, commit, after):
            if line not in now.lines(object_id):
                loss = Loss(object_id=object_id, line=line, commit=str(commit.id))
                losses.setdefault((object_id, line), loss)
    return list(losses.values())


def _states(
    git: pygit2.Repository, ref: str, tip: str | None, moves: Sequence[Mapping[str, object]]
) -> Iterator[tuple[pygit2.Commit, pygit2.Commit | None]]:
    """Every state that the ref ever had, each with a later one to compare it with."""
    final = _commit(git, tip)
    seen: set[str] = set()
    heads = [tip, *_from_reflog(git, ref), *_from_log(moves)]
    for head in dict.fromkeys(heads):
        commit = _commit(git, head)
        if commit is None or str(commit.id) in seen:
            continue
        if head != tip:
            yield commit, final
        queue = deque([commit])
        while queue:
            child = queue.popleft()
            if str(child.id) in seen:
                continue
            seen.add(str(child.id))
            for parent in _parents(child):
                yield parent, child
                queue.append(parent)


def _from_reflog(git: pygit2.Repository, ref: str) -> list[str]:
    try:
        return [str(entry.oid_new) for entry in git.lookup_reference(ref).log()]
    except GIT_ERRORS:
        return []


def _from_log(moves: Sequence[Mapping[str, object]]) -> list[str]:
    began = {move.get("old") for move in moves}
    made = [str(move.get("new")) for move in moves if move.get("new") in began]
    return made[::-1]


def _taken_away(
    git: pygit2.Repository, before: pygit2.Commit, after: pygit2.Commit | None
) -> Iterator[tuple[str, str]]:
    """The lines that one state has and a later one has not, where their trees differ."""
    later = None if after is None else after.tree
    for object_id, blob in _removed(git, before.tree, later, ""):
        remaining = _Notes(git, None if after is None else str(after.id)).lines(object_id)
        for line in _lines_of(blob):
            if line not in remaining:
                yield object_id, line


def _removed(
    git: pygit2.Repository, before: pygit2.Tree, after: pygit2.Tree | None, prefix: str
) -> Iterator[tuple[str, pygit2.Blob]]:
    """The notes of a tree that are not, byte for byte, at the same place of another, if there is one."""
    for entry in before:
        own = entry.name or ""
        name = prefix + own
        other = after[own] if after is not None and own in after else None
        if other is not None and other.id == entry.id:
            continue
        if isinstance(entry, pygit2.Tree):
            yield from _removed(git, entry, other if isinstance(other, pygit2.Tree) else None, name)
        elif isinstance(entry, pygit2.Blob) and len(name) == ID_DIGITS:
            yield name, entry


class _Notes:
    """The notes of one state of the ref, at any depth of fan-out."""

    def __init__(self, git: pygit2.Repository, commit: str | None) -> None:
        found = _commit(git, commit)
        self._root = None if found is None else found.tree
        self._known: dict[str, frozenset[str]] = {}

    def lines(self, object_id: str) -> frozenset[str]:
        """The lines on an object."""
        if object_id not in self._known:
            blobs = [] if self._root is None else blobs_on(self._root, object_id)
            self._known[object_id] = frozenset(line for b in blobs for line in _lines_of(b))
        return self._known[object_id]


def _lines_of(blob: pygit2.Blob) -> Iterator[str]:
    for line in blob.data.decode("utf-8", "replace").split("\n"):
        if line.strip():
            yield line.strip()


def _commit(git: pygit2.Repository, commit_id: str | None) -> pygit2.Commit | None:
    if commit_id is None:
        return None
    try:
        return git[commit_id].peel(pygit2.Commit)
    except GIT_ERRORS:
        return None


def _parents(commit: pygit2.Commit) -> list[pygit2.Commit]:
    try:
        return list(commit.parents)
    except GIT_ERRORS:
        return []


def noted_objects(git: pygit2.Repository, ref: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every object that has a note, with its lines, as they stand now."""
    final = _commit(git, ref_target(git, ref))
    if final is not None:
        for object_id, blob in _removed(git, final.tree, None, ""):
            yield object_id, tuple(_lines_of(blob))
