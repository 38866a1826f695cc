"""Texts that a change brings along, looked at for what hides or acts in them. Pure.

Only what is new counts: a line that was there before is nobody's to answer for here.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator

from skillgit.review.verify.active import active_parts
from skillgit.review.verify.findings import Finding
from skillgit.review.verify.secrets import new_secrets

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
