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

from skillgit.editing.document import Document
from skillgit.editing.layout import line_at, line_end, line_start

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


# ── Whether a document already says something: as a block of its own, not as a part of another.

_BLOCK_START = re.compile(r"[ \t]{0,3}(?:#{1,6}(?:[ \t]|$)|```|~~~|<!--|>|\|)")
_LIST_PREFIX = re.compile(r"(?:[ \t]|>)*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?)+")


def is_there(document: Document, content: str) -> bool:
    """Whether the content stands in the body as a whole paragraph, list item or run of blocks.

    `use tabs` is not there when the document says `never use tabs`, on one line or on two.
    """
    bare = LIST_MARK.sub("", content, count=1) if is_list_item(content) else content
    return any(
        start >= document.layout.frontmatter_end
        and _starts_block(document.text, start)
        and _ends_block(document.text, end)
        and not document.layout.cuts_fence(start, end)
        for start, end in find_folded(document.text, bare)
    )


def _starts_block(text: str, start: int) -> bool:
    first = line_start(text, start)
    prefix = text[first:start]
    if _LIST_PREFIX.fullmatch(prefix):
        return True
    if prefix.strip():
        return False
    above = text[line_start(text, max(first - 1, 0)) : max(first - 1, 0)]
    return not above.strip() or _stands_alone(above) or _begins_block(line_at(text, first))


def _ends_block(text: str, end: int) -> bool:
    if line_at(text, end).strip():
        return False
    below = line_at(text, line_end(text, end) + 1)
    return not below.strip() or _begins_block(below) or _is_heading(text, end)


def _begins_block(line: str) -> bool:
    return _BLOCK_START.match(line) is not None or is_list_item(line)


def _stands_alone(line: str) -> bool:
    """Whether the line ends the block it is in."""
    stripped = line.strip()
    return stripped.startswith(("#", "```", "~~~", "<!--")) or bool(
        re.fullmatch(r"[-*_= ]{3,}", stripped)
    )


def _is_heading(text: str, end: int) -> bool:
    return text[line_start(text, end) : end].lstrip().startswith("#")


# ── List items in Markdown text, seen line by line: marks, and lists that end a text.

LIST_MARK = re.compile(r"[ \t]*((?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$))", re.MULTILINE)
"""What stands before a list item's words; the group leaves the indentation out."""

_RULE = re.compile(r"[ \t]*([-*_])[ \t]*(?:\1[ \t]*){2,}$", re.MULTILINE)


def is_list_item(text: str) -> bool:
    """Whether the text's first line is a list item."""
    return LIST_MARK.match(text) is not None and _RULE.match(text) is None


def ends_with_list(text: str, item: str) -> bool:
    """Whether the text's last block is a list of the same kind as this item."""
    for line in reversed(text.split("\n")):
        if is_list_item(line):
            if not line[0].isspace():
                return line[0].isdigit() == item.lstrip()[0].isdigit()
        elif line.strip() and not line[0].isspace():
            return False
    return False
