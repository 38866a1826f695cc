"""Checks of texts that a change adds: hidden characters, active Markdown, secrets. Pure.

Only what is new counts: a line that was there before is nobody's to answer for here.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token
from typing_extensions import override

from skillgit.records import Record
from skillgit.redaction import find_secrets
from skillgit.review.verify.findings import Finding

_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u061c\u200e\u200f")
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\u00ad")
_JOINERS = frozenset("\u200c\u200d")
_SELECTORS = frozenset("\ufe0e\ufe0f")
_TAGS = range(0xE0000, 0xE1000)
_KEYCAPS = frozenset("0123456789#*")
_PLAIN_CONTROLS = frozenset("\n\t\r")

_SKIPS_CI = re.compile(
    r"\[(?:skip ci|ci skip|no ci|skip actions|actions skip)\]|^skip-checks:",
    re.IGNORECASE | re.MULTILINE,
)
_MOST = 5


def added_lines(new: str, old: str) -> list[tuple[int, str]]:
    """The lines of a text that an older one does not have, with their numbers from 1."""
    left = Counter(old.split("\n"))
    added = []
    for number, line in enumerate(new.split("\n"), start=1):
        if left[line] > 0:
            left[line] -= 1
        else:
            added.append((number, line))
    return added


def hidden_in(where: str, new: str, old: str = "") -> Iterator[Finding]:
    """Characters that nobody sees, or that turn the order of others round."""
    found: list[str] = []
    for number, line in added_lines(new, old):
        for at, character in enumerate(line):
            if _hides(line, at) and not (number == 1 and at == 0 and character == "\ufeff"):
                found.append(f"line {number} has {_called(character)}")
    if found:
        more = f" and {len(found) - _MOST} more" if len(found) > _MOST else ""
        said = "; ".join(dict.fromkeys(found[:_MOST]))
        yield Finding(check="invisible", where=where, message=f"invisible characters: {said}{more}")


def secrets_in(where: str, new: bytes | str, old: bytes | str = "") -> Iterator[Finding]:
    """What looks like a secret; the secret itself is never told."""
    for secret in new_secrets(new, old):
        message = f"line {secret.line} holds what looks like a secret ({secret.kind})"
        yield Finding(check="secrets", where=where, message=message)


def acts_in_message(where: str, text: str) -> Iterator[Finding]:
    """What git's hosts would act on in a commit's message; they do not render it."""
    found = _SKIPS_CI.search(text)
    if found is not None:
        message = f"line {text.count(chr(10), 0, found.start()) + 1} has words that stop a CI"
        yield Finding(check="text", where=where, message=message)


def acts_in_body(where: str, text: str) -> Iterator[Finding]:
    """What a host would act on, or hide, in a pull request's text once it is rendered."""
    for line, what in dict.fromkeys(active_parts(text)):
        yield Finding(check="text", where=where, message=f"line {line} has {what}")
    yield from acts_in_message(where, text)


def _hides(line: str, at: int) -> bool:
    character = line[at]
    before = line[at - 1] if at else ""
    after = line[at + 1] if at + 1 < len(line) else ""
    if character in _SELECTORS:
        return not (before in _KEYCAPS or _is_symbol(before))
    if character in _JOINERS:
        return not (_joins(before) and _joins(after))
    if character in _BIDI or character in _BLANK or ord(character) in _TAGS:
        return True
    category = unicodedata.category(character)
    return category == "Cf" or (category == "Cc" and character not in _PLAIN_CONTROLS)


def _is_symbol(character: str) -> bool:
    return bool(character) and unicodedata.category(character) in ("So", "Sm", "Po", "Pd")


def _joins(character: str) -> bool:
    """Whether joiners are at home beside a character: in emoji, and in scripts that use them."""
    if not character or character.isascii():
        return False
    category = unicodedata.category(character)
    return character in _SELECTORS or category in ("So", "Sk") or category[0] in "LM"


def _called(character: str) -> str:
    name = unicodedata.name(character, "a control character")
    return f"U+{ord(character):04X} ({name.lower()})"


_ACTIVE = re.compile(
    r"<\s*/?\s*(?:script|iframe|object|embed|svg|math|form|style|link|meta|base|input|button|"
    r"template)\b",
    re.IGNORECASE,
)
_HANDLER = re.compile(r"<[^>]*\son\w+\s*=", re.IGNORECASE)
_SCRIPTED = re.compile(r"\s*(?:javascript|vbscript|data)\s*:", re.IGNORECASE)
_COMMENT = "<!--"


def active_parts(markdown: str) -> Iterator[tuple[int, str]]:
    """The parts that would act or hide, each with its line, counted from 1, and what it is."""
    line = 1
    for token in _Reader("commonmark").enable("table").parse(markdown):
        line = token.map[0] + 1 if token.map else line
        for part in (token, *(token.children or ())):
            yield from ((line, what) for what in _acts(part))


class _Reader(MarkdownIt):
    """A parser to which every target is one, be it for a script."""

    @override
    def validateLink(self, url: str) -> bool:
        """Whether a link is taken for one."""
        return True


def _acts(token: Token) -> Iterator[str]:
    if token.type in ("html_block", "html_inline"):
        if _ACTIVE.search(token.content):
            yield "a script or other active HTML"
        if _HANDLER.search(token.content):
            yield "an event handler in HTML"
        if _COMMENT in token.content:
            yield "a hidden HTML comment"
    target = str(token.attrGet("href") or token.attrGet("src") or "")
    if _SCRIPTED.match(target):
        yield "a link that runs a script"


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
