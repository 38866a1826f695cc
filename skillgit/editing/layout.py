"""Which parts of a document's text are not prose: frontmatter, fences, protected regions.

The only module of `editing` that asks the Markdown parser; outside it, the judges' checks and
`review.verify.texts` do. Everything here is offsets into text whose line ends are `\\n`; bytes
are the document's business.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from skillgit.errors import DocumentError

_MARKDOWN = MarkdownIt("commonmark").disable("reference")
_FENCE_SIGNS = re.compile(r"```|~~~")
_SECTION = re.compile(r"^#{2,6}[ \t]", re.MULTILINE)
_FRONTMATTER = re.compile(r"---[ \t]*\n(?:.*\n)*?(?:---|\.\.\.)[ \t]*$", re.MULTILINE)


class Region(StrEnum):
    """A protected part of a document, between two marker lines."""

    SLOW_UPDATE = "SLOW_UPDATE"
    APPENDIX = "APPENDIX"
    LEARNED = "LEARNED"

    @property
    def start_marker(self) -> str:
        """The line that opens the region."""
        return _MARKERS[self][0]

    @property
    def end_marker(self) -> str:
        """The line that closes the region."""
        return _MARKERS[self][1]


_MARKERS = {
    Region.SLOW_UPDATE: ("<!-- SLOW_UPDATE_START -->", "<!-- SLOW_UPDATE_END -->"),
    Region.APPENDIX: ("<!-- APPENDIX_START -->", "<!-- APPENDIX_END -->"),
    Region.LEARNED: (
        "<!-- SKILLOPT-SLEEP:LEARNED START -->",
        "<!-- SKILLOPT-SLEEP:LEARNED END -->",
    ),
}
_MARKER_MEANING = {
    marker: (region, opens)
    for region, pair in _MARKERS.items()
    for marker, opens in zip(pair, (True, False), strict=True)
}
_MARKER_LINE = re.compile(
    rf"^ {{0,3}}({'|'.join(map(re.escape, _MARKER_MEANING))})[ \t]*$", re.MULTILINE
)


class Fence(NamedTuple):
    """A code fence, from its first mark to the end of its last line.

    One that is never closed ends with the last line of its container that is not blank.
    """

    start: int
    end: int
    closed: bool


class RegionSpan(NamedTuple):
    """A protected region with its marker lines; its own lines are `[inner_start, inner_end)`."""

    region: Region
    start: int
    inner_start: int
    inner_end: int
    end: int


@dataclass(frozen=True, slots=True)
class Layout:
    """The frozen parts of one text. `frontmatter_end` is 0 when there is no frontmatter."""

    frontmatter_end: int
    fences: tuple[Fence, ...]
    regions: tuple[RegionSpan, ...]

    def region(self, region: Region) -> RegionSpan | None:
        """Where a region is, if the document has it."""
        return next((span for span in self.regions if span.region is region), None)

    def cuts_fence(self, start: int, end: int) -> bool:
        """Whether a span overlaps a fence without holding all of it."""
        return _cuts(self.fences, start, end)

    def spliced(self, start: int, end: int, length: int) -> Layout:
        """What the layout should be once `[start, end)` is replaced by prose of that length.

        Fences that lie wholly inside the replaced text are gone with it.
        """
        shift = length - (end - start)
        fences = tuple(
            fence
            if fence.end <= start
            else Fence(fence.start + shift, fence.end + shift, fence.closed)
            for fence in self.fences
            if not (start <= fence.start and fence.end <= end)
        )
        regions = tuple(_shifted(span, end, shift) for span in self.regions)
        return Layout(self.frontmatter_end, fences, regions)


def _cuts(fences: tuple[Fence, ...], start: int, end: int) -> bool:
    first = bisect_right(fences, start, key=lambda fence: fence.end)
    after = bisect_left(fences, end, key=lambda fence: fence.start)
    return first < after and (fences[first].start < start or end < fences[after - 1].end)


def _shifted(span: RegionSpan, from_offset: int, shift: int) -> RegionSpan:
    if span.start >= from_offset:
        return RegionSpan(span.region, *(offset + shift for offset in span[1:]))
    if span.inner_end >= from_offset:
        return span._replace(inner_end=span.inner_end + shift, end=span.end + shift)
    return span


def analyse(text: str) -> Layout:
    """The layout of a text.

    Raises: DocumentError for markers that do not pair, naming the line.
    """
    frontmatter_end = find_frontmatter(text)
    fences = tuple(_fences(text, frontmatter_end))
    return Layout(frontmatter_end, fences, _pair_markers(text, frontmatter_end, fences))


def find_frontmatter(text: str) -> int:
    """Where the line that closes the frontmatter ends; 0 when the text has none."""
    found = _FRONTMATTER.match(text) if text.startswith("---") else None
    return found.end() if found else 0


def has_structure(text: str) -> bool:
    """Whether the text could hold a fence or a marker line."""
    return _FENCE_SIGNS.search(text) is not None or "<!--" in text


def makes_regions(text: str) -> bool:
    """Whether the text has marker lines of its own, in pairs or not."""
    try:
        return bool(analyse(text).regions)
    except DocumentError:
        return True


def line_start(text: str, offset: int) -> int:
    """Where the line an offset is on begins."""
    return text.rfind("\n", 0, offset) + 1


def line_end(text: str, offset: int) -> int:
    """Where the line an offset is on ends, without its line end."""
    end = text.find("\n", offset)
    return len(text) if end < 0 else end


def line_at(text: str, offset: int) -> str:
    """The rest of the line an offset is on."""
    return text[offset : line_end(text, offset)]


def line_number(text: str, offset: int) -> int:
    """The number of the line an offset is on, as editors count: from 1."""
    return text.count("\n", 0, offset) + 1


# ── regions ──────────────────────────────────────────────────────────────────────────────────


def _pair_markers(text: str, offset: int, fences: tuple[Fence, ...]) -> tuple[RegionSpan, ...]:
    spans: list[RegionSpan] = []
    opened: tuple[Region, re.Match[str]] | None = None
    for found in _MARKER_LINE.finditer(text, offset):
        if _cuts(fences, *found.span(1)):
            continue
        region, opens = _MARKER_MEANING[found[1]]
        if opens:
            if opened is not None:
                raise _marker_error(
                    text, found, f"stands before the {opened[0].end_marker} that is still missing"
                )
            if any(span.region is region for span in spans):
                raise _marker_error(text, found, "opens a second region of its kind")
            opened = region, found
            continue
        if opened is None or opened[0] is not region:
            raise _marker_error(text, found, f"has no {region.start_marker} before it")
        spans.append(_region_span(text, region, opened[1], found))
        opened = None
    if opened is not None:
        raise _marker_error(text, opened[1], f"has no {opened[0].end_marker} after it")
    return tuple(spans)


def _region_span(
    text: str, region: Region, opening: re.Match[str], closing: re.Match[str]
) -> RegionSpan:
    return RegionSpan(
        region,
        start=opening.start(),
        inner_start=min(opening.end() + 1, len(text)),
        inner_end=closing.start(),
        end=closing.end(),
    )


def _marker_error(text: str, found: re.Match[str], complaint: str) -> DocumentError:
    return DocumentError(
        f"line {line_number(text, found.start(1))}: {found[1]} {complaint}",
        hint="put each pair of marker lines around one region, or remove both lines",
    )


# ── fences ───────────────────────────────────────────────────────────────────────────────────


class _SectionFences(NamedTuple):
    fences: tuple[Fence, ...]
    ends_open: bool


def _fences(text: str, offset: int) -> Iterator[Fence]:
    """The fences from an offset on, section by section: what did not change is not parsed again.

    A heading at the margin starts afresh, unless a fence or raw HTML above it is still open;
    such a section is taken together with those after it, twice as many each time. A single `#`
    is no cut: in code it is a comment.
    """
    if not _FENCE_SIGNS.search(text, offset):
        return
    cuts = [offset, *(m.start() for m in _SECTION.finditer(text, offset + 1)), len(text)]
    first = 0
    while first < len(cuts) - 1:
        count = 1
        while True:
            last = min(first + count, len(cuts) - 1)
            section = _section_fences(text[cuts[first] : cuts[last]])
            if last == len(cuts) - 1 or not section.ends_open:
                break
            count *= 2
        for start, end, closed in section.fences:
            yield Fence(start + cuts[first], end + cuts[first], closed)
        first = last


def _section_fences(section: str) -> _SectionFences:
    remembered = _small_section if len(section) < _LARGE else _large_section
    return remembered(section)


def _parse_section(section: str) -> _SectionFences:
    if not _FENCE_SIGNS.search(section) and "<" not in section:
        return _SectionFences((), ends_open=False)
    tokens = block_tokens(section)
    starts = [0, *(m.end() for m in re.finditer("\n", section)), len(section) + 1]
    fences = tuple(_fence(section, starts, token) for token in tokens if token.type == "fence")
    last = tokens[-1] if tokens else None
    ends_open = last is not None and (
        last.type == "html_block" or (last.type == "fence" and not fences[-1].closed)
    )
    return _SectionFences(fences, ends_open)


_LARGE = 16_384
_small_section = lru_cache(maxsize=4096)(_parse_section)
_large_section = lru_cache(maxsize=8)(_parse_section)


def _fence(section: str, starts: list[int], token: Token) -> Fence:
    first, after = token.map or (0, 0)
    content_lines = len(token.content.removesuffix("\n").split("\n")) if token.content else 0
    closed = after - first == content_lines + 2
    end = min(starts[min(after, len(starts) - 1)] - 1, len(section))
    if not closed:
        end = len(section[:end].rstrip())
    return Fence(section.index(token.markup, starts[first]), end, closed)


def block_tokens(text: str) -> list[Token]:
    """The block structure of a text, without a look inside its paragraphs."""
    tokens: list[Token] = []
    _MARKDOWN.block.parse(text, _MARKDOWN, {}, tokens)
    return tokens
