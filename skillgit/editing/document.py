"""A skill's document: a parsed view of its bytes that gives the same bytes back.

Inside, lines end in `\\n`, and what each line really ends in is kept beside the text, so that a
change can leave the byte order mark, the line ends and the final newline as they are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import yaml

from skillgit.editing.layout import (
    Layout,
    Region,
    analyse,
    block_tokens,
    line_number,
)
from skillgit.errors import DocumentError

__all__ = [
    "Document",
    "Heading",
    "Region",
    "is_storable",
    "region_text",
    "replace_region",
    "unix_lines",
]

_BOM = "\ufeff"
_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_END = re.compile(r"\r\n|\r|\n")


class Heading(NamedTuple):
    """A heading of the document; lines count from 1."""

    level: int
    title: str
    line: int


@dataclass(frozen=True, slots=True)
class Document:
    """One document: `text` with `\\n` between lines, and the line end each `\\n` stands for.

    `usual_end` is how a line ends where no line is left to take after.
    """

    text: str
    line_ends: tuple[str, ...]
    layout: Layout
    bom: bool = False
    usual_end: str = "\n"

    @classmethod
    def parse(cls, data: bytes) -> Document:
        """The document that these bytes are.

        Raises: DocumentError for bytes that are not UTF-8 text, and for markers that do not pair.
        """
        raw = _decode(data)
        bom = raw.startswith(_BOM)
        raw = raw.removeprefix(_BOM)
        if "\r" in raw:
            text, line_ends = unix_lines(raw), tuple(_LINE_END.findall(raw))
        else:
            text, line_ends = raw, ("\n",) * raw.count("\n")
        return cls(text, line_ends, analyse(text), bom, (*line_ends, "\n")[0])

    def to_bytes(self) -> bytes:
        """The bytes of the document."""
        lines = self.text.split("\n")
        plain = all(end == "\n" for end in self.line_ends)
        body = (
            self.text
            if plain
            else "".join(map("".join, zip(lines, (*self.line_ends, ""), strict=True)))
        )
        return ((_BOM if self.bom else "") + body).encode()

    def spliced(self, start: int, end: int, replacement: str) -> Document:
        """This document with `[start, end)` replaced by prose; the layout moves along unread.

        New lines end as the replaced ones did, then as the line before them does.
        """
        first = self.text.count("\n", 0, start)
        removed = self.line_ends[first : first + self.text.count("\n", start, end)]
        added = replacement.count("\n")
        neighbours = removed[-1:] or self.line_ends[max(first - 1, 0) :][:1] or (self.usual_end,)
        inserted = (*removed, *neighbours * added)[:added]
        return Document(
            self.text[:start] + replacement + self.text[end:],
            self.line_ends[:first] + inserted + self.line_ends[first + len(removed) :],
            self.layout.spliced(start, end, len(replacement)),
            self.bom,
            self.usual_end,
        )

    @property
    def frontmatter(self) -> dict[str, object]:
        """The values of the frontmatter; empty when there is none.

        Raises: DocumentError when it is not YAML, or not a mapping.
        """
        lines = self.text[: self.layout.frontmatter_end].split("\n")[1:-1]
        return dict(_frontmatter_values("".join(line + "\n" for line in lines)))

    @property
    def headings(self) -> tuple[Heading, ...]:
        """The document's headings outside lists and quotes, in order."""
        offset = self.layout.frontmatter_end
        tokens = block_tokens(self.text[offset:])
        first_line = line_number(self.text, offset)
        return tuple(
            Heading(int(token.tag[1:]), inline.content, first_line + (token.map or [0])[0])
            for token, inline in pairwise(tokens)
            if token.type == "heading_open" and token.level == 0
        )


def unix_lines(text: str) -> str:
    """The text with every line end made `\\n`."""
    return _LINE_END.sub("\n", text) if "\r" in text else text


def is_storable(text: str) -> bool:
    """Whether a document can hold this text: no NUL, no half of a surrogate pair."""
    return "\x00" not in text and not _SURROGATE.search(text)


def region_text(document: Document, region: Region) -> str | None:
    """What stands between a region's marker lines, without the last line end; `None`: no region."""
    span = document.layout.region(region)
    if span is None:
        return None
    return document.text[span.inner_start : span.inner_end].removesuffix("\n")


def replace_region(document: Document, region: Region, text: str, *, apart: bool = True) -> bytes:
    """The document's bytes with a region's text replaced, and not a byte outside it changed.

    A region that is absent is made at the document's end, `apart` with a blank line before it.
    An empty text leaves no line.
    Raises: DocumentError when the text would open or close a region or leave a fence open.
    """
    text = unix_lines(text)
    if not is_storable(text):
        raise DocumentError(f"the text for the {region.value} region is not text a file can hold")
    if text == region_text(document, region):
        return document.to_bytes()
    inner = text + "\n" if text else ""
    span = document.layout.region(region)
    if span is not None:
        changed = document.spliced(span.inner_start, span.inner_end, inner)
    else:
        changed = _with_new_region(document, region, inner, apart=apart)
    data = changed.to_bytes()
    _check_region(document, changed, data, region)
    return data


def _with_new_region(document: Document, region: Region, inner: str, *, apart: bool) -> Document:
    text = document.text
    whole = f"{region.start_marker}\n{inner}{region.end_marker}"
    if not text:
        separator = ""
    elif not text.endswith("\n"):
        separator = "\n\n" if apart else "\n"
    else:
        separator = "\n" if apart and not text.endswith("\n\n") else ""
    end = "\n" if text.endswith("\n") or not text else ""
    return document.spliced(len(text), len(text), separator + whole + end)


def _check_region(document: Document, changed: Document, data: bytes, region: Region) -> None:
    after = Document.parse(data)
    span = after.layout.region(region)
    others = [s.region for s in document.layout.regions if s.region is not region]
    if (
        span is None
        or [s.region for s in after.layout.regions if s.region is not region] != others
        or after.layout.frontmatter_end != document.layout.frontmatter_end
        or _fences_outside(after.layout, region) != _fences_outside(changed.layout, region)
    ):
        raise DocumentError(
            f"the text for the {region.value} region does not stay inside its marker lines"
        )


def _fences_outside(layout: Layout, region: Region) -> list[tuple[int, int]]:
    span = layout.region(region)
    return [
        (fence.start, fence.end)
        for fence in layout.fences
        if span is None or not (span.start <= fence.start and fence.end <= span.end)
    ]


def _decode(data: bytes) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DocumentError(
            f"line {line}: this is not UTF-8 text",
            hint="save the document as UTF-8",
        ) from error
    if "\x00" in text:
        raise DocumentError(
            f"line {line_number(text, text.index(chr(0)))}: there is a NUL byte in the text"
        )
    return text


@lru_cache(maxsize=16)
def _frontmatter_values(text: str) -> tuple[tuple[str, object], ...]:
    """What a frontmatter says; the same few are asked for again and again."""
    try:
        values = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise _frontmatter_error(error) from error
    if values is None:
        return ()
    if not isinstance(values, dict):
        raise DocumentError("line 1: the frontmatter is not a mapping of names to values")
    return tuple((str(name), value) for name, value in values.items())


def _frontmatter_error(error: Exception) -> DocumentError:
    mark = getattr(error, "problem_mark", None)
    line = mark.line + 2 if isinstance(mark, yaml.Mark) else 1
    return DocumentError(f"line {line}: the frontmatter is not YAML")
