"""Scheduling nights: what cron will find is tried now, in the bare environment that it gives."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from skillgit.cli.app.keys import KEY_COMMAND, asked_roles, find_key
from skillgit.cli.sessions.project import Project
from skillgit.cli.show.output import print_commands
from skillgit.errors import UserError
from skillgit.sleep.schedule import (
    CRON_PATH,
    Entry,
    command_line,
    entry_in,
    launchd_plist,
    parse_time,
    read_crontab,
    systemd_units,
    with_entry,
    without_entry,
    write_crontab,
)

LOG = "nights.log"


def schedule(project: Project, at: str) -> None:
    """Have cron start a night every day; where there is no cron, print what does.

    Raises: UsageError for what is no time; UserError when a night would find no key.
    """
    hour, minute = parse_time(at)
    _try_keys(project)
    words, log = _words(project), str(project.tree.private.logs / LOG)
    git = shutil.which("git", path=CRON_PATH)
    found = shutil.which("git", path=project.invocation.environ.get("PATH"))
    path = None if git or not found else f"{Path(found).parent}:{CRON_PATH}"
    entry = Entry(
        name=_name(project),
        hour=hour,
        minute=minute,
        command=command_line(words, log=log, path=path),
    )
    if shutil.which("crontab", path=project.invocation.environ.get("PATH")) is None:
        _no_cron(entry, words, log)
    write_crontab(with_entry(read_crontab(), entry))
    print(f"Every night at {hour:02d}:{minute:02d}, local time; what it says goes to {log}")
    print("A night only proposes: nothing is merged without you.")
    print_commands([project.typed("sleep", "--unschedule")], title="To stop it:")


def unschedule(project: Project) -> None:
    """Take the repository's block out of the crontab."""
    before = read_crontab()
    after = without_entry(before, _name(project))
    if after == before:
        print("no night is scheduled here")
        return
    write_crontab(after)
    print("No more nights by themselves.")


def next_night(project: Project) -> datetime | None:
    """When the next scheduled night is, in local time; `None` when none is."""
    if shutil.which("crontab", path=project.invocation.environ.get("PATH")) is None:
        return None
    try:
        entry = entry_in(read_crontab(), _name(project))
    except UserError:
        return None
    return entry.next_after(project.invocation.clock.now().astimezone()) if entry else None


def _name(project: Project) -> str:
    root = str(project.tree.root)
    if "\n" in root:
        raise UserError("a folder whose name has a line's end in it cannot be scheduled")
    return root if project.skill is None or project.is_default else f"{root} ({project.skill})"


def _words(project: Project) -> list[str]:
    """The command, by this very interpreter: that of the virtual environment, if it is one."""
    which = [] if project.skill is None or project.is_default else ["--skill", project.skill]
    return [sys.executable, "-m", "skillgit", "-C", str(project.tree.root), "sleep", *which]


def _try_keys(project: Project) -> None:
    """Look for each key as a night will: with nothing of this shell's environment.

    Raises: UserError when one is not found so.
    """
    environ = project.invocation.environ
    bare = {name: environ[name] for name in ("HOME", "LOGNAME", "USER") if name in environ}
    invocation = replace(
        project.invocation, environ={**bare, "PATH": CRON_PATH, "SHELL": "/bin/sh"}
    )
    for role, model in asked_roles(project.config).items():
        if not model.kind.needs_key:
            continue
        try:
            find_key(model, role.value, invocation, project.tree)
        except UserError as error:
            raise UserError(
                f"a night by cron would find no key for the {role.value}: {error.message}",
                hint="Cron knows nothing of your shell's variables. Name a program that prints "
                f"the key:\ngit config --global {KEY_COMMAND} 'pass show openai'\n"
                "The name of the variable that it is for stands in SKILLGIT_API_KEY_ENV.",
            ) from error


def _no_cron(entry: Entry, words: Sequence[str], log: str) -> None:
    """Print a systemd timer and a launchd file.

    Raises: UserError, always: nothing is scheduled yet.
    """
    print(systemd_units(entry, words))
    print(launchd_plist(entry, words, log=log))
    raise UserError(
        "there is no crontab here, so nothing was scheduled",
        hint="Save the systemd units, or the launchd file, that were printed.",
    )
