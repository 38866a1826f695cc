"""A commit's files in a folder of their own, for programs that have to be the base's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pygit2

from skillgit.store.ranges import file_in, files_in


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
