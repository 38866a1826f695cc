"""The state between nights: a few files on a ref of their own, one commit a night.

The ref is in no refspec: what stands there speaks of private sessions.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import pygit2
from pydantic import Field

from skillgit.errors import RepositoryError
from skillgit.records import Record
from skillgit.store.git.names import SLEEP
from skillgit.store.git.refs import GIT_ERRORS, Refs
from skillgit.store.git.repository import Repository
from skillgit.store.git.trees import commit_at, replace_files, tree_of, written


class SleepFiles(Record):
    """The files by name as one commit has them; `commit` is `None` before the first night."""

    commit: str | None = None
    files: dict[str, bytes] = Field(default_factory=dict)


def read_sleep(repository: Repository, refs: Refs) -> SleepFiles:
    """The state as it is.

    Raises: RepositoryError when the ref does not lead to a commit.
    """
    tip = refs.read(SLEEP)
    if tip is None:
        return SleepFiles()
    try:
        tree = tree_of(commit_at(repository.git, tip))
    except GIT_ERRORS as error:
        raise RepositoryError(
            f"{SLEEP} does not lead to a commit",
            hint=f"git update-ref -d {SLEEP} begins anew; the nights' branches and notes stay.",
        ) from error
    blobs = [entry for entry in tree if isinstance(entry, pygit2.Blob)]
    return SleepFiles(commit=tip, files={str(blob.name): blob.data for blob in blobs})


def write_sleep(
    repository: Repository,
    refs: Refs,
    before: SleepFiles,
    files: Mapping[str, bytes],
    *,
    message: str,
    time: datetime,
) -> str:
    """Commit the files over what was read; the commit.

    Raises: RefMovedError when another writer was here since.
    """
    git = repository.git
    who = repository.signature(int(time.timestamp()))
    parents = [] if before.commit is None else [pygit2.Oid(hex=before.commit)]
    tree = replace_files(git, None, {**before.files, **files})
    commit = str(written(lambda: git.create_commit(None, who, who, message, tree, parents)))
    refs.move(SLEEP, old=before.commit, new=commit, message=message)
    return commit
