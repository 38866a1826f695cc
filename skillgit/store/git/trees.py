"""Trees: reading files at a path, and writing a tree with some paths replaced."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

import pygit2
from pygit2.enums import FileMode

from skillgit.errors import RepositoryError

_MAX_LINKS = 8
_FILES = (FileMode.BLOB, FileMode.BLOB_EXECUTABLE)


def clean_path(path: str) -> str:
    """A path from the repository's root as git writes it.

    Raises: RepositoryError for one that leads out of the repository.
    """
    clean = posixpath.normpath(path)
    if clean.startswith(("/", "../")) or clean in (".", "..") or ".git" in clean.split("/"):
        raise RepositoryError(
            f"{path!r} is no path of a file in the repository",
            hint="Paths are written from the repository's root, like skills/brief/SKILL.md.",
        )
    return clean


def resolve_path(git: pygit2.Repository, tree: pygit2.Tree, path: str) -> str:
    """The path of the file itself, after following symbolic links within the tree.

    Raises: FileNotFoundError; RepositoryError for what is no file, or a link out of the tree.
    """
    current = clean_path(path)
    for _ in range(_MAX_LINKS):
        link = _first_link(git, tree, current)
        if link is None:
            return current
        place, rest = link
        target = _blob_at(git, tree, place, path).data.decode("utf-8", "surrogateescape")
        joined = posixpath.normpath(posixpath.join(posixpath.dirname(place), target, rest))
        if joined.startswith(("/", "..")):
            raise RepositoryError(
                f"{place} is a link to {target}, outside the repository",
                hint="A skill's documents must be files of the repository.",
            )
        current = joined
    raise RepositoryError(f"{path} is a link that leads nowhere: it goes in a circle")


def _first_link(git: pygit2.Repository, tree: pygit2.Tree, path: str) -> tuple[str, str] | None:
    """The first part of the path that is a symbolic link, and what follows it."""
    parts = path.split("/")
    for end in range(1, len(parts) + 1):
        place = "/".join(parts[:end])
        mode = _mode_at(git, tree, place, path)
        if mode == FileMode.LINK:
            return place, "/".join(parts[end:])
        is_last = end == len(parts)
        if mode == FileMode.COMMIT:
            raise RepositoryError(
                f"{place} is a submodule, so {path} is a file of another repository",
                hint=f"Run skillgit in that repository: -C {place}",
            )
        if is_last and mode == FileMode.TREE:
            raise RepositoryError(
                f"{path} is a folder, not a document", hint=f"Name the file: {path}/SKILL.md"
            )
    return None


def _mode_at(git: pygit2.Repository, tree: pygit2.Tree, place: str, whole: str) -> int:
    try:
        return int(tree[place].filemode)
    except KeyError:
        _raise_if_missing_object(git, tree, place)
        raise FileNotFoundError(whole) from None
    except pygit2.GitError:
        raise FileNotFoundError(whole) from None


def _raise_if_missing_object(git: pygit2.Repository, tree: pygit2.Tree, place: str) -> None:
    """A tree that a partial clone never fetched looks, to libgit2, like a path that is not there."""
    current = tree
    for part in place.split("/")[:-1]:
        if part not in current:
            return
        entry = current[part]
        if not isinstance(entry, pygit2.Tree):
            return
        if entry.id not in git:
            raise missing_object(str(entry.id), place)
        current = entry


def read_blob(git: pygit2.Repository, tree: pygit2.Tree, path: str) -> pygit2.Blob:
    """The file at a path, links followed.

    Raises: FileNotFoundError; RepositoryError for what is no file, or was never fetched.
    """
    return _blob_at(git, tree, resolve_path(git, tree, path), path)


def _blob_at(git: pygit2.Repository, tree: pygit2.Tree, place: str, whole: str) -> pygit2.Blob:
    entry = tree[place]
    found = git.get(entry.id)
    if found is None:
        raise missing_object(str(entry.id), place)
    if not isinstance(found, pygit2.Blob):
        raise RepositoryError(f"{whole} is not a file")
    return found


def missing_object(object_id: str, what: str) -> RepositoryError:
    """The error for an object that a partial clone has not fetched, or that is lost."""
    return RepositoryError(
        f"{what} is not in this repository: its object {object_id[:12]} was never fetched, or is lost",
        hint=f"In a partial clone this fetches it: git cat-file -e {object_id}",
    )


def commit_at(git: pygit2.Repository, commit_id: str) -> pygit2.Commit:
    """The commit of that id.

    Raises: RepositoryError when it is not there.
    """
    try:
        return git[commit_id].peel(pygit2.Commit)
    except (KeyError, ValueError, pygit2.GitError) as error:
        raise missing_object(commit_id, f"commit {commit_id[:12]}") from error


def tree_of(commit: pygit2.Commit) -> pygit2.Tree:
    """A commit's tree.

    Raises: RepositoryError when a partial clone has not fetched it.
    """
    try:
        return commit.tree
    except (KeyError, pygit2.GitError) as error:
        raise missing_object(str(commit.tree_id), f"the tree of {commit.short_id}") from error


def files_under(tree: pygit2.Tree, folder: str) -> Iterator[str]:
    """The paths of all files and links below a folder (`""` is the root), in git's order."""
    start = tree if not folder else tree[folder]
    if isinstance(start, pygit2.Tree):
        yield from _walk(start, f"{folder}/" if folder else "")


