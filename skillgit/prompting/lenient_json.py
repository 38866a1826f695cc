"""JSON as models write it: one value read from a place in a text.

Forgiven: a trailing comma, a raw line feed in a string, a comment, an unknown escape. Not
forgiven, because it would be a guess: single quotes, bare words, NaN and infinities. Pure.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from pydantic import JsonValue

MAX_DEPTH = 64
MAX_DIGITS = 300  # of an integer: any that passes is also a finite float

_STRING = re.compile(r'"((?:[^"\\]++|\\.)*+)"', re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(\.[0-9]++)?([eE][+-]?[0-9]++)?")
_WORD = re.compile(r"(true|false|null)\b")
_BLANK = re.compile(r"[ \t\r\n]*+")
_LINE_COMMENT = re.compile(r"//[^\n]*+")
_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))')
_SURROGATE = re.compile("[\ud800-\udfff]")

_WORDS: dict[str, JsonValue] = {"true": True, "false": False, "null": None}
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


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
        if self.text[start] == "{":
            part = self._object(start, depth)
        else:
            part = self._list(start, depth)
        del self.finished[inside:]
        self.finished.append(part)
        return part

    def _object(self, start: int, depth: int) -> JsonPart:
        members: dict[str, JsonValue] = {}
        at = self._blank(start + 1)
        while not self.text.startswith("}", at):
            key, at = self._string(at)
            at = self._expect(":", self._blank(at))
            members[key], at = self._value(self._blank(at), depth)
            at = self._separator(at, "}")
        return JsonPart(start, at + 1, members)

    def _list(self, start: int, depth: int) -> JsonPart:
        items: list[JsonValue] = []
        at = self._blank(start + 1)
        while not self.text.startswith("]", at):
            item, at = self._value(at, depth)
            items.append(item)
            at = self._separator(at, "]")
        return JsonPart(start, at + 1, items)

    def _separator(self, at: int, close: str) -> int:
        at = self._blank(at)
        if self.text.startswith(close, at):
            return at
        return self._blank(self._expect(",", at))

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
        if word := _WORD.match(self.text, at):
            return _WORDS[word[1]], word.end()
        return self._number(at)

    def _number(self, at: int) -> tuple[JsonValue, int]:
        match = _NUMBER.match(self.text, at)
        if match is None:
            raise BrokenJsonError(at)
        if match[1] is None and match[2] is None:
            if len(match[0]) > MAX_DIGITS:
                raise BrokenJsonError(match.end())
            return int(match[0]), match.end()
        number = float(match[0])
        if not math.isfinite(number):
            raise BrokenJsonError(match.end())
        return number, match.end()

    def _string(self, at: int) -> tuple[str, int]:
        if at >= self._unclosed or not self.text.startswith('"', at):
            raise BrokenJsonError(at)
        match = _STRING.match(self.text, at)
        if match is None:
            self._unclosed = at
            raise BrokenJsonError(len(self.text))
        return _unescape(match[1]), match.end()

    def _blank(self, at: int) -> int:
        while True:
            at = _BLANK.match(self.text, at).end()  # type: ignore[union-attr]  # it always matches
            if comment := _LINE_COMMENT.match(self.text, at):
                at = comment.end()
            elif self.text.startswith("/*", at) and at + 2 <= self._last_comment_end:
                at = self.text.index("*/", at + 2) + 2
            else:
                return at


def without_surrogates(text: str) -> str:
    """The text with surrogate pairs joined and lone surrogates replaced, so that it has bytes."""
    if _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _unescape(body: str) -> str:
    if "\\" not in body:
        return body
    return without_surrogates(_ESCAPE.sub(_escaped, body))


def _escaped(match: re.Match[str]) -> str:
    if match[1] is not None:
        return chr(int(match[1], 16))
    letter = match[2]
    return _ESCAPED.get(letter, letter)
