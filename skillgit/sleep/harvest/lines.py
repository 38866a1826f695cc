"""Bytes → JSON objects, leniently and in linear time, and fields read from them.

A bad line is counted and skipped. Points in time are always UTC.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import IO, TypeAlias

from skillgit.redaction import redacted_excerpt
from skillgit.sleep.harvest.sessions import Damage, whole_characters

Object: TypeAlias = "dict[str, object]"

LONGEST_LINE = 16 * 1024 * 1024
"""Longer lines are passed over: a record of words is never so long. Unit: bytes."""

MAX_NAMES = 200
"""How many different unknown record types are told apart."""

_DECODER = json.JSONDecoder()
_BLANK = " \t\r\n\0\ufeff"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECONDS_FROM = 100_000_000_000
_EARLIEST, _LATEST = datetime(1990, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)


class Lines:
    """The objects of a file, one a line; what could not be read is counted while they are read."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._lines = 0
        self._damaged: Counter[str] = Counter()
        self._unknown: Counter[str] = Counter()

    @property
    def damage(self) -> Damage:
        """What was wrong so far."""
        return Damage(lines=self._lines, damaged=dict(self._damaged), unknown=dict(self._unknown))

    def note_unknown(self, name: object) -> None:
        """Count one record of a type that the reader does not know."""
        text = redacted_excerpt(whole_characters(name), 60) if isinstance(name, str) else "(none)"
        if text not in self._unknown and len(self._unknown) >= MAX_NAMES:
            text = "(others)"
        self._unknown[text] += 1

    def note_damage(self, what: str) -> None:
        """Count one defect of the file."""
        self._damaged[what] += 1

    def __iter__(self) -> Iterator[Object]:
        for line in self._whole_lines():
            yield from self._objects(line)

    def _whole_lines(self) -> Iterator[bytes]:
        while line := self._stream.readline(LONGEST_LINE):
            self._lines += 1
            if len(line) < LONGEST_LINE or line.endswith(b"\n"):
                yield line
                continue
            self.note_damage("too long")
            while line and not line.endswith(b"\n"):
                line = self._stream.readline(LONGEST_LINE)

    def _objects(self, line: bytes) -> Iterator[Object]:
        text = line.decode("utf-8", "replace").strip(_BLANK)
        if not text:
            return
        if "\ufffd" in text and b"\xef\xbf\xbd" not in line:
            self.note_damage("not UTF-8")
        place = 0
        while place < len(text):
            try:
                value, end = _DECODER.raw_decode(text, place)
            except (ValueError, RecursionError):
                self.note_damage("not JSON")
                return
            if place or end < len(text):
                self.note_damage("several on one line")
            if isinstance(value, dict):
                yield value
            else:
                self.note_damage("not an object")
            place = end
            while place < len(text) and text[place] in _BLANK:
                place += 1


def whole_object(stream: IO[bytes], limit: int) -> Object | None:
    """The one JSON object that a file is; `None` when it is none, or is longer than the limit."""
    data = stream.read(limit + 1)
    if len(data) > limit:
        return None
    try:
        value = json.loads(data.decode("utf-8", "replace").strip(_BLANK))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def text_at(record: object, *path: str) -> str:
    """The text at a path of fields; empty where there is none."""
    value = at(record, *path)
    return whole_characters(value) if isinstance(value, str) else ""


def at(record: object, *path: str) -> object:
    """The value at a path of fields; `None` where there is none."""
    for name in path:
        if not isinstance(record, dict):
            return None
        record = record.get(name)
    return record


def blocks(content: object, *kinds: str) -> list[str]:
    """The texts of those content blocks whose type is among `kinds`; a plain text is one block."""
    if isinstance(content, str):
        return [content]
    if not isinstance(content, list):
        return []
    texts = []
    for block in content:
        if isinstance(block, str):
            texts.append(block)
        elif isinstance(block, dict) and (block.get("type") in kinds or "type" not in block):
            text = block.get("text", block.get("content"))
            if isinstance(text, str):
                texts.append(text)
    return texts


def parse_time(value: object) -> datetime | None:
    """The time an ISO text, or a number of seconds or milliseconds, names; `None` for what is none.

    A time without a zone is UTC.
    """
    try:
        if isinstance(value, str):
            time = datetime.fromisoformat(value.strip())
        elif isinstance(value, int | float) and not isinstance(value, bool):
            seconds = value / 1000 if abs(value) >= _MILLISECONDS_FROM else value
            time = _EPOCH + timedelta(seconds=seconds)
        else:
            return None
        time = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return time if _EARLIEST <= time <= _LATEST else None
