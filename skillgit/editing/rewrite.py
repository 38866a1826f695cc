"""A document rewritten whole: new prose from a model around parts that it cannot touch.

Pure: bytes in, bytes out. Whatever the text is, the frontmatter and the protected regions are
the same bytes afterwards, or the rewrite is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from skillgit.editing.document import Document, is_storable, unix_lines
from skillgit.editing.layout import Region, analyse, find_frontmatter
from skillgit.errors import DocumentError

MAX_TEXT = 60_000
"""The longest text that is taken, unless the document is longer already. Unit: characters."""

_FIRST_BLANK_LINES = re.compile(r"\A(?:[^\S\n]*\n|\ufeff)+")
_OPENING = re.compile(r"(?P<fence>`{3,}|~{3,})[ \t]*(?:markdown|md|text)?[ \t]*", re.IGNORECASE)


@dataclass(frozen=True)
class _Part:
    """A stretch of prose, or the place of a region."""

    prose: str = ""
    region: Region | None = None


def rewrite_document(data: bytes, text: str) -> bytes:
    """The document with this text as its prose.

    Frontmatter in the text is ignored. A region's marker lines in it say where the region goes,
    and what stands between them is ignored; a region that is not named goes to the end. Line
    ends, byte order mark and final newline are the document's own.

    Raises: DocumentError for a text that cannot be the document's prose.
    """
    document = Document.parse(data)
    text = _unwrapped(unix_lines(text).removeprefix("\ufeff"))
    if not is_storable(text):
        raise DocumentError("the rewrite is not text that a file can hold")
    if len(text) > max(MAX_TEXT, 2 * len(document.text)):
        raise DocumentError(f"the rewrite is {len(text)} characters long")
    own = [span.region for span in document.layout.regions]
    old = list(_parts(document.text, own))
    new = list(_parts(text, own))
    if not any(part.prose for part in new):
        raise DocumentError("the rewrite is empty")
    named = {part.region for part in new}
    new += [_Part(region=region) for region in own if region not in named]
    if new == old:
        return data
    rewritten = _composed(document, new)
    _check(document, rewritten)
    return rewritten


def _unwrapped(text: str) -> str:
    """The text out of the one fence that all of it stands in."""
    lines = text.strip().split("\n")
    opening = _OPENING.fullmatch(lines[0])
    if opening is None or len(lines) < 2 or lines[-1].strip() != opening["fence"]:
        return text
    inside = lines[1:-1]
    if any(line.startswith(opening["fence"]) for line in inside):
        return text
    return "\n".join(inside)


def _parts(text: str, own: list[Region]) -> Iterator[_Part]:
    """The text's prose, cut where the document's own regions stand; foreign ones are left out."""
    body = text[find_frontmatter(text) :]
    place = 0
    for span in analyse(body).regions:
        yield from _prose(body[place : span.start])
        if span.region in own:
            yield _Part(region=span.region)
        place = span.end
    yield from _prose(body[place:])


def _prose(text: str) -> Iterator[_Part]:
    stripped = _FIRST_BLANK_LINES.sub("", text).rstrip()
    if stripped:
        yield _Part(prose=stripped)


def _composed(document: Document, parts: list[_Part]) -> bytes:
    text, end = document.text, _usual_line_end(document)
    head = document.layout.frontmatter_end
    gap = len(text) - len(text[head:].lstrip("\n")) if head else 0
    pieces = [_raw(document, 0, max(gap, head))]
    if head and gap <= head:
        pieces.append(end)
    for number, part in enumerate(parts):
        pieces.append(end * 2 if number else "")
        span = document.layout.region(part.region) if part.region else None
        pieces.append(
            _raw(document, span.start, span.end) if span else part.prose.replace("\n", end)
        )
    if text.endswith("\n") or not text:
        pieces.append(end)
    return (("\ufeff" if document.bom else "") + "".join(pieces)).encode()


def _usual_line_end(document: Document) -> str:
    ends = document.line_ends
    return max(sorted(set(ends)), key=ends.count) if ends else "\n"


def _raw(document: Document, start: int, end: int) -> str:
    """A stretch of the document with the line ends that it really has."""
    first = document.text.count("\n", 0, start)
    lines = document.text[start:end].split("\n")
    ends = document.line_ends[first : first + len(lines) - 1]
    return "".join(line + end for line, end in zip(lines, (*ends, ""), strict=True))


def _check(before: Document, data: bytes) -> None:
    """Raises: DocumentError when a part that is none of the prose is not as it was."""
    after = Document.parse(data)
    if _protected(before) != _protected(after):
        raise DocumentError("the rewrite does not leave the protected parts alone")


def _protected(document: Document) -> dict[Region | None, str]:
    parts: dict[Region | None, str] = {
        span.region: _raw(document, span.start, span.end) for span in document.layout.regions
    }
    parts[None] = _raw(document, 0, document.layout.frontmatter_end)
    return parts
