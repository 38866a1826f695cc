"""Looking at a repository's own files for what stands in the way. Reads only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from skillgit.store.git.private import FOLDER
from skillgit.store.git.repository import Repository

_REF = re.compile(rb"(?:[0-9a-f]{40}|ref: \S.*)\s*")
_TOP_LOCKS = ("HEAD.lock", "config.lock", "packed-refs.lock", "shallow.lock")


def broken_refs(repository: Repository) -> list[Path]:
    """The files of refs that hold neither an id nor another ref's name, in order."""
    return [file for file in _ref_files(repository) if not _REF.fullmatch(_bytes(file))]


def _ref_files(repository: Repository) -> Iterator[Path]:
    for file in sorted((repository.common / "refs").rglob("*")):
        if file.is_file() and file.suffix != ".lock":
            yield file


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


def lock_files(repository: Repository) -> Iterator[tuple[Path, float]]:
    """Git's lock files, each with the time it was written.

    Unit: seconds since 1970, UTC.
    """
    common = repository.common
    places = [common / name for name in _TOP_LOCKS]
    places += [common / "index.lock", *sorted(common.glob("worktrees/*/index.lock"))]
    places += sorted((common / "refs").rglob("*.lock"))
    for file in dict.fromkeys(places):
        try:
            yield file, file.stat().st_mtime
        except OSError:
            continue


def private_files(repository: Repository) -> list[tuple[Path, int]]:
    """What lies in the private folder: its files and folders at the top, with their sizes.

    Unit: bytes.
    """
    folder = repository.common / FOLDER
    if not folder.is_dir():
        return []
    return [(entry, _size(entry)) for entry in sorted(folder.iterdir())]


def _size(entry: Path) -> int:
    files = entry.rglob("*") if entry.is_dir() else iter((entry,))
    return sum(file.lstat().st_size for file in files if file.is_file() or file.is_symlink())
