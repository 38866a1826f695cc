"""The shipped hook scripts, how an installed copy is recognised, and how a hook asks or refuses."""

from __future__ import annotations

import hashlib
import re
import sys
from enum import StrEnum
from pathlib import Path

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.app.worktree import Worktree, worktree_at
from skillgit.errors import RepositoryError, UserError
from skillgit.prompting.resources import shipped_text

HOOKS = ("pre-commit", "pre-push", "post-merge")
SESSION_END = "session-end"

_STAMP = "# Installed by skillgit; `skillgit hooks uninstall` takes it away. "
_STAMPED = re.compile(rf"(#!/bin/sh\n){re.escape(_STAMP)}([0-9a-f]{{16}})\n", re.ASCII)
_DIGITS = 16
_EXECUTABLE = 0o755


class Copy(StrEnum):
    """What stands where a script of ours would."""

    NONE = "none"
    CURRENT = "current"
    OLDER = "older"
    EDITED = "edited"
    FOREIGN = "foreign"

    @property
    def is_ours(self) -> bool:
        """Whether it is as one version of this program wrote it."""
        return self in (Copy.CURRENT, Copy.OLDER)


def script(name: str) -> str:
    """A shipped script as it is installed: with a stamp over the rest of its text."""
    folder = "hooks/agents" if name == SESSION_END else "hooks"
    first, _, rest = shipped_text(folder, name).partition("\n")
    return f"{first}\n{_STAMP}{_digest(rest)}\n{rest}"


def copy_at(path: Path, name: str) -> Copy:
    """What stands at a path.

    A script of an older version is known by its stamp, which an edit no longer fits.
    """
    if path.is_symlink():
        return Copy.FOREIGN
    try:
        text = path.read_bytes().decode("utf-8", "surrogateescape")
    except (FileNotFoundError, NotADirectoryError):
        return Copy.NONE
    except OSError:
        return Copy.FOREIGN
    stamp = _STAMPED.match(text)
    if stamp is None:
        return Copy.FOREIGN
    if _digest(text[stamp.end() :]) != stamp[2]:
        return Copy.EDITED
    return Copy.CURRENT if text == script(name) else Copy.OLDER


def write_script(path: Path, name: str) -> None:
    """Put a script where it is to stand, whole or not at all.

    Raises: UserError.
    """
    fresh = path.with_name(f".{path.name}.skillgit-new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(script(name), encoding="utf-8")
        fresh.chmod(_EXECUTABLE)
        fresh.replace(path)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise UserError(f"{path} cannot be written: {error.strerror or error}") from error


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:_DIGITS]


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
