"""The schedule of nights: one marked block for each repository in the user's crontab.

The only room that uses python-crontab. Every line that is not in our block stays as it is, byte
for byte: the library would comment out those that it does not understand.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from datetime import datetime, timedelta

from crontab import CronTab, Process

from skillgit.errors import UsageError, UserError
from skillgit.records import Record

CRON_PATH = "/usr/bin:/bin"
"""The PATH that cron gives its jobs."""

_TIME = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_LINE = re.compile(r"^(\d{1,2}) (\d{1,2}) \* \* \* (.+)$", re.MULTILINE)


class ScheduleEntry(Record):
    """A night's place in the schedule: its repository, when, and the command. Local time."""

    name: str
    hour: int
    minute: int
    command: str

    @property
    def begin(self) -> str:
        """The line that opens its block."""
        return f"# >>> skillgit nights of {self.name} >>>"

    @property
    def end(self) -> str:
        """The line that closes its block."""
        return f"# <<< skillgit nights of {self.name} <<<"

    def block(self) -> str:
        """Its block, with a line's end."""
        job = CronTab(tab="").new(command=self.command)
        job.setall(f"{self.minute} {self.hour} * * *")
        return f"{self.begin}\n{job.render()}\n{self.end}\n"

    def next_after(self, now: datetime) -> datetime:
        """When it comes next, on the clock that `now` is read from."""
        today = now.replace(hour=self.hour, minute=self.minute, second=0, microsecond=0)
        return today if today > now else today + timedelta(days=1)


def parse_time(text: str) -> tuple[int, int]:
    """An hour and a minute from `HH:MM`.

    Raises: UsageError.
    """
    found = _TIME.fullmatch(text.strip())
    if found is None:
        raise UsageError(
            f"--schedule: {text!r} is no time of day", hint="Write it as 03:17, in local time."
        )
    return int(found[1]), int(found[2])


def command_line(words: Sequence[str], *, log: str, path: str | None = None) -> str:
    """The command for a crontab: quoted, with what it prints in a log."""
    head = f"PATH={shlex.quote(path)} " if path else ""
    return f"{head}{shlex.join(words)} >>{shlex.quote(log)} 2>&1"


# ── the text of a crontab, pure ──────────────────────────────────────────────────────────────


def with_entry(text: str, entry: ScheduleEntry) -> str:
    """The crontab with an entry's block, in place of the one it had or at the end."""
    rest = without_entry(text, entry.name)
    separator = "" if not rest or rest.endswith("\n") else "\n"
    return f"{rest}{separator}{entry.block()}"


def without_entry(text: str, name: str) -> str:
    """The crontab without a repository's block; all else as it was."""
    return _block(name).sub("", text)


def entry_in(text: str, name: str) -> ScheduleEntry | None:
    """The entry that a crontab has for a repository."""
    found = _block(name).search(text)
    line = _LINE.search(found[0]) if found else None
    if line is None:
        return None
    return ScheduleEntry(
        name=name, hour=int(line[2]), minute=int(line[1]), command=line[3].replace(r"\%", "%")
    )


def _block(name: str) -> re.Pattern[str]:
    entry = ScheduleEntry(name=name, hour=0, minute=0, command="")
    begin, end = re.escape(entry.begin), re.escape(entry.end)
    return re.compile(rf"^{begin}\n(?:(?!# >>> skillgit ).*\n)*?{end}(?:\n|\Z)", re.MULTILINE)


# ── the user's crontab ───────────────────────────────────────────────────────────────────────


def read_crontab() -> str:
    """The user's crontab as it is; empty when there is none.

    Raises: UserError when it cannot be read.
    """
    table = CronTab(tab="")
    try:
        done = Process(table.cron_command, l="").run()
    except OSError as error:
        raise UserError(f"there is no crontab program here: {error}") from error
    complaint = str(done.stderr or "").strip()
    if done.returncode != 0 and "no crontab for" not in complaint:
        raise UserError(f"crontab -l: {complaint}")
    return str(done.stdout) if done.returncode == 0 else ""


def write_crontab(text: str) -> None:
    """Put a text in place of the user's crontab.

    Raises: UserError when cron does not take it.
    """
    try:
        _Verbatim(text).write_to_user(user=True)
    except OSError as error:
        raise UserError(f"cron does not take it: {error}") from error


class _Verbatim(CronTab):
    """A crontab that is written as it is given."""

    def __init__(self, text: str) -> None:
        super().__init__(tab="")
        self.text = text

    def render(self, errors: bool = False) -> str:  # noqa: ARG002, FBT001, FBT002 - the library's
        """The text."""
        return self.text


# ── where there is no cron ───────────────────────────────────────────────────────────────────


def systemd_units(entry: ScheduleEntry, words: Sequence[str]) -> str:
    """A service and a timer for systemd, ready to be saved."""
    command = shlex.join(words).replace("%", "%%")
    return f"""# ~/.config/systemd/user/skillgit-sleep.service
[Unit]
Description=skillgit: a night of {entry.name}

[Service]
Type=oneshot
ExecStart={command}

# ~/.config/systemd/user/skillgit-sleep.timer
[Unit]
Description=skillgit: every night

[Timer]
OnCalendar=*-*-* {entry.hour:02d}:{entry.minute:02d}:00
Persistent=true

[Install]
WantedBy=timers.target

# then: systemctl --user daemon-reload && systemctl --user enable --now skillgit-sleep.timer
"""


def launchd_plist(entry: ScheduleEntry, words: Sequence[str], *, log: str) -> str:
    """A launchd file, ready to be saved."""
    arguments = "\n".join(f"    <string>{_xml(word)}</string>" for word in words)
    return f"""<!-- ~/Library/LaunchAgents/skillgit.sleep.plist -->
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>skillgit.sleep</string>
  <key>ProgramArguments</key>
  <array>
{arguments}
  </array>
  <key>StartCalendarInterval</key>
  <dict>
    <key>Hour</key><integer>{entry.hour}</integer>
    <key>Minute</key><integer>{entry.minute}</integer>
  </dict>
  <key>StandardOutPath</key><string>{_xml(log)}</string>
  <key>StandardErrorPath</key><string>{_xml(log)}</string>
</dict>
</plist>
<!-- then: launchctl load ~/Library/LaunchAgents/skillgit.sleep.plist -->
"""


def _xml(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
