"""The session-end hook of coding agents, written into a person's own settings only when agreed to.

Source: the agents' documentation of hooks, for Claude Code `settings.json`, for Codex `hooks.json`;
both have an event SessionEnd whose handlers are shell commands with a time limit in seconds.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from skillgit.cli.hooks.installing import make_private, remove_empty
from skillgit.cli.hooks.place import HookPlace
from skillgit.cli.hooks.scripts import SESSION_END, write_script
from skillgit.errors import UserError

EVENT = "SessionEnd"
ENDED = "sessions-ended"

_MARK = f"skillgit/hooks/{SESSION_END}"
_SECONDS = 2  # Claude Code gives 1.5 by itself, Codex at most 3.


@dataclass(frozen=True)
class Agent:
    """Where one agent reads its hooks from: a file below a variable's folder, or the home's."""

    name: str
    title: str
    variable: str
    folder: str
    file: str
    remark: str = ""

    def settings(self, environ: Mapping[str, str]) -> Path:
        """The file of a person's own settings."""
        own = environ.get(self.variable, "").strip()
        home = Path(environ.get("HOME") or Path.home())
        return (Path(own) if own else home / self.folder) / self.file

    def snippet(self) -> dict[str, Any]:
        """What the settings have to hold."""
        return {"hooks": {EVENT: [self._group()]}}

    def _group(self) -> dict[str, Any]:
        command = (
            f'f="$(git rev-parse --git-common-dir 2>/dev/null)/{_MARK}"; '
            f'[ ! -f "$f" ] || sh "$f" {self.name}'
        )
        return {"hooks": [{"type": "command", "command": command, "timeout": _SECONDS}]}

    def added_to(self, settings: dict[str, Any]) -> dict[str, Any]:
        """The settings with the hook, once."""
        cleared = without_ours(settings)
        hooks = dict(cleared.get("hooks") or {})
        hooks[EVENT] = [*(hooks.get(EVENT) or []), self._group()]
        return {**cleared, "hooks": hooks}


AGENTS = {
    agent.name: agent
    for agent in (
        Agent("claude", "Claude Code", "CLAUDE_CONFIG_DIR", ".claude", "settings.json"),
        Agent(
            *("codex", "Codex", "CODEX_HOME", ".codex", "hooks.json"),
            remark="Codex runs a new hook once you have trusted it: type /hooks there.",
        ),
    )
}


def without_ours(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings without any session-end hook of ours; lists and tables left empty go too."""
    hooks = settings.get("hooks")
    groups = hooks.get(EVENT) if isinstance(hooks, dict) else None
    if not isinstance(hooks, dict) or not isinstance(groups, list) or not _is_ours(groups):
        return settings
    kept = [group for group in map(_without_handler, groups) if group is not None]
    rest = {**hooks, EVENT: kept}
    if not kept:
        del rest[EVENT]
    found = {**settings, "hooks": rest}
    if not rest:
        del found["hooks"]
    return found


def _without_handler(group: Any) -> Any:
    if not _is_ours(group):
        return group
    handlers = [h for h in group.get("hooks", []) if not _is_ours(h)]
    return {**group, "hooks": handlers} if handlers else None


def _is_ours(part: Any) -> bool:
    return _MARK in json.dumps(part)


def is_installed(agent: Agent, environ: Mapping[str, str]) -> bool:
    """Whether the agent's settings call our hook."""
    with suppress(OSError):
        return _MARK in agent.settings(environ).read_text("utf-8", errors="replace")
    return False


def prepare(place: HookPlace) -> None:
    """Put the script where the settings' command looks for it."""
    make_private(place)
    write_script(place.private_folder / SESSION_END, SESSION_END)


def install_agent(agent: Agent, place: HookPlace, environ: Mapping[str, str]) -> bool:
    """Add the hook to the agent's settings; whether that changed them.

    Raises: UserError when the settings cannot be read as JSON, or not be written.
    """
    prepare(place)
    path = agent.settings(environ)
    before = _bytes(path)
    settings = _settings(path, before)
    wanted = agent.added_to(settings)
    if wanted == settings:
        return False
    after = (json.dumps(wanted, indent=2, ensure_ascii=False) + "\n").encode()
    _keep_receipt(agent, place, before, after)
    _write(path, after)
    return True


def uninstall_agent(agent: Agent, place: HookPlace, environ: Mapping[str, str]) -> bool:
    """Take the hook out of the agent's settings; whether that changed them.

    Settings that nobody has touched since get back the very bytes they had.
    Raises: UserError.
    """
    path = agent.settings(environ)
    now = _bytes(path)
    receipt = _receipt(agent, place)
    changed = now is not None and _MARK.encode() in now
    if now is not None and changed:
        if receipt is not None and receipt[1] == now:
            _restore(path, receipt[0])
        else:
            left = without_ours(_settings(path, now))
            _write(path, (json.dumps(left, indent=2, ensure_ascii=False) + "\n").encode())
    _receipt_file(agent, place).unlink(missing_ok=True)
    if not any(is_installed(other, environ) for other in AGENTS.values()):
        (place.private_folder / SESSION_END).unlink(missing_ok=True)
    remove_empty(place.private_folder, place.private_folder.parent)
    return changed


def sessions_ended(folder: Path, since: datetime | None) -> int:
    """How many sessions were noted as ended since the last harvest, in the harvest's folder."""
    try:
        lines = (folder / ENDED).read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return 0
    after = "" if since is None else since.strftime("%Y-%m-%dT%H:%M:%SZ")
    seen = {line.split(" ", 1)[-1] for line in lines if line[:20] > after}
    return len(seen)


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}") from error


def _settings(path: Path, data: bytes | None) -> dict[str, Any]:
    if data is None or not data.strip():
        return {}
    try:
        found = json.loads(data.decode("utf-8-sig"))
    except ValueError as error:
        raise UserError(f"{path} is not JSON: {error}", hint="Add the lines by hand.") from error
    hooks = found.get("hooks", {}) if isinstance(found, dict) else None
    if not isinstance(hooks, dict) or not isinstance(hooks.get(EVENT, []), list):
        raise UserError(f"{path} holds no hooks as we know them", hint="Add the lines by hand.")
    return dict(found)


def _write(path: Path, data: bytes) -> None:
    real = path.resolve()
    fresh = real.with_name(f".{real.name}.skillgit-new")
    try:
        real.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_bytes(data)
        if real.exists():
            fresh.chmod(real.stat().st_mode & 0o7777)
        fresh.replace(real)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise UserError(f"{path} cannot be written: {error.strerror or error}") from error


def _restore(path: Path, before: bytes | None) -> None:
    if before is None:
        path.resolve().unlink(missing_ok=True)
        remove_empty(path.parent)
    else:
        _write(path, before)


def _receipt_file(agent: Agent, place: HookPlace) -> Path:
    return place.private_folder / f"{agent.name}.json"


def _keep_receipt(agent: Agent, place: HookPlace, before: bytes | None, after: bytes) -> None:
    held = _receipt(agent, place)
    if held is not None and held[1] == before:
        before = held[0]
    pair = [None if data is None else base64.b64encode(data).decode() for data in (before, after)]
    file = _receipt_file(agent, place)
    file.touch(mode=0o600)
    file.write_text(json.dumps(pair) + "\n")


def _receipt(agent: Agent, place: HookPlace) -> tuple[bytes | None, bytes] | None:
    """The settings as they were, and as they were written."""
    try:
        before, after = json.loads(_receipt_file(agent, place).read_text())
        return None if before is None else base64.b64decode(before), base64.b64decode(after)
    except (OSError, ValueError, TypeError):
        return None
