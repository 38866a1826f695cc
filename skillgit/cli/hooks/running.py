"""What the three hooks have in common when git runs them: refusing, and asking a person."""

from __future__ import annotations

import sys
from pathlib import Path

from skillgit.errors import UserError

_TERMINAL = Path("/dev/tty")


class HookRefusedError(UserError):
    """What a hook stops git for; every other error lets git go on."""


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
