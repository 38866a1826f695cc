"""What is kept in git: runs as branches, records as notes, the best version as a tag.

pygit2 is imported here alone, which a contract checks. The git command line is run by
`git.git_cli`, which the command line uses, too, for what it shows a person. The loop sees none
of it but `ports.Store`.
"""

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
