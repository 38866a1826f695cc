"""JSON as models write it: one value read from a place in a text.

Forgiven: a trailing comma, a raw line feed in a string, a comment, an unknown escape. Not
forgiven, because it would be a guess: single quotes, bare words, NaN and infinities. Pure.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field

from pydantic import JsonValue

MAX_DEPTH = 64
MAX_DIGITS = 300  # of an integer: any that passes is also a finite float

_DECODER = json.JSONDecoder(strict=False)
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_NUMBER = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?"
_SCALAR = re.compile(rf"{_NUMBER}|(?:true|false|null)\b")
_BLANK = re.compile(r"(?:[ \t\r\n]++|//[^\n]*+)*+")
_ESCAPE = re.compile(r'\\(u[0-9a-fA-F]{4}|["\\/bfnrt])?')
_SURROGATE = re.compile("[\ud800-\udfff]")


class BrokenJsonError(Exception):
    """There is no value here; the text up to `at` was still good."""

    def __init__(self, at: int) -> None:
        super().__init__(f"no JSON from character {at} on")
        self.at = at


@dataclass(frozen=True)
class JsonPart:
    """A JSON object or list and where it stands in the text."""

    start: int
    end: int
    value: JsonValue


@dataclass
class JsonReader:
    """Reads objects and lists out of one text.

    `finished` holds what was complete when a reading broke off: the largest complete objects
    and lists inside the broken one.
    """

    text: str
    finished: list[JsonPart] = field(default_factory=list)
    _unclosed: int = -1  # a string that starts here or later has no end
    _last_comment_end: int = -1

    def __post_init__(self) -> None:
        self._unclosed = len(self.text)
        self._last_comment_end = self.text.rfind("*/")

    def container(self, start: int) -> JsonPart:
        """The object or list that begins at `start`.

        Raises: BrokenJsonError.
        """
        self.finished.clear()
        return self._container(start, 1)

    def _container(self, start: int, depth: int) -> JsonPart:
        if depth > MAX_DEPTH:
            raise BrokenJsonError(start)
        inside = len(self.finished)
        members: dict[str, JsonValue] = {}
        items: list[JsonValue] = []
        is_object = self.text[start] == "{"
        close = "}" if is_object else "]"
        at = self._blank(start + 1)
        while not self.text.startswith(close, at):
            if is_object:
                key, at = self._string(at)
                at = self._blank(self._expect(":", self._blank(at)))
                members[key], at = self._value(at, depth)
            else:
                item, at = self._value(at, depth)
                items.append(item)
            at = self._blank(at)
            if not self.text.startswith(close, at):
                at = self._blank(self._expect(",", at))
        part = JsonPart(start, at + 1, members if is_object else items)
        del self.finished[inside:]
        self.finished.append(part)
        return part

    def _expect(self, character: str, at: int) -> int:
        if not self.text.startswith(character, at):
            raise BrokenJsonError(at)
        return at + 1

    def _value(self, at: int, depth: int) -> tuple[JsonValue, int]:
        first = self.text[at : at + 1]
        if first == '"':
            return self._string(at)
        if first in ("{", "["):
            part = self._container(at, depth + 1)
            return part.value, part.end
        scalar = _SCALAR.match(self.text, at)
        if scalar is None:
            raise BrokenJsonError(at)
        if len(scalar[0]) > MAX_DIGITS and scalar[0].lstrip("-").isdigit():
            raise BrokenJsonError(scalar.end())
        value: JsonValue = _DECODER.decode(scalar[0])
        if isinstance(value, float) and not math.isfinite(value):
            raise BrokenJsonError(scalar.end())
        return value, scalar.end()

    def _string(self, at: int) -> tuple[str, int]:
        if at >= self._unclosed or not self.text.startswith('"', at):
            raise BrokenJsonError(at)
        match = _STRING.match(self.text, at)
        if match is None:
            self._unclosed = at
            raise BrokenJsonError(len(self.text))
        return _unescape(match[0]), match.end()

    def _blank(self, at: int) -> int:
        while True:
            at = _BLANK.match(self.text, at).end()  # type: ignore[union-attr]  # it always matches
            if not self.text.startswith("/*", at) or at + 2 > self._last_comment_end:
                return at
            at = self.text.index("*/", at + 2) + 2


def without_surrogates(text: str) -> str:
    """The text with surrogate pairs joined and lone surrogates replaced, so that it has bytes."""
    if _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _unescape(string: str) -> str:
    """What a string says, its quotes taken off; of an unknown escape the backslash stays."""
    if "\\" not in string:
        return string[1:-1]
    known = _ESCAPE.sub(lambda match: match[0] if match[1] else r"\\", string)
    return without_surrogates(_DECODER.decode(known))
