"""Everything git: pygit2 is imported here alone. Other rooms see `ports.Store`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillgit.store.git_store import GitStore as GitStore


def __getattr__(name: str) -> object:
    """`GitStore`, imported when it is asked for, so that names alone cost no pygit2."""
    if name == "GitStore":
        from skillgit.store.git_store import GitStore

        return GitStore
    raise AttributeError(name)
