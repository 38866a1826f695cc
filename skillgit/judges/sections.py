"""The sections of a Markdown answer: where its headings are, and what stands under them."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from markdown_it import MarkdownIt

_EMPHASIS = re.compile(r"[*_`~]")
_SPACE = re.compile(r"\s+")
_MARKDOWN = MarkdownIt("commonmark").disable("inline")


class Section(NamedTuple):
    """A heading's text, and the text under it down to the next heading that is not deeper."""

    heading: str
    body: str


def fold_heading(text: str) -> str:
    """A heading without case, emphasis, leading `#` and differences of white space."""
    bare = _EMPHASIS.sub("", unicodedata.normalize("NFKC", text).strip().lstrip("#"))
    return _SPACE.sub(" ", bare).strip().casefold()


def sections(markdown: str) -> list[Section]:
    """The sections of a text, in order; a line in a code fence is no heading."""
    tokens = _MARKDOWN.parse(markdown)
    lines = markdown.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    headings = [
        (int(token.tag[1:]), token.map, tokens[at + 1].content)
        for at, token in enumerate(tokens)
        if token.type == "heading_open" and token.map is not None
    ]
    ends: dict[int, int] = {}
    nearest: dict[int, int] = {}
    for at in range(len(headings) - 1, -1, -1):
        level, (start, _), _ = headings[at]
        ends[at] = min((nearest[depth] for depth in nearest if depth <= level), default=len(lines))
        nearest[level] = start
    return [
        Section(text, "\n".join(lines[body_start : ends[at]]))
        for at, (_, (_, body_start), text) in enumerate(headings)
    ]
