"""What the three hooks have in common when git runs them: refusing, and asking a person."""

from __future__ import annotations

import sys
from pathlib import Path

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.app.worktree import Worktree, worktree_at
from skillgit.errors import RepositoryError, UserError

_TERMINAL = Path("/dev/tty")


class HookRefusedError(UserError):
    """What a hook stops git for; every other error lets git go on."""


def hooked_tree(invocation: Invocation) -> Worktree:
    """The repository that git runs the hook for.

    Raises: RepositoryError where `--git-dir` names another one than the folder is in.
    """
    tree = worktree_at(invocation.directory, invocation.environ)
    given = invocation.environ.get("GIT_DIR")
    if given:
        own = tree.ask("rev-parse", "--absolute-git-dir")
        if own is None or Path(own).resolve() != (invocation.directory / given).resolve():
            raise RepositoryError(f"{given} is not the repository of {invocation.directory}")
    return tree


def asked_and_agreed(question: str) -> bool | None:
    """A person's yes or no, from the terminal: git gives a hook no stdin; `None`: nobody is there."""
    if not sys.stderr.isatty():
        return None
    try:
        with _TERMINAL.open("r", encoding="utf-8") as ear, _TERMINAL.open("w") as mouth:
            mouth.write(f"{question} [y/N] ")
            mouth.flush()
            return ear.readline().strip().lower() in ("y", "yes")
    except (OSError, UnicodeDecodeError):
        return None
