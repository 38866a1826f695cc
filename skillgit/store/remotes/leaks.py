"""Remotes that a plain `git push` would send private refs to: those that speak of sessions."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

import pygit2

from skillgit.records import Record
from skillgit.store.git.names import HEADS, NIGHT, NIGHT_NOTES, PROPOSALS, RUNS, SLEEP
from skillgit.store.remotes.remotes import is_private

_EXAMPLES = (NIGHT_NOTES, SLEEP, f"{RUNS}{NIGHT}-1", f"{PROPOSALS}{NIGHT}-1")
"""One of each kind of private ref, to try a setting with."""


class Leak(Record):
    """A remote's setting that sends private refs, and those that are there to be sent."""

    remote: str
    setting: str
    refs: tuple[str, ...]


def leaks(git: pygit2.Repository) -> list[Leak]:
    """The settings of remotes by which a push takes private refs along."""
    there = [ref for ref in git.references if is_private(ref)]
    found = []
    for remote, setting, sent in _settings(git):
        if any(sent(example) for example in _EXAMPLES):
            refs = tuple(sorted(ref for ref in there if sent(ref)))
            found.append(Leak(remote=remote, setting=setting, refs=refs))
    return found


class _Sent:
    """What one refspec of a remote sends."""

    def __init__(self, source: str) -> None:
        self._glob = source if source.startswith("refs/") else HEADS + source

    def __call__(self, ref: str) -> bool:
        return fnmatchcase(ref, self._glob)


def _settings(git: pygit2.Repository) -> Iterator[tuple[str, str, _Sent]]:
    for entry in git.config:
        section, _, key = entry.name.rpartition(".")
        if not section.startswith("remote."):
            continue
        remote, value = section.removeprefix("remote."), entry.value or ""
        if key == "mirror" and value.lower() in ("", "true", "yes", "on", "1"):
            yield remote, "mirror = true", _Sent("refs/*")
        elif key == "push" and not value.startswith("^"):
            yield remote, f"push = {value}", _Sent(value.lstrip("+").partition(":")[0])
