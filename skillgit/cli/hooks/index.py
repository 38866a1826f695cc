"""The index that a commit is about to be made from, as its hook sees it. Reads only."""

from __future__ import annotations

import os
import posixpath
from functools import cached_property

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.app.worktree import Worktree
from skillgit.config import SkillConfig
from skillgit.store.skills.memory_file import MEMORY_FILES
from skillgit.store.skills.skills import is_more_of

_LINK = "120000"
_MAX_LINKS = 8
_MERGED = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD^")
_MAX_TIPS = 50


class StagedIndex:
    """The staged files: what has changed since HEAD, and which of it are documents of a skill."""

    def __init__(self, tree: Worktree, invocation: Invocation) -> None:
        given = invocation.environ.get("GIT_INDEX_FILE")
        self._git = tree.git
        if given:
            self._git = tree.git.with_index((invocation.directory / given).resolve())

    def documents(self, skills: tuple[SkillConfig, ...]) -> list[str]:
        """The changed paths that are a skill's documents, or a repository's memory files."""
        changed = self._names("diff", "--cached", "--name-only", "--no-renames", "--diff-filter=d")
        return [path for path in changed if self._is_document(path, skills)]

    def staged(self, path: str) -> bytes | None:
        """The bytes to be committed; `None` for what is no file."""
        return self._blob(f":{path}")

    def committed(self, path: str) -> bytes | None:
        """The bytes in HEAD; `None` when it has none there."""
        return self._blob(f"HEAD:{path}")

    def made_elsewhere(self, path: str) -> list[bytes]:
        """The document as runs, nights and a merge in progress have it."""
        tips = self._git.run(
            *("for-each-ref", "--sort=-committerdate", f"--count={_MAX_TIPS}"),
            *("--format=%(objectname)", "refs/heads/skillopt", "refs/remotes/**/skillopt/**"),
        )
        revisions = [*_MERGED, *dict.fromkeys(tips.text.split())]
        found = (self._blob(f"{revision}:{path}") for revision in revisions)
        return [data for data in found if data is not None]

    def _is_document(self, path: str, skills: tuple[SkillConfig, ...]) -> bool:
        if path in self._links:
            return False
        return path in map(self._resolved, MEMORY_FILES) or any(
            path == main or is_more_of(path, main, skill.files)
            for skill in skills
            for main in (self._resolved(posixpath.normpath(skill.path)),)
        )

    def _resolved(self, path: str) -> str:
        """The path with links followed, as far as they lead within the repository."""
        for _ in range(_MAX_LINKS):
            link = next((p for p in self._links if path == p or path.startswith(f"{p}/")), None)
            if link is None:
                break
            target = (self.staged(link) or b"").decode("utf-8", "surrogateescape")
            path = posixpath.normpath(
                posixpath.join(posixpath.dirname(link), target, path[len(link) + 1 :])
            )
        return path

    @cached_property
    def _links(self) -> frozenset[str]:
        entries = (entry.partition("\t") for entry in self._names("ls-files", "--stage"))
        return frozenset(path for mode, _, path in entries if mode.startswith(_LINK))

    def _names(self, *words: str) -> list[str]:
        done = self._git.checked(*words, "-z")
        return [name for name in os.fsdecode(done.stdout).split("\0") if name]

    def _blob(self, name: str) -> bytes | None:
        done = self._git.run("cat-file", "blob", name)
        return done.stdout if done.ok else None
