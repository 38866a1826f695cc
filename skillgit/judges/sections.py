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
    found = []
    for at, (level, (_, body_start), text) in enumerate(headings):
        ends = (where[0] for depth, where, _ in headings[at + 1 :] if depth <= level)
        found.append(Section(text, "\n".join(lines[body_start : next(ends, len(lines))])))
    return found
