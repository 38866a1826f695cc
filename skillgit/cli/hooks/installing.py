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

from skillgit.cli.hooks.place import HookPlace
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


class HookChange(StrEnum):
    """What one command did to a hook."""

    NOTHING = "nothing"
    INSTALLED = "installed"
    UPGRADED = "upgraded"
    REMOVED = "removed"


@dataclass(frozen=True)
class InstalledHook:
    """One hook as it stands: how ours is called, and what is at git's own place for it."""

    hook: str
    way: Way
    copy: Copy
    path: Path
    change: HookChange = HookChange.NOTHING

    @property
    def at_work(self) -> bool:
        """Whether git comes to call it."""
        return self.way not in (Way.PENDING, Way.NONE)

    @property
    def words(self) -> str:
        """How it stands, in a few words."""
        if self.change in (HookChange.INSTALLED, HookChange.UPGRADED):
            return f"{self.change.value}, {_BY[self.way]}"
        if self.change is HookChange.REMOVED:
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


def installed_hooks(place: HookPlace) -> list[InstalledHook]:
    """How each hook stands."""
    return [_installed_hook(place, hook) for hook in HOOKS]


def install(place: HookPlace) -> list[InstalledHook]:
    """Put each hook where it can be without touching anyone else's; how they stand then.

    Raises: UserError.
    """
    return [_install(place, installed) for installed in installed_hooks(place)]


def uninstall(place: HookPlace) -> list[InstalledHook]:
    """Take away what `install` put there, and nothing else."""
    made = [Path(folder) for folder in _folders_made(place)]
    found = [_uninstall(place, installed) for installed in installed_hooks(place)]
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


def _installed_hook(place: HookPlace, hook: str) -> InstalledHook:
    path = place.folder / hook
    copy = copy_at(path, hook)
    if _entry(place, hook) is not None:
        inner = copy_at(place.private_folder / hook, hook)
        same = inner is Copy.CURRENT and _entry(place, hook) == entry_command(hook)
        return InstalledHook(hook, Way.CONFIG, Copy.CURRENT if same else Copy.OLDER, path)
    if copy.is_ours or copy is Copy.EDITED:
        return InstalledHook(hook, Way.FILE, copy, path)
    moved = path.with_name(hook + _MOVED_BY_PRE_COMMIT)
    if copy is Copy.FOREIGN and copy_at(moved, hook).is_ours:
        return InstalledHook(hook, Way.FILE, copy_at(moved, hook), moved)
    if not place.names_us(hook):
        return InstalledHook(hook, Way.NONE, copy, path)
    return InstalledHook(hook, Way.LINE if place.calls(hook) else Way.PENDING, copy, path)


def _install(place: HookPlace, installed: InstalledHook) -> InstalledHook:
    hook, path = installed.hook, installed.path
    if installed.at_work and installed.copy is not Copy.OLDER:
        return installed
    if installed.way is Way.FILE:
        write_script(path, hook)
        return InstalledHook(hook, Way.FILE, Copy.CURRENT, path, HookChange.UPGRADED)
    if installed.way is Way.CONFIG:
        _write_entry(place, hook)
        return InstalledHook(hook, Way.CONFIG, Copy.CURRENT, path, HookChange.UPGRADED)
    if installed.way is Way.PENDING:
        return installed
    if installed.copy is Copy.NONE and place.is_own:
        _remember_missing(place)
        write_script(path, hook)
        return InstalledHook(hook, Way.FILE, Copy.CURRENT, path, HookChange.INSTALLED)
    if place.config_hooks:
        _write_entry(place, hook)
        return InstalledHook(hook, Way.CONFIG, Copy.CURRENT, path, HookChange.INSTALLED)
    return installed


def _uninstall(place: HookPlace, installed: InstalledHook) -> InstalledHook:
    if installed.way is Way.FILE and installed.copy.is_ours:
        try:
            installed.path.unlink()
        except OSError as error:
            raise UserError(f"{installed.path} cannot be removed: {error.strerror}") from error
    elif installed.way is Way.CONFIG:
        place.tree.git.checked("config", "--local", "--remove-section", entry_name(installed.hook))
    else:
        return installed
    return InstalledHook(installed.hook, Way.NONE, Copy.NONE, installed.path, HookChange.REMOVED)


def _entry(place: HookPlace, hook: str) -> str | None:
    return place.tree.ask("config", "--local", "--get", f"{entry_name(hook)}.command")


def _write_entry(place: HookPlace, hook: str) -> None:
    make_private(place)
    write_script(place.private_folder / hook, hook)
    name = entry_name(hook)
    for key, value in (("event", hook), ("command", entry_command(hook))):
        place.tree.git.checked("config", "--local", "--replace-all", f"{name}.{key}", value)


def _remember_missing(place: HookPlace) -> None:
    """Write down which folders on the way to the hooks are about to be made, deepest first."""
    missing = [f for f in (place.folder, *place.folder.parents) if not f.exists()]
    if missing:
        _write_receipt(place, [*map(str, missing), *_folders_made(place)])


def make_private(place: HookPlace) -> None:
    """Make the folder for scripts that are called from elsewhere, for the owner alone."""
    for folder in (place.private_folder.parent, place.private_folder):
        folder.mkdir(mode=0o700, exist_ok=True)


def _write_receipt(place: HookPlace, folders: Iterable[str]) -> None:
    make_private(place)
    (place.private_folder / _RECEIPT).write_text(json.dumps([*dict.fromkeys(folders)]) + "\n")


def _folders_made(place: HookPlace) -> list[str]:
    try:
        found = json.loads((place.private_folder / _RECEIPT).read_text())
    except (OSError, ValueError):
        return []
    return [folder for folder in found if isinstance(folder, str)]
