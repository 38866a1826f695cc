"""Applying edits to a document: every edit has one outcome, and none of them raises.

Pure: bytes in, bytes out. What an edit names is changed, and no other byte.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from skillgit.editing.bullets import plan_bullet
from skillgit.editing.document import Document, is_storable, unix_lines
from skillgit.editing.layout import Region, has_structure, line_end, line_start, makes_regions
from skillgit.editing.matching import (
    LIST_MARK,
    Match,
    ends_with_list,
    find_anchor,
    fold,
    is_list_item,
    is_there,
)
from skillgit.editing.splices import Refused, Splice, frozen, refuse_frozen, run_edits
from skillgit.records import Edit, EditOp, EditOutcome, Outcome

MAX_CONTENT = 4_000
"""The longest content an edit may bring. Unit: characters."""

_EDGE_LINES = re.compile(r"\A(?:[^\S\n]*\n|\ufeff)+|(?:\n[^\S\n]*)+\Z")
_HEADING_MARK = re.compile(r" {0,3}(#{1,6}[ \t]+)")
_LEFTOVER = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)]|#{1,6})?[ \t]*(?:\[[ xX]\])?[ \t]*")


def apply_edits(
    doc: bytes,
    edits: Sequence[Edit],
    *,
    region: Region | None = None,
    known_rejected: Collection[Edit] = (),
    place_missing: bool = False,
) -> tuple[bytes, tuple[EditOutcome, ...]]:
    """The document after the edits, tried in order, with what became of each.

    With a `region`, edits add, replace and delete bullets inside it, and the rest is left alone.
    With `place_missing`, an `add` whose anchor names no one place goes to the end of the section
    that it names, else of the body; its outcome has the edit as it was made, without the anchor.
    `known_rejected` are changes to this document that are not tried again; of an edit, only op,
    anchor and content count there.

    Shape: one outcome per edit, in the edits' order.
    Raises: DocumentError when the document itself cannot be used; never because of an edit.
    """
    banned = {_change(edit) for edit in known_rejected}

    def plan(document: Document, edit: Edit) -> Splice | Document:
        cleaned = _checked(edit)
        if _change(edit) in banned:
            raise Refused(Outcome.KNOWN_REJECTED)
        if region is not None:
            return plan_bullet(document, cleaned, region)
        try:
            return _PLANS[cleaned.op](document, cleaned)
        except Refused as refused:
            if not (place_missing and cleaned.op is EditOp.ADD and refused.outcome in _NO_PLACE):
                raise
            return _plan_at_end(document, cleaned)

    document, outcomes = run_edits(Document.parse(doc), edits, plan)
    return document.to_bytes(), tuple(map(_as_made, outcomes))


_NO_PLACE = (Outcome.ANCHOR_MISSING, Outcome.ANCHOR_AMBIGUOUS)


def _as_made(outcome: EditOutcome) -> EditOutcome:
    """What became of an edit, with the edit as it was made: one placed by us named no place."""
    if outcome.outcome is not Outcome.PLACED_AT_END:
        return outcome
    return outcome.model_copy(update={"edit": outcome.edit.model_copy(update={"anchor": ""})})


def _change(edit: Edit) -> tuple[str, ...]:
    return (edit.op, edit.anchor, edit.content)


def _checked(edit: Edit) -> Edit:
    """The edit with unix line ends, and no blank lines or byte order mark around its content."""
    if not (is_storable(edit.content) and is_storable(edit.anchor)):
        raise Refused(Outcome.EMPTY)
    content = _EDGE_LINES.sub("", unix_lines(edit.content))
    anchor = unix_lines(edit.anchor)
    if edit.operation.takes_out_anchor and not anchor.strip():
        raise Refused(Outcome.EMPTY)
    if edit.operation.brings_content:
        mark = LIST_MARK.match(content) if edit.op is EditOp.ADD else None
        if not content[mark.end() if mark else 0 :].strip():
            raise Refused(Outcome.EMPTY)
        if len(content) > MAX_CONTENT:
            raise Refused(Outcome.TOO_LONG)
        if has_structure(content) and makes_regions(content):
            raise Refused(Outcome.PROTECTED)
    if edit.op is EditOp.REPLACE and content == _EDGE_LINES.sub("", anchor):
        raise Refused(Outcome.NOOP)
    return edit.model_copy(update={"content": content, "anchor": anchor})


# ── finding the place ────────────────────────────────────────────────────────────────────────


def _locate(document: Document, anchor: str) -> Match:
    """The one place an anchor means; where all it could mean is frozen, that is the answer."""
    matches = find_anchor(document.text, anchor)
    if not matches:
        raise Refused(Outcome.ANCHOR_MISSING)
    if any(frozen(document.layout, match.start, match.end) is None for match in matches):
        if len(matches) > 1:
            raise Refused(Outcome.ANCHOR_AMBIGUOUS, len(matches))
        return matches[0]
    raise Refused(frozen(document.layout, matches[0].start, matches[0].end) or Outcome.PROTECTED)


def _applied(match: Match) -> Outcome:
    return Outcome.APPLIED if match.exact else Outcome.APPLIED_NORMALIZED


def _after_line(text: str, offset: int, lines: str, outcome: Outcome) -> Splice:
    """The splice that puts lines below the line an offset is on."""
    end = line_end(text, offset)
    if end == len(text):
        return Splice(end, end, "\n" + lines, outcome)
    return Splice(end + 1, end + 1, lines + "\n", outcome)


# ── the three kinds of edit ──────────────────────────────────────────────────────────────────


def _plan_add(document: Document, edit: Edit) -> Splice:
    if edit.anchor.strip():
        return _plan_insertion(document, edit)
    if is_there(document, edit.content):
        raise Refused(Outcome.DUPLICATE)
    text = document.text
    end = _prose_end(document)
    if end == 0:
        return Splice(0, 0, edit.content + "\n")
    joins = is_list_item(edit.content) and ends_with_list(text[:end], edit.content)
    return _after_line(text, end, edit.content if joins else "\n" + edit.content, Outcome.APPLIED)


def _plan_insertion(document: Document, edit: Edit) -> Splice:
    match = _locate(document, edit.anchor)
    text = document.text
    splice = _after_line(text, match.end, edit.content, _applied(match))
    refuse_frozen(document.layout, splice.start, splice.end)
    below = splice.start + len(edit.content)
    stands_below = text.startswith(edit.content, splice.start) and below == line_end(text, below)
    if stands_below or is_there(document, edit.content):
        raise Refused(Outcome.DUPLICATE)
    return splice


def _plan_at_end(document: Document, edit: Edit) -> Splice:
    """An addition at the end of the section that its anchor names, else of the body."""
    if is_there(document, edit.content):
        raise Refused(Outcome.DUPLICATE)
    end = _section_end(document, edit.anchor)
    if end is None or frozen(document.layout, end, end) is not None:
        return _plan_add(document, edit.model_copy(update={"anchor": ""}))._replace(
            outcome=Outcome.PLACED_AT_END
        )
    text = document.text
    joins = is_list_item(edit.content) and ends_with_list(text[:end], edit.content)
    lines = edit.content if joins else "\n" + edit.content
    return _after_line(text, end, lines, Outcome.PLACED_AT_END)


def _section_end(document: Document, name: str) -> int | None:
    """The end of the last line with text in the section whose heading a text names, if one does."""
    wanted = fold(name.strip().lstrip("#")).casefold()
    headings = document.headings
    for at, heading in enumerate(headings):
        if wanted and fold(heading.title).casefold() == wanted:
            below = next((h.line for h in headings[at + 1 :] if h.level <= heading.level), None)
            lines = document.text.split("\n")
            until = len(lines) if below is None else below - 1
            body = "\n".join(lines[:until]).rstrip()
            return line_end(document.text, len(body)) if below is not None else _prose_end(document)
    return None


def _prose_end(document: Document) -> int:
    """The end of the last line that is not blank, before the regions that end the document."""
    text = document.text
    end = len(text.rstrip())
    for span in reversed(document.layout.regions):
        if span.end < end:
            break
        end = len(text[: span.start].rstrip())
    return line_end(text, end) if end else 0


def _plan_replace(document: Document, edit: Edit) -> Splice:
    match = _locate(document, edit.anchor)
    text = document.text
    start = _with_mark(text, match.start, edit.content)
    if text[start : match.end] == edit.content:
        raise Refused(Outcome.NOOP)
    return Splice(start, match.end, edit.content, _applied(match))


def _with_mark(text: str, start: int, content: str) -> int:
    """Where to replace from: content that brings a line's mark along replaces the mark too."""
    for mark in (LIST_MARK, _HEADING_MARK):
        found = mark.fullmatch(text, line_start(text, start), start)
        if found and mark.match(content):
            return found.start(1)
    return start


def _plan_delete(document: Document, edit: Edit) -> Splice:
    match = _locate(document, edit.anchor)
    text = document.text
    first, last = line_start(text, match.start), line_end(text, match.end)
    left = text[first : match.start] + text[match.end : last]
    if not _LEFTOVER.fullmatch(left):
        return Splice(match.start, match.end, "", _applied(match))
    refuse_frozen(document.layout, first, last)
    if last < len(text):
        return Splice(first, last + 1, "", _applied(match))
    return Splice(first, last, "", _applied(match))


_PLANS = {
    EditOp.ADD: _plan_add,
    EditOp.REPLACE: _plan_replace,
    EditOp.DELETE: _plan_delete,
}
