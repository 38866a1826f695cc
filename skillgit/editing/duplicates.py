"""Whether a document already says something: as a block of its own, not as a part of another."""

from __future__ import annotations

import re

from skillgit.editing.document import Document
from skillgit.editing.layout import line_at, line_end, line_start
from skillgit.editing.lists import LIST_MARK, is_list_item
from skillgit.editing.matching import find_folded

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
