"""Installing hooks, taking them away, and telling which of them are at work.

A hook goes where nothing stands: as a file in the folder that git looks into, or, from git 2.54
on, into the repository's configuration, which runs it beside the hooks that are there. Where
neither can be, the line to add is said and nothing is written.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from skillgit.cli.hooks.place import Place
from skillgit.cli.hooks.scripts import HOOKS, Copy, copy_at, write_script
from skillgit.errors import UserError

_MOVED_BY_PRE_COMMIT = ".legacy"  # The framework's own hook still runs what it found there.
_RECEIPT = "folders-made.json"


class Way(StrEnum):
    """By what a hook of ours is called."""

    FILE = "file"
    CONFIG = "config"
    LINE = "line"
    PENDING = "pending"
    NONE = "none"


class Change(StrEnum):
    """What one command did to a hook."""

    NOTHING = "nothing"
    INSTALLED = "installed"
    UPGRADED = "upgraded"
    REMOVED = "removed"


@dataclass(frozen=True)
class Standing:
    """One hook as it stands: how ours is called, and what is at git's own place for it."""

    hook: str
    way: Way
    copy: Copy
    path: Path
    change: Change = Change.NOTHING

    @property
    def at_work(self) -> bool:
        """Whether git comes to call it."""
        return self.way not in (Way.PENDING, Way.NONE)

    @property
    def words(self) -> str:
        """How it stands, in a few words."""
        if self.change in (Change.INSTALLED, Change.UPGRADED):
            return f"{self.change.value}, {_BY[self.way]}"
        if self.change is Change.REMOVED:
            return "removed"
        if self.copy is Copy.EDITED:
            return "ours, with changes of somebody's: left as it is"
        if self.way is Way.NONE:
            return "not ours" if self.copy is Copy.FOREIGN else "not installed"
        older = " of an older version" if self.copy is Copy.OLDER else ""
        return f"{_BY[self.way]}{older}"


_BY = {
    Way.FILE: "as a file",
    Way.CONFIG: "by git's configuration",
    Way.LINE: "called by a line of your own",
    Way.PENDING: "named, but what has to call it is not installed yet",
    Way.NONE: "not called",
}


def standings(place: Place) -> list[Standing]:
    """How each hook stands."""
    return [_standing(place, hook) for hook in HOOKS]


def install(place: Place) -> list[Standing]:
    """Put each hook where it can be without touching anyone else's; how they stand then.

    Raises: UserError.
    """
    return [_install(place, standing) for standing in standings(place)]


def uninstall(place: Place) -> list[Standing]:
    """Take away what `install` put there, and nothing else."""
    made = [Path(folder) for folder in _folders_made(place)]
    found = [_uninstall(place, standing) for standing in standings(place)]
    for name in (*HOOKS, _RECEIPT):
        (place.private_folder / name).unlink(missing_ok=True)
    remove_empty(*made, place.private_folder, place.private_folder.parent)
    return found


def remove_empty(*folders: Path) -> None:
    """Remove those of the folders that hold nothing any more."""
    for folder in folders:
        with contextlib.suppress(OSError):
            folder.rmdir()


def entry_name(hook: str) -> str:
    """The section of git's configuration that a hook of ours has."""
    return f"hook.skillgit-{hook}"


def entry_command(hook: str) -> str:
    """What git runs for a hook in its configuration; git itself appends the hook's arguments.

    A script that is not there, or cannot be run, is a hook that went well.
    """
    return (
        f'f="$(git rev-parse --git-common-dir)/skillgit/hooks/{hook}"; '
        'test -x "$f" || exit 0; exec "$f"'
    )


def _standing(place: Place, hook: str) -> Standing:
    path = place.folder / hook
    copy = copy_at(path, hook)
    if _entry(place, hook) is not None:
        inner = copy_at(place.private_folder / hook, hook)
        same = inner is Copy.CURRENT and _entry(place, hook) == entry_command(hook)
        return Standing(hook, Way.CONFIG, Copy.CURRENT if same else Copy.OLDER, path)
    if copy.is_ours or copy is Copy.EDITED:
        return Standing(hook, Way.FILE, copy, path)
    moved = path.with_name(hook + _MOVED_BY_PRE_COMMIT)
    if copy is Copy.FOREIGN and copy_at(moved, hook).is_ours:
        return Standing(hook, Way.FILE, copy_at(moved, hook), moved)
    if not place.names_us(hook):
        return Standing(hook, Way.NONE, copy, path)
    return Standing(hook, Way.LINE if place.calls(hook) else Way.PENDING, copy, path)


def _install(place: Place, standing: Standing) -> Standing:
    hook, path = standing.hook, standing.path
    if standing.at_work and standing.copy is not Copy.OLDER:
        return standing
    if standing.way is Way.FILE:
        write_script(path, hook)
        return Standing(hook, Way.FILE, Copy.CURRENT, path, Change.UPGRADED)
    if standing.way is Way.CONFIG:
        _write_entry(place, hook)
        return Standing(hook, Way.CONFIG, Copy.CURRENT, path, Change.UPGRADED)
    if standing.way is Way.PENDING:
        return standing
    if standing.copy is Copy.NONE and place.is_own:
        _remember_missing(place)
        write_script(path, hook)
        return Standing(hook, Way.FILE, Copy.CURRENT, path, Change.INSTALLED)
    if place.config_hooks:
        _write_entry(place, hook)
        return Standing(hook, Way.CONFIG, Copy.CURRENT, path, Change.INSTALLED)
    return standing


def _uninstall(place: Place, standing: Standing) -> Standing:
    if standing.way is Way.FILE and standing.copy.is_ours:
        try:
            standing.path.unlink()
        except OSError as error:
            raise UserError(f"{standing.path} cannot be removed: {error.strerror}") from error
    elif standing.way is Way.CONFIG:
        place.tree.git.checked("config", "--local", "--remove-section", entry_name(standing.hook))
    else:
        return standing
    return Standing(standing.hook, Way.NONE, Copy.NONE, standing.path, Change.REMOVED)


# ── git's configuration ──────────────────────────────────────────────────────────────────────


def _entry(place: Place, hook: str) -> str | None:
    return place.tree.ask("config", "--local", "--get", f"{entry_name(hook)}.command")


def _write_entry(place: Place, hook: str) -> None:
    make_private(place)
    write_script(place.private_folder / hook, hook)
    name = entry_name(hook)
    for key, value in (("event", hook), ("command", entry_command(hook))):
        place.tree.git.checked("config", "--local", "--replace-all", f"{name}.{key}", value)


# ── folders that were not there ──────────────────────────────────────────────────────────────


def _remember_missing(place: Place) -> None:
    """Write down which folders on the way to the hooks are about to be made, deepest first."""
    missing = [f for f in (place.folder, *place.folder.parents) if not f.exists()]
    if missing:
        _write_receipt(place, [*map(str, missing), *_folders_made(place)])


def make_private(place: Place) -> None:
    """Make the folder for scripts that are called from elsewhere, for the owner alone."""
    for folder in (place.private_folder.parent, place.private_folder):
        folder.mkdir(mode=0o700, exist_ok=True)


def _write_receipt(place: Place, folders: Iterable[str]) -> None:
    make_private(place)
    (place.private_folder / _RECEIPT).write_text(json.dumps([*dict.fromkeys(folders)]) + "\n")


def _folders_made(place: Place) -> list[str]:
    try:
        found = json.loads((place.private_folder / _RECEIPT).read_text())
    except (OSError, ValueError):
        return []
    return [folder for folder in found if isinstance(folder, str)]
