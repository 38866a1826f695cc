"""What a command asks of the repository around it before a store is open. Reads only."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from skillgit.errors import RepositoryError, UserError

# Unit: seconds, for one question to git.
_PATIENCE = 30.0


@dataclass(frozen=True)
class Worktree:
    """A repository seen from a folder in it; `root` is the top of its work tree.

    In a bare repository `root` is the repository itself.
    """

    root: Path
    bare: bool
    environ: Mapping[str, str]

    def ask(self, *arguments: str) -> str | None:
        """What a git command prints, without its last line end; `None` when it fails."""
        done = _git(self.root, self.environ, *arguments)
        return done.stdout.removesuffix("\n") if done.returncode == 0 else None

    def branch(self) -> str | None:
        """The branch that HEAD is on, born or not; `None` when HEAD is detached."""
        return self.ask("symbolic-ref", "--quiet", "--short", "HEAD")

    def setting(self, name: str) -> str | None:
        """A value of the user's own git configuration, as git finds it from here."""
        return self.ask("config", "--get", name)

    def has_identity(self) -> bool:
        """Whether git knows whose commits would be made here."""
        return self.ask("var", "GIT_COMMITTER_IDENT") is not None

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

    def uncommitted(self, *paths: str) -> list[str]:
        """Those of the paths whose bytes in the work tree are not those of HEAD."""
        changed = self.ask("status", "--porcelain", "-z", "--untracked-files=all", "--", *paths)
        return [entry[3:] for entry in (changed or "").split("\0") if entry]


def worktree_at(directory: Path, environ: Mapping[str, str]) -> Worktree:
    """The repository that the folder is in.

    Raises: RepositoryError when it is in none.
    """
    done = _git(directory, environ, "rev-parse", "--is-bare-repository", "--is-inside-work-tree")
    if done.returncode != 0:
        raise _refusal(directory, done.stderr)
    bare, inside = (word == "true" for word in done.stdout.split())
    if not bare and not inside:
        raise RepositoryError(
            f"{directory} is a .git folder, not a work tree", hint="run it from the work tree"
        )
    question = ("--absolute-git-dir",) if bare else ("--show-toplevel",)
    top = _git(directory, environ, "rev-parse", *question).stdout.removesuffix("\n")
    return Worktree(root=Path(top).resolve(), bare=bare, environ=environ)


def _refusal(directory: Path, stderr: str) -> RepositoryError:
    if "not a git repository" in stderr:
        return RepositoryError(
            f"{directory} is not in a git repository",
            hint="git init, or skillgit demo DIR for a repository to play with",
        )
    first = next(iter(stderr.splitlines()), "it did not say why").removeprefix("fatal: ")
    return RepositoryError(f"git cannot read the repository at {directory}: {first}")


def _git(
    directory: Path, environ: Mapping[str, str], *arguments: str
) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            ["git", *arguments],
            cwd=directory,
            env={**environ, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=_PATIENCE,
            check=False,
        )
    except FileNotFoundError as error:
        raise RepositoryError(
            "there is no git on PATH", hint="install git 2.38 or newer"
        ) from error
    except subprocess.TimeoutExpired as error:
        words = " ".join(arguments)
        raise RepositoryError(f"git {words} gave no answer in {_PATIENCE:.0f} s") from error
