"""Notes: lines on any object, in a tree written by hand that `git notes` reads and writes too.

Only lines are ever added: what stands there stays, byte for byte, whoever wrote it. The tree is
written with one level of fan-out (2/38) and read in any layout, since git rewrites it to its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

import pygit2
from pygit2.enums import FileMode

from skillgit.errors import ConflictError
from skillgit.store.git.refs import RefMovedError, Refs
from skillgit.store.git.trees import written

_HEX = frozenset("0123456789abcdef")
ID_DIGITS = 40
_FAN = 2
_MAX_RACES = 200


class Notes:
    """All notes of one notes ref."""

    def __init__(self, git: pygit2.Repository, refs: Refs, ref: str) -> None:
        self._git = git
        self._refs = refs
        self._ref = ref
        self._regular: pygit2.Oid | None = None

    def lines(self, object_id: str) -> tuple[str, ...]:
        """The lines on an object that are text and not blank, in the order they stand in."""
        root = self._root(self._refs.read(self._ref))
        if root is None:
            return ()
        data = joined(blobs_on(root, object_id))
        texts = (line.decode("utf-8", "replace").strip() for line in data.split(b"\n"))
        return tuple(text for text in texts if text)

    def add(
        self,
        additions: Mapping[str, Iterable[str | bytes]],
        *,
        who: pygit2.Signature,
        message: str,
        merging: str | None = None,
    ) -> None:
        """Add to each object the lines it does not have yet: one notes commit, or none.

        When another writer was first, the lines are added to what it wrote. `merging` is the
        notes commit that the lines come from: it becomes a parent, whether it brings lines or not.

        Raises: ConflictError when the ref's lock stays held.
        """
        wanted = {key: [_encoded(line) for line in lines] for key, lines in additions.items()}
        above = [] if merging is None else [pygit2.Oid(hex=merging)]
        for _ in range(_MAX_RACES):
            tip = self._refs.read(self._ref)
            root = self._root(tip)
            tree = written(partial(self._with, root, wanted))
            if tree is None and root is not None and above:
                tree = root.id
            if tree is None:
                return
            parents = [*([] if tip is None else [pygit2.Oid(hex=tip)]), *above]
            make = partial(self._git.create_commit, None, who, who, message, tree, parents)
            commit = written(make)
            try:
                self._refs.move(self._ref, old=tip, new=str(commit), message=f"notes: {message}")
            except RefMovedError:
                continue
            self._regular = tree
            return
        raise ConflictError(f"other writers keep moving {self._ref}")

    def _root(self, tip: str | None) -> pygit2.Tree | None:
        return None if tip is None else self._git[tip].peel(pygit2.Tree)

    def _with(
        self, root: pygit2.Tree | None, wanted: Mapping[str, list[bytes]]
    ) -> pygit2.Oid | None:
        """The notes tree with the lines added; `None` when all of them are there."""
        fresh: dict[str, bytes] = {}
        for object_id, lines in wanted.items():
            old = b"" if root is None else joined(blobs_on(root, object_id))
            new = add_lines(old, lines)
            if new != old:
                fresh[object_id] = new
        if not fresh:
            return None
        builder = self._git.TreeBuilder() if root is None else self._git.TreeBuilder(root)
        gathered = self._gather(root, builder)
        for object_id, data in fresh.items():
            gathered.setdefault(object_id[:_FAN], {})[object_id[_FAN:]] = data
        for prefix, notes in gathered.items():
            if _is_file(root, prefix):
                for name, data in notes.items():
                    builder.insert(prefix + name, self._git.create_blob(data), FileMode.BLOB)
            else:
                builder.insert(prefix, self._fan(root, prefix, notes), FileMode.TREE)
        return builder.write()

    def _gather(
        self, root: pygit2.Tree | None, builder: pygit2.TreeBuilder
    ) -> dict[str, dict[str, bytes]]:
        """Take the notes out that git keeps without fan-out in the root, to be written with it."""
        gathered: dict[str, dict[str, bytes]] = {}
        if root is None or root.id == self._regular:
            return gathered
        flat = [entry.name for entry in root if _is_note(entry, ID_DIGITS)]
        for name in flat:
            if name is not None:
                data = joined(blobs_on(root, name))
                gathered.setdefault(name[:_FAN], {})[name[_FAN:]] = data
                builder.remove(name)
        return gathered

    def _fan(self, root: pygit2.Tree | None, prefix: str, notes: Mapping[str, bytes]) -> pygit2.Oid:
        """The subtree of one prefix with some notes replaced."""
        old = root[prefix] if root is not None and prefix in root else None
        if not isinstance(old, pygit2.Tree):
            builder = self._git.TreeBuilder()
        else:
            builder = self._git.TreeBuilder(old)
            for name in notes:
                _prune(self._git, builder, name)
        for name, data in notes.items():
            builder.insert(name, self._git.create_blob(data), FileMode.BLOB)
        return builder.write()


def add_lines(old: bytes, lines: Iterable[bytes]) -> bytes:
    """A note with the lines added that it does not have; nothing that stands there changes."""
    have = set(old.split(b"\n"))
    missing = [line for line in dict.fromkeys(lines) if line.strip() and line not in have]
    if not missing:
        return old
    start = old if not old or old.endswith(b"\n") else old + b"\n"
    return start + b"".join(line + b"\n" for line in missing)


def _encoded(line: str | bytes) -> bytes:
    """A line's bytes; half of a surrogate pair, which is no text, becomes a question mark."""
    if isinstance(line, bytes):
        return line
    return line.encode("utf-8", "replace").replace(b"\n", b" ")


def blobs_on(tree: pygit2.Tree, rest: str) -> list[pygit2.Blob]:
    """Every blob that a notes tree has for an object, at any depth of fan-out."""
    found: list[pygit2.Blob] = []
    if rest in tree:
        entry = tree[rest]
        if isinstance(entry, pygit2.Blob):
            found.append(entry)
    fan = rest[:_FAN]
    if len(rest) > _FAN and fan in tree:
        below = tree[fan]
        if isinstance(below, pygit2.Tree):
            found += blobs_on(below, rest[_FAN:])
    return found


def joined(blobs: list[pygit2.Blob]) -> bytes:
    """The one note that several blobs for an object are, none of their lines twice."""
    if not blobs:
        return b""
    data = blobs[0].data
    for blob in blobs[1:]:
        data = add_lines(data, blob.data.split(b"\n"))
    return data


def _prune(git: pygit2.Repository, builder: pygit2.TreeBuilder, rest: str) -> None:
    """Take a note out of the deeper fan-out that git made, since it is written anew above it."""
    fan = rest[:_FAN]
    entry = builder.get(fan) if len(rest) > _FAN else None
    if not isinstance(entry, pygit2.Tree):
        return
    below = git.TreeBuilder(entry)
    if below.get(rest[_FAN:]) is not None:
        below.remove(rest[_FAN:])
    _prune(git, below, rest[_FAN:])
    if len(below) == 0:
        builder.remove(fan)
    else:
        builder.insert(fan, below.write(), FileMode.TREE)


def _is_file(root: pygit2.Tree | None, name: str) -> bool:
    """Whether a file that is no note stands where a fan-out folder would."""
    return root is not None and name in root and isinstance(root[name], pygit2.Blob)


def _is_note(entry: pygit2.Object, digits: int) -> bool:
    name = entry.name or ""
    return len(name) == digits and _HEX.issuperset(name) and isinstance(entry, pygit2.Blob)
