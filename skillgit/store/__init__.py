"""Everything git: the only room that knows pygit2 and runs git. Other rooms see `ports.Store`."""

from skillgit.store.git_store import GitStore
from skillgit.store.repository import Repository, open_repository

__all__ = ["GitStore", "Repository", "open_repository"]
