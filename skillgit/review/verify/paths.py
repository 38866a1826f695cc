"""Which paths a range changes, and what is said of those that are no document of a skill."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Collection, Iterator
from typing import Any

from skillgit.config import CONFIG_FILE
from skillgit.records.canonical import canonical_json
from skillgit.redaction import redact
from skillgit.review.verify.base_revision import BaseRevision
from skillgit.review.verify.findings import Severity, VerifyFinding
from skillgit.store.ranges import Change, Range
from skillgit.training.identity import differences

_WORKFLOWS = (
    ".github/",
    ".gitlab-ci",
    ".gitlab/",
    ".circleci/",
    ".buildkite/",
    ".gitea/",
    ".forgejo/",
    ".woodpecker",
    ".drone.",
    ".travis.yml",
    "azure-pipelines",
    "bitbucket-pipelines",
    "Jenkinsfile",
)
_OBEYED_BY_GIT = (".gitattributes", ".gitmodules", ".gitignore", ".lfsconfig", ".mailmap")
_USER_INFO = re.compile(r"(?<=://)[^/@\s\"]+@")
_MOST_SHOWN = 360


def path_findings(
    proposed: Range, base_revision: BaseRevision, *, is_proposal: bool, memory: Collection[str]
) -> Iterator[VerifyFinding]:
    """What is wrong with where a range writes, over all its commits.

    In a person's own change, other files are only named. `memory` are the paths of the memory files
    that a night may write, too.
    """
    changes: dict[str, list[Change]] = {}
    for commit in proposed.commits:
        for change in commit.changes:
            changes.setdefault(change.path, []).append(change)
    for change in proposed.changes:
        changes.setdefault(change.path, []).append(change)
    for path, on_path in sorted(changes.items()):
        declared = path in memory or any(s.declares(path) for s in base_revision.skills.values())
        yield from _modes(path, on_path)
        if declared:
            if on_path[-1].new is None:
                yield VerifyFinding(
                    check="paths", where=path, message="a document of the skill is gone"
                )
        else:
            yield from _undeclared(path, on_path, base_revision, is_proposal=is_proposal)


def _modes(path: str, changes: list[Change]) -> Iterator[VerifyFinding]:
    for change in changes:
        new, old = change.new, change.old
        if new is None or new.is_plain or (old is not None and old.mode == new.mode):
            continue
        target = f" to {new.data.decode('utf-8', 'replace')!r}" if new.kind == _LINK else ""
        yield VerifyFinding(check="modes", where=path, message=f"it becomes {new.kind}{target}")
        return


_LINK = "a symbolic link"


def _undeclared(
    path: str, changes: list[Change], base_revision: BaseRevision, *, is_proposal: bool
) -> Iterator[VerifyFinding]:
    name = path.rpartition("/")[2]
    if path == CONFIG_FILE:
        yield from _config(path, changes)
    elif path.startswith(_WORKFLOWS) or name.startswith(("Jenkinsfile", ".gitlab-ci")):
        yield VerifyFinding(check="workflow", where=path, message="a workflow of the CI is changed")
    elif name in _OBEYED_BY_GIT:
        yield VerifyFinding(
            check="paths", where=path, message="a file that git itself obeys is changed"
        )
    elif path.startswith(".skillgit/"):
        yield VerifyFinding(
            check="prompts", where=path, message="a prompt of the project is changed"
        )
    elif any(_is_under(path, s.config.tasks.path) for s in base_revision.skills.values()):
        yield from _tasks(path, changes, is_proposal=is_proposal)
    else:
        severity = Severity.PROBLEM if is_proposal else Severity.WARNING
        message = "this is no document of a skill"
        yield VerifyFinding(check="paths", where=path, message=message, severity=severity)


def _is_under(path: str, folder: str) -> bool:
    clean = folder.strip("/").removeprefix("./")
    return path == clean or path.startswith(f"{clean}/")


def _config(path: str, changes: list[Change]) -> Iterator[VerifyFinding]:
    """Every key that changes, by name: what it asks for decides nothing here."""
    differing: dict[str, None] = {}
    for change in changes:
        old, new = _toml(change.old_data), _toml(change.new_data)
        if new is None:
            differing["it is gone" if change.new is None else "it cannot be read any more"] = None
        else:
            differing |= dict.fromkeys(differences(old or {}, new))
    for line in differing or {"its text is changed, but no value": None}:
        yield VerifyFinding(check="config", where=path, message=_safe(line))


def _toml(data: bytes) -> dict[str, Any] | None:
    if not data:
        return {}
    try:
        return _plain(tomllib.loads(data.decode("utf-8-sig")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError):
        return None


def _plain(table: dict[str, Any]) -> dict[str, Any]:
    """A table as JSON has it; dates and times as text."""
    found: dict[str, Any] = json.loads(json.dumps(table, default=str, allow_nan=True))
    return found


def _tasks(path: str, changes: list[Change], *, is_proposal: bool) -> Iterator[VerifyFinding]:
    severity = Severity.PROBLEM if is_proposal else Severity.WARNING
    message = "the tasks that judge the skill are changed"
    yield VerifyFinding(check="tasks", where=path, message=message, severity=severity)
    old, new = set(_programs(changes[-1].old_data)), _programs(changes[-1].new_data)
    for change in changes:
        new |= _programs(change.new_data)
    for program in sorted(new - old):
        message = f"a judge runs a program: {_safe(program)}"
        yield VerifyFinding(check="judges", where=path, message=message)


def _programs(data: bytes) -> set[str]:
    """The commands of judges in a file of tasks, in whatever shape they stand there."""
    text = data.decode("utf-8", "replace")
    found: set[str] = set()
    for part in (text, *text.split("\n")):
        try:
            value = json.loads(part)
        except (ValueError, RecursionError):
            continue
        found |= set(_commands(value))
    return found


def _commands(value: Any, depth: int = 0) -> Iterator[str]:
    if depth > 20:
        return
    if isinstance(value, dict):
        if value.get("kind") == "command":
            yield canonical_json(value.get("command"))
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _commands(item, depth + 1)


def _safe(line: str) -> str:
    """A line of values without secrets, names and passwords in addresses, cut to a fair length."""
    shown = _USER_INFO.sub("", redact(line))
    return shown if len(shown) <= _MOST_SHOWN else f"{shown[:_MOST_SHOWN]}…"
