"""What a command asks of the repository around it before a store is open. Reads only."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from skillgit.errors import RepositoryError, UserError
from skillgit.store.git.git_cli import GitCli
from skillgit.store.git.private import PrivateFolder
from skillgit.store.git.repository import cannot_open, open_repository


@dataclass(frozen=True)
class Worktree:
    """A repository seen from a folder in it; `root` is the top of its work tree.

    In a bare repository `root` is the repository itself.
    """

    root: Path
    bare: bool
    git: GitCli

    def ask(self, *arguments: str) -> str | None:
        """What a git command prints, without its last line end; `None` when it fails."""
        done = self.git.run(*arguments)
        return os.fsdecode(done.stdout).removesuffix("\n") if done.ok else None

    @property
    def private(self) -> PrivateFolder:
        """The folder for what is never committed."""
        common = self.git.checked("rev-parse", "--path-format=absolute", "--git-common-dir")
        return PrivateFolder(Path(os.fsdecode(common.stdout).removesuffix("\n")))

    def branch(self) -> str | None:
        """The branch that HEAD is on, born or not; `None` when HEAD is detached."""
        return self.ask("symbolic-ref", "--quiet", "--short", "HEAD")

    def setting(self, name: str) -> str | None:
        """A value of the user's own git configuration, as git finds it from here."""
        return self.ask("config", "--get", name)

    def has_identity(self) -> bool:
        """Whether a name and an address are set that the run's commits can be made under."""
        try:
            open_repository(self.root).identity()
        except RepositoryError:
            return False
        return True

    def relative(self, path: Path) -> str:
        """The path from the root, with slashes, as git names it.

        Raises: UserError for a path outside the repository.
        """
        # The file itself may be a link; only the folders on the way to it are followed.
        whole = path.parent.resolve() / path.name
        try:
            return whole.relative_to(self.root).as_posix()
        except ValueError as error:
            raise UserError(f"{path} is not in the repository at {self.root}") from error

    def read(self, path: str) -> bytes:
        """A file's bytes: from the work tree, or from HEAD in a bare repository.

        Raises: OSError when there is no such file.
        """
        if not self.bare:
            return (self.root / path).read_bytes()
        done = self.git.run("cat-file", "blob", f"HEAD:{path}")
        if not done.ok:
            raise FileNotFoundError(errno.ENOENT, "not in HEAD", path)
        return done.stdout

    def list_files(self, path: str) -> list[str]:
        """The files at or under a path; none if nothing is there."""
        if self.bare:
            found = self.ask("ls-tree", "-r", "-z", "--name-only", "HEAD", "--", path)
            return [name for name in (found or "").split("\0") if name]
        whole = self.root / path
        files = [whole] if whole.is_file() else sorted(whole.rglob("*"))
        return [str(file.relative_to(self.root)) for file in files if file.is_file()]

    def uncommitted(self, *paths: str) -> list[str]:
        """Those of the paths whose bytes in the work tree are not those of HEAD."""
        changed = self.ask("status", "--porcelain", "-z", "--untracked-files=all", "--", *paths)
        return [entry[3:] for entry in (changed or "").split("\0") if entry]


def worktree_at(directory: Path, environ: Mapping[str, str]) -> Worktree:
    """The repository that the folder is in.

    Raises: RepositoryError when it is in none.
    """
    git = GitCli(directory, environ)
    done = git.run("rev-parse", "--is-bare-repository", "--is-inside-work-tree")
    if not done.ok:
        raise _refusal(directory, done.words)
    if "core.worktree" in done.stderr:
        raise _refusal(directory, done.stderr)
    bare, inside = (word == "true" for word in done.text.split())
    if not bare and not inside:
        raise RepositoryError(
            f"{directory} is a .git folder, not a work tree", hint="Run it from the work tree"
        )
    where = git.checked("rev-parse", "--absolute-git-dir" if bare else "--show-toplevel")
    root = Path(os.fsdecode(where.stdout).removesuffix("\n")).resolve()
    return Worktree(root=root, bare=bare, git=git.at(root))


def _refusal(directory: Path, words: str) -> RepositoryError:
    if "not a git repository" in words:
        return RepositoryError(
            f"{directory} is not in a git repository",
            hint="Make one with git init, or play with skillgit demo DIR.",
        )
    return cannot_open(directory, str(directory), " ".join(words.removeprefix("fatal: ").split()))
