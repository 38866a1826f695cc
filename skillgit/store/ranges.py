"""What a range of commits changes, read from objects alone: nothing is checked out or filtered."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pygit2
from pygit2.enums import FileMode

from skillgit.errors import UserError
from skillgit.records import Record
from skillgit.store.git.refs import GIT_ERRORS
from skillgit.store.git.trees import message_of
from skillgit.store.revisions import resolve

_RANGE = re.compile(r"(?P<base>.*?)\.\.\.?(?P<head>.*)")
_MOST_COMMITS = 5_000


class FileVersion(Record):
    """A file as it stands in a tree; a submodule has no data here."""

    mode: int
    object_id: str
    data: bytes = b""

    @property
    def kind(self) -> str:
        """What it is, in a word or two."""
        return _KINDS.get(self.mode, f"an entry of mode {self.mode:o}")

    @property
    def is_plain(self) -> bool:
        """Whether it is a file that nobody can run."""
        return self.mode == FileMode.BLOB


_KINDS = {
    int(FileMode.BLOB): "a file",
    int(FileMode.BLOB_EXECUTABLE): "a program",
    int(FileMode.LINK): "a symbolic link",
    int(FileMode.COMMIT): "a submodule",
}


class Change(Record):
    """One path that a commit changed; `None` where there was, or is, nothing."""

    path: str
    old: FileVersion | None
    new: FileVersion | None

    @property
    def old_data(self) -> bytes:
        """Its bytes before, none where it was not there."""
        return self.old.data if self.old else b""

    @property
    def new_data(self) -> bytes:
        """Its bytes after, none where it is gone."""
        return self.new.data if self.new else b""


class ChangedCommit(Record):
    """A commit of a range with what it changed against every parent of it."""

    id: str
    message: str
    changes: tuple[Change, ...]


class Range(Record):
    """A range of commits.

    `base` is the trusted side as it was named, `fork` where the other side left it.
    Shape: `commits` oldest first; `changes` are of all of them together.
    """

    base: str
    fork: str
    head: str
    commits: tuple[ChangedCommit, ...]
    changes: tuple[Change, ...]


def read_range(git: pygit2.Repository, typed: str, *, onto: str) -> Range:
    """The range that a text names: `A..B`, `A...B`, or `B` for what it has beyond `onto`.

    Both forms with dots mean the same: what B has that A has not.
    Raises: UserError for what is no range, or one whose sides have nothing in common.
    """
    found = _RANGE.fullmatch(typed)
    base = resolve(git, (found["base"] or onto) if found else onto)
    head = resolve(git, (found["head"] or "HEAD") if found else typed)
    return range_between(git, base, head)


def range_between(git: pygit2.Repository, base: str, head: str) -> Range:
    """What a commit has that another has not.

    Raises: UserError when they have no commit in common.
    """
    fork = git.merge_base(pygit2.Oid(hex=base), pygit2.Oid(hex=head))
    if fork is None:
        raise UserError(
            f"{base[:12]} and {head[:12]} have no commit in common here",
            hint="A shallow clone may have cut it off: git fetch --unshallow, or fetch-depth: 0.",
        )
    walker = git.walk(pygit2.Oid(hex=head), pygit2.enums.SortMode.TOPOLOGICAL)
    walker.hide(pygit2.Oid(hex=base))
    commits = []
    try:
        for commit in walker:
            commits.append(_changed(git, commit))
            if len(commits) > _MOST_COMMITS:
                raise UserError(f"there are more than {_MOST_COMMITS} commits in the range")
    except KeyError as error:
        raise UserError(
            "not all commits of the range are here",
            hint="In a shallow clone: git fetch --unshallow, or fetch-depth: 0.",
        ) from error
    start, end = (git[c].peel(pygit2.Commit).tree for c in (fork, head))
    return Range(
        base=base,
        fork=str(fork),
        head=head,
        commits=tuple(reversed(commits)),
        changes=_changes(git, start, end),
    )


def file_in(git: pygit2.Repository, commit: str, path: str) -> FileVersion | None:
    """A file as it stands in a commit, links not followed."""
    return _version(git, git[commit].peel(pygit2.Commit).tree, path)


def files_in(git: pygit2.Repository, commit: str, path: str) -> list[str]:
    """The plain files at or under a path in a commit."""
    tree = git[commit].peel(pygit2.Commit).tree
    found = _version(git, tree, path)
    if found is not None:
        return [path]
    try:
        folder = tree[path.strip("/")] if path.strip("/") not in ("", ".") else tree
    except GIT_ERRORS:
        return []
    prefix = "" if folder.id == tree.id else f"{path.strip('/')}/"
    return sorted(_below(folder, prefix)) if isinstance(folder, pygit2.Tree) else []


def _below(tree: pygit2.Tree, prefix: str) -> list[str]:
    found: list[str] = []
    for entry in tree:
        name = f"{prefix}{entry.name}"
        if isinstance(entry, pygit2.Tree):
            found += _below(entry, f"{name}/")
        elif int(entry.filemode) in (FileMode.BLOB, FileMode.BLOB_EXECUTABLE):
            found.append(name)
    return found


def _changed(git: pygit2.Repository, commit: pygit2.Commit) -> ChangedCommit:
    """A commit with what it brings that no parent of it has."""
    parents = [parent.tree for parent in commit.parents]
    changes = _changes(git, parents[0] if parents else None, commit.tree)
    for tree in parents[1:]:
        elsewhere = {change.path for change in _changes(git, tree, commit.tree)}
        changes = tuple(change for change in changes if change.path in elsewhere)
    return ChangedCommit(id=str(commit.id), message=message_of(commit), changes=changes)


def _changes(
    git: pygit2.Repository, before: pygit2.Tree | None, after: pygit2.Tree
) -> tuple[Change, ...]:
    diff = after.diff_to_tree(swap=True) if before is None else before.diff_to_tree(after)
    return tuple(
        Change(
            path=_shown(delta.new_file.raw_path or delta.old_file.raw_path),
            old=_side(git, delta.old_file),
            new=_side(git, delta.new_file),
        )
        for delta in diff.deltas
    )


def _side(git: pygit2.Repository, file: pygit2.DiffFile) -> FileVersion | None:
    """One side of a change, by its id: a path need not be text, and is not looked up."""
    return None if not file.mode else _loaded(git, int(file.mode), file.id)


def _shown(path: bytes) -> str:
    return path.decode("utf-8", "backslashreplace")


def _version(git: pygit2.Repository, tree: pygit2.Tree, path: str) -> FileVersion | None:
    try:
        entry = tree[path]
    except GIT_ERRORS:
        return None
    mode = int(entry.filemode)
    return None if mode == FileMode.TREE else _loaded(git, mode, entry.id)


def _loaded(git: pygit2.Repository, mode: int, object_id: pygit2.Oid) -> FileVersion:
    found = None if mode == FileMode.COMMIT else git.get(object_id)
    data = found.data if isinstance(found, pygit2.Blob) else b""
    return FileVersion(mode=mode, object_id=str(object_id), data=data)


# ── A commit's files in a folder of their own, for programs that have to be the base's.


@contextmanager
def snapshot(git: pygit2.Repository, commit: str) -> Iterator[Path]:
    """The plain files of a commit, to the byte; no links, no filters, gone after the block."""
    with TemporaryDirectory(prefix="skillgit-base-") as folder:
        root = Path(folder).resolve()
        for path in files_in(git, commit, ""):
            found = file_in(git, commit, path)
            if found is None:
                continue
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(found.data)
            if not found.is_plain:
                file.chmod(0o700)
        yield root
