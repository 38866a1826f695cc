"""The files that ship with the package, wherever it is installed.

The only place that knows where prompts and hooks lie: `skillgit/_data/` in a wheel, the folders
of the repository in an editable checkout.
"""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable

PACKAGE = "skillgit"


def shipped_text(folder: str, name: str) -> str:
    """The text of a shipped file, such as `prompts`, `rank.md`.

    Raises: FileNotFoundError when the package does not ship it.
    """
    return (_folder(folder) / name).read_text(encoding="utf-8")


def shipped_names(folder: str) -> tuple[str, ...]:
    """The names of the files in a shipped folder, sorted."""
    return tuple(sorted(entry.name for entry in _folder(folder).iterdir() if entry.is_file()))


def _folder(name: str) -> Traversable:
    package = files(PACKAGE)
    installed = package / "_data" / name
    if installed.is_dir():
        return installed
    return package / ".." / name