def _walk(tree: pygit2.Tree, prefix: str) -> Iterator[str]:
    for entry in tree:
        name = entry.name or ""
        if isinstance(entry, pygit2.Tree):
            yield from _walk(entry, f"{prefix}{name}/")
        elif int(entry.filemode) in (*_FILES, FileMode.LINK):
            yield prefix + name


def replace_files(
    git: pygit2.Repository, tree: pygit2.Tree | None, files: Mapping[str, bytes]
) -> pygit2.Oid:
    """A tree with the files at some paths replaced, each with the mode it had there."""
    return written(lambda: _replaced(git, tree, files))


def _replaced(
    git: pygit2.Repository, tree: pygit2.Tree | None, files: Mapping[str, bytes]
) -> pygit2.Oid:
    builder = git.TreeBuilder() if tree is None else git.TreeBuilder(tree)
    below: dict[str, dict[str, bytes]] = {}
    for path, data in files.items():
        name, slash, rest = path.partition("/")
        if slash:
            below.setdefault(name, {})[rest] = data
        else:
            builder.insert(name, git.create_blob(data), _mode_of(builder, name))
    for name, inner in below.items():
        old = tree[name] if tree is not None and name in tree else None
        subtree = _replaced(git, old if isinstance(old, pygit2.Tree) else None, inner)
        builder.insert(name, subtree, FileMode.TREE)
    return builder.write()


def _mode_of(builder: pygit2.TreeBuilder, name: str) -> FileMode:
    entry = builder.get(name)
    if entry is not None and int(entry.filemode) == FileMode.BLOB_EXECUTABLE:
        return FileMode.BLOB_EXECUTABLE
    return FileMode.BLOB


def author_of(commit: pygit2.Commit) -> str:
    """Who made a commit, and when; copies keep it."""
    who = commit.author
    return f"{who.name} <{who.email}> {who.time}"


def message_of(commit: pygit2.Commit) -> str:
    """A commit's message, whatever encoding it says it is in."""
    try:
        return commit.message
    except (LookupError, ValueError):
        return commit.raw_message.decode("utf-8", "replace")


# ── Writing objects while others tidy up: git removes an empty folder of objects at any moment.

_TRIES = 20

ResultT = TypeVar("ResultT")


def written(write: Callable[[], ResultT]) -> ResultT:
    """What `write` returns, tried again when it failed; it writes objects and moves nothing.

    libgit2 makes an object's folder and then the object, and a `git gc` may take the folder away
    in between. An object is named by its content, so that writing it again changes nothing.
    Raises: RepositoryError when it keeps failing: the disk is full, say.
    """
    for _ in range(_TRIES - 1):
        try:
            return write()
        except OSError:
            continue
    try:
        return write()
    except OSError as error:
        raise RepositoryError(
            f"git's objects cannot be written: {error}",
            hint="See whether the disk is full, and who owns the objects folder of the git dir.",
        ) from error
