"""Opening a repository, from any folder in it, and what a run needs to find there.

What cannot work is said here in one sentence, before anything is written or paid for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pygit2
from pygit2.enums import FileStatus

from skillgit.errors import RepositoryError
from skillgit.ports import Clock
from skillgit.store.git.git_cli import GitCli
from skillgit.store.git.names import HEADS
from skillgit.store.git.private import PrivateFolder, common_dir
from skillgit.store.git.refs import GIT_ERRORS, Refs
from skillgit.store.git.trees import clean_path, read_blob, tree_of

_CLEAN = (FileStatus.CURRENT, FileStatus.IGNORED)


@dataclass(frozen=True)
class Repository:
    """An open repository. `workdir` is `None` when it is bare."""

    git: pygit2.Repository
    git_dir: Path
    common: Path
    workdir: Path | None

    @property
    def private(self) -> PrivateFolder:
        """The folder for what is never committed."""
        return PrivateFolder(self.common)

    def refs(self, clock: Clock, command: str = "skillgit") -> Refs:
        """Its refs; `command` is what their log says made a move."""
        return Refs(self.git, self.common, clock=clock, command=command)

    def cli(self, environ: Mapping[str, str]) -> GitCli:
        """The git command line in it."""
        return GitCli(self.workdir or self.git_dir, environ)

    def signature(self, time: int) -> pygit2.Signature:
        """The user's identity at a time. Unit: seconds since 1970, UTC.

        Raises: RepositoryError when none is configured.
        """
        name, email = self.identity()
        return pygit2.Signature(name, email, time, 0)

    def identity(self) -> tuple[str, str]:
        """The name and the address that commits are made under.

        Raises: RepositoryError when none is configured.
        """
        try:
            own = self.git.default_signature
            pygit2.Signature(own.name, own.email, 0, 0)
        except GIT_ERRORS as error:
            raise RepositoryError(
                "git does not know whose commits these would be",
                hint='git config user.name "Your Name" && git config user.email you@example.org',
            ) from error
        return own.name, own.email

    def onto_commit(self, onto: str) -> pygit2.Commit:
        """The commit at the tip of the branch that runs start from.

        Raises: RepositoryError when there is no such branch.
        """
        try:
            target = self.git.lookup_reference(HEADS + onto).peel(pygit2.Commit)
        except GIT_ERRORS as error:
            raise self._no_branch(onto) from error
        return target

    def _no_branch(self, onto: str) -> RepositoryError:
        broken = self._broken(HEADS + onto)
        if broken is not None:
            return broken
        if self.git.head_is_unborn and not any(True for _ in self._branches()):
            return RepositoryError(
                "the repository has no commit yet",
                hint='Commit the skill first: git add SKILL.md && git commit -m "Add the skill"',
            )
        remote = next((r for r in self.git.branches.remote if r.endswith(f"/{onto}")), None)
        if remote is not None:
            return RepositoryError(
                f"there is no branch {onto!r} here, only {remote}",
                hint=f"git branch {onto} {remote}",
            )
        own = self._own_branch()
        named = f'onto = "{own}"' if own else 'onto = "<branch>"'
        return RepositoryError(
            f"there is no branch {onto!r}, which [repo] onto of skillgit.toml names",
            hint=f"Set {named} there, or make the branch: git branch {onto}",
        )

    def _broken(self, ref: str) -> RepositoryError | None:
        """The error for a ref that is there and cannot be read, as a crash can leave one."""
        try:
            self.git.references.get(ref)
        except GIT_ERRORS as error:
            return RepositoryError(
                f"{ref} cannot be read: {error}",
                hint=f"git reflog show {ref.removeprefix(HEADS)} may know where it was;"
                f" git update-ref {ref} <that commit> puts it back.",
            )
        return None

    def _branches(self) -> Iterator[str]:
        yield from self.git.branches.local

    def _own_branch(self) -> str | None:
        with suppress(*GIT_ERRORS):
            if not (self.git.head_is_detached or self.git.head_is_unborn):
                return self.git.head.shorthand
        return next(iter(sorted(b for b in self._branches() if "/" not in b)), None)

    def read_project_file(self, path: str, *, onto: str | None = None) -> bytes:
        """A file of the project: from the work tree, in a bare repository from `onto` or HEAD.

        Raises: FileNotFoundError; RepositoryError for a path outside the repository.
        """
        if self.workdir is not None:
            return (self.workdir / clean_path(path)).read_bytes()
        if onto is None and self.git.head_is_unborn:
            raise FileNotFoundError(path)
        commit = self.onto_commit(onto) if onto else self.git.head.peel(pygit2.Commit)
        return read_blob(self.git, tree_of(commit), path).data

    def uncommitted(self, paths: tuple[str, ...]) -> tuple[str, ...]:
        """Those of the paths that have changes in the index or the work tree."""
        if self.workdir is None:
            return ()
        return tuple(path for path in paths if self._is_changed(path))

    def _is_changed(self, path: str) -> bool:
        try:
            return self.git.status_file(path) not in _CLEAN
        except GIT_ERRORS:
            return False


def open_repository(start: Path, *, durable: bool = True) -> Repository:
    """The repository that a folder is in.

    `durable` makes every object and ref reach the disk before a step counts as done; it holds
    for the whole process.

    Raises: RepositoryError when there is none, or none that can be worked in.
    """
    git_dir = _discover(start)
    try:
        # Not by its git dir: where that stands elsewhere, its parent is no work tree.
        git = pygit2.Repository(str(start))
    except GIT_ERRORS as error:
        raise cannot_open(start, git_dir, str(error)) from error
    pygit2.settings.enable_fsync_gitdir(durable)
    path = Path(git.path).resolve()
    workdir = None if git.workdir is None else Path(git.workdir).resolve()
    return Repository(git=git, git_dir=path, common=common_dir(path), workdir=workdir)


def _discover(start: Path) -> str:
    if not start.is_dir():
        raise RepositoryError(f"there is no folder {start}")
    try:
        found = pygit2.discover_repository(str(start))
    except GIT_ERRORS as error:
        raise cannot_open(start, str(start), str(error)) from error
    if found is None:
        raise RepositoryError(
            f"{start} is not in a git repository",
            hint="git init, or skillgit demo DIR for a repository to play with",
        )
    return found


def cannot_open(start: Path, git_dir: str, reason: str) -> RepositoryError:
    """What stands in the way of opening a repository, from libgit2's words or git's."""
    said = reason.lower()
    if "sha256" in said or "object format" in said:
        return RepositoryError(
            f"the repository at {git_dir} names its objects by SHA-256, which skillgit cannot read",
            hint="Work in a clone with the usual format: git init --object-format=sha1",
        )
    if "refstorage" in said or "reftable" in said:
        return RepositoryError(
            f"the repository at {git_dir} keeps its refs in a reftable, which skillgit cannot read",
            hint="git refs migrate --ref-format=files",
        )
    if "not owned" in said or "dubious ownership" in said:
        folder = start.resolve()
        return RepositoryError(
            f"the repository at {git_dir} belongs to another user",
            hint=f"If you trust it: git config --global --add safe.directory '{folder}'",
        )
    if "extension" in said:
        return RepositoryError(
            f"the repository at {git_dir} uses a git extension skillgit cannot read: {reason}",
            hint="Work in a fresh clone of it.",
        )
    if "core.worktree" in said:
        return RepositoryError(
            f"the repository at {git_dir} has core.bare and core.worktree set, which exclude each other",
            hint="git config --unset core.worktree, or git config core.bare false",
        )
    return RepositoryError(f"the repository at {git_dir} cannot be opened: {reason}")
