"""Notes that came from elsewhere, taken in line by line: what is there stays, the rest is added.

git's own merge of notes is three-way and would carry one clone's `git notes prune` over to all; a
union only ever adds. Subtrees that are equal are not looked into.
"""

from __future__ import annotations

from collections.abc import Iterator

import pygit2

from skillgit.errors import ConflictError
from skillgit.store.git.names import NOTES, REMOTE_NOTES
from skillgit.store.git.refs import RefMovedError, Refs
from skillgit.store.git.repository import Repository
from skillgit.store.git.trees import is_ancestor, missing_object
from skillgit.store.notes.notes import ID_DIGITS, Notes, blobs_on, joined

Lines = dict[str, list[bytes]]

_HEX = frozenset("0123456789abcdef")
_MAX_RACES = 200


def take_in(
    git: pygit2.Repository, refs: Refs, ref: str, other: str, *, who: pygit2.Signature
) -> int:
    """Add every line of another notes commit to a notes ref; how many lines were new there.

    A ref that lacks nothing of its own goes forward to the other; else a commit has both as
    parents, so that pushing it forces nothing.
    Raises: ConflictError when other writers keep moving the ref.
    """
    theirs = tree_at(git, other)
    for _ in range(_MAX_RACES):
        tip = refs.read(ref)
        ours = None if tip is None else tree_at(git, tip)
        fresh = missing_lines(ours, theirs)
        if not fresh and tip is not None and is_ancestor(git, other, tip):
            return 0
        forward = tip is None or (is_ancestor(git, tip, other) and not missing_lines(theirs, ours))
        try:
            if forward:
                refs.move(ref, old=tip, new=other, message="notes: from another clone")
            else:
                message = "notes of another clone"
                Notes(git, refs, ref).add(fresh, who=who, message=message, merging=other)
        except RefMovedError:
            continue
        return count_lines(fresh)
    raise ConflictError(f"other writers keep moving {ref}")


def missing_lines(have: pygit2.Tree | None, other: pygit2.Tree | None) -> Lines:
    """The lines that `other` has on an object and `have` has not, by the object's id.

    Raises: RepositoryError when a note was never fetched, as a partial clone does it.
    """
    if other is None or (have is not None and have.id == other.id):
        return {}
    try:
        return _missing_lines(have, other)
    except KeyError as error:
        raise missing_object(str(error.args[0]).strip("'"), "a note") from error


def _missing_lines(have: pygit2.Tree | None, other: pygit2.Tree) -> Lines:
    missing: Lines = {}
    for object_id in dict.fromkeys(_noted(other, have, "")):
        known = set(joined([] if have is None else blobs_on(have, object_id)).split(b"\n"))
        there = joined(blobs_on(other, object_id)).split(b"\n")
        lines = [line for line in there if line.strip() and line not in known]
        if lines:
            missing[object_id] = lines
    return missing


def fetched_notes(repository: Repository) -> list[str]:
    """The refs under which notes of remotes are kept here."""
    kept = (ref for ref in repository.git.references if ref.startswith(REMOTE_NOTES))
    return sorted(ref for ref in kept if ref.endswith(NOTES.removeprefix("refs/notes")))


def count_lines(lines: Lines) -> int:
    """How many lines these are, over all objects."""
    return sum(len(on_one) for on_one in lines.values())


def tree_at(git: pygit2.Repository, commit: str) -> pygit2.Tree:
    """The tree of notes that a notes commit has."""
    return git[commit].peel(pygit2.Tree)


def _noted(tree: pygit2.Tree, known: pygit2.Tree | None, prefix: str) -> Iterator[str]:
    """The objects whose notes a tree has, leaving out what `known` has at the same place."""
    for entry in tree:
        name = entry.name or ""
        if not _HEX.issuperset(name):
            continue
        same = known[name] if known is not None and name in known else None
        if same is not None and same.id == entry.id:
            continue
        if isinstance(entry, pygit2.Tree):
            yield from _noted(entry, same if isinstance(same, pygit2.Tree) else None, prefix + name)
        elif isinstance(entry, pygit2.Blob) and len(prefix + name) == ID_DIGITS:
            yield prefix + name
