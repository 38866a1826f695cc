"""Secrets that a change brings along: found by `redaction`, told by place and kind, never shown."""

from __future__ import annotations

from skillgit.records import Record
from skillgit.redaction import find_secrets


class Secret(Record):
    """What looks like a secret: its kind, and its line in the text, counted from 1."""

    kind: str
    line: int


def new_secrets(text: bytes | str, before: bytes | str = "") -> tuple[Secret, ...]:
    """The secrets of a text that were not in it before."""
    now, then = _text(text), _text(before)
    known = {then[found.start : found.end] for found in find_secrets(then)}
    return tuple(
        Secret(kind=found.kind, line=found.line)
        for found in find_secrets(now)
        if now[found.start : found.end] not in known
    )


def _text(data: bytes | str) -> str:
    return data if isinstance(data, str) else data.decode("utf-8", "replace")
