"""Finding the one place an anchor means: exact, or equal when spelling is folded, never similar.

Folding takes away what copying a text through a model takes away: runs of white space, the
Unicode form of a letter (canonical equivalence only, so `10²` is not `102`), and typographic
quotes and dashes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

_LOOKALIKES = ("'‘’‚‛′", '"“”„‟″', "-‐‑‒–—―−")
_PLAIN = {ord(sign): signs[0] for signs in _LOOKALIKES for sign in signs[1:]}
_PATTERNS = {signs[0]: f"[{re.escape(signs)}]" for signs in _LOOKALIKES} | {" ": r"\s+"}


class Match(NamedTuple):
    """Where an anchor stands; `exact` when it was found character by character."""

    start: int
    end: int
    exact: bool


def fold(text: str) -> str:
    """The text as it is compared."""
    return " ".join(unicodedata.normalize("NFC", text).translate(_PLAIN).split())


def find_anchor(text: str, anchor: str) -> list[Match]:
    """The places an anchor could mean: the exact ones, or where there are none the folded ones.

    Line breaks at the anchor's ends help to find it and do not belong to what it names.
    """
    bare = anchor.strip("\n")
    for attempt in dict.fromkeys((anchor, bare)):
        skipped = attempt.index(bare)
        found = [start + skipped for start, _ in _places(text, re.compile(re.escape(attempt)))]
        if found:
            return [Match(start, start + len(bare), exact=True) for start in found]
    return [Match(start, end, exact=False) for start, end in find_folded(text, anchor)]


def find_folded(text: str, needle: str) -> Iterator[tuple[int, int]]:
    """The places where a text says the same as the needle when both are folded."""
    folded = fold(needle)
    if not folded or len(folded) > 3 * len(text):
        return iter(())
    return _places(text, _folded_pattern(folded))


def _places(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """The places a pattern fits, overlapping ones too, that do not end inside a letter."""
    found = pattern.search(text)
    while found:
        if found.end() == len(text) or not _goes_on(text[found.end()]):
            yield found.span()
        found = pattern.search(text, found.start() + 1)


def _goes_on(sign: str) -> bool:
    """Whether a character belongs to the letter before it: a mark, or the rest of a syllable."""
    return unicodedata.combining(sign) != 0 or "\u1160" <= sign <= "\u11ff"


@lru_cache(maxsize=64)
def _folded_pattern(needle: str) -> re.Pattern[str]:
    return re.compile("".join(map(_folded_sign, needle)))


def _folded_sign(sign: str) -> str:
    apart = unicodedata.normalize("NFD", sign)
    return _PATTERNS.get(sign) or (re.escape(sign) if apart == sign else f"(?:{sign}|{apart})")
