"""Changing a document one splice at a time, so that no splice breaks what is frozen in it.

A splice of plain prose cannot open or close anything, or so it is taken: the layout moves along,
and the parser is asked once, when all edits are done. Should it disagree, everything is done
again with a look after each edit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from skillgit.editing.document import Document
from skillgit.editing.layout import (
    Fence,
    Layout,
    Region,
    analyse,
    find_frontmatter,
    has_structure,
    line_end,
    line_start,
)
from skillgit.errors import DocumentError
from skillgit.records import Edit, EditOutcome, Outcome


class Splice(NamedTuple):
    """`[start, end)` of the text is to be replaced; `outcome` is what it is called when it is."""

    start: int
    end: int
    text: str
    outcome: Outcome = Outcome.APPLIED


class Refused(Exception):  # noqa: N818 - it is an answer, not an error
    """An edit is not applied, and why."""

    def __init__(self, outcome: Outcome, occurrences: int | None = None) -> None:
        super().__init__(outcome.value)
        self.outcome = outcome
        self.occurrences = occurrences


class _Unforeseen(Exception):  # noqa: N818 - it is a signal, not an error
    """The parser saw something else than prose."""


Plan = Callable[[Document, Edit], Splice | Document]


def run_edits(
    document: Document, edits: Sequence[Edit], plan: Plan
) -> tuple[Document, tuple[EditOutcome, ...]]:
    """The document after all edits that could be applied, with what became of each.

    Shape: one outcome per edit, in the edits' order.
    """
    try:
        return _run(document, edits, plan, trusting=True)
    except _Unforeseen:
        return _run(document, edits, plan, trusting=False)


def _run(
    document: Document, edits: Sequence[Edit], plan: Plan, *, trusting: bool
) -> tuple[Document, tuple[EditOutcome, ...]]:
    outcomes: list[EditOutcome] = []
    unseen = False
    for edit in edits:
        try:
            splice = plan(document, edit)
            if isinstance(splice, Document):
                document, outcome = splice, Outcome.APPLIED
            else:
                look = not trusting or _needs_a_look(document, splice)
                if look and unseen:
                    _expect(document)
                document, outcome = _splice(document, splice, look=look), splice.outcome
                unseen = not look
            outcomes.append(EditOutcome(edit=edit, outcome=outcome))
        except Refused as refused:
            outcomes.append(
                EditOutcome(edit=edit, outcome=refused.outcome, occurrences=refused.occurrences)
            )
    if unseen:
        _expect(document)
    return document, tuple(outcomes)


def _expect(document: Document) -> None:
    try:
        seen = analyse(document.text)
    except DocumentError as error:
        raise _Unforeseen from error
    if seen != document.layout:
        raise _Unforeseen


def frozen(layout: Layout, start: int, end: int, *, inside: Region | None = None) -> Outcome | None:
    """Why a span cannot be changed: it overlaps frontmatter, a region, or a part of a fence.

    `inside` names the region whose own lines may be changed.
    """
    if start < layout.frontmatter_end:
        return Outcome.FRONTMATTER
    for span in layout.regions:
        own = span.region is inside and span.inner_start <= start and end <= span.inner_end
        if start < span.end and span.start < end and not own:
            return Outcome.PROTECTED
    return Outcome.FENCE if layout.cuts_fence(start, end) else None


def refuse_frozen(layout: Layout, start: int, end: int, *, inside: Region | None = None) -> None:
    """Refuse a span that cannot be changed."""
    outcome = frozen(layout, start, end, inside=inside)
    if outcome is not None:
        raise Refused(outcome)


def _needs_a_look(document: Document, splice: Splice) -> bool:
    """Whether a splice could change the layout in other ways than by moving it."""
    before, after = _touched(document.text, splice)
    open_fence = any(not f.closed and f.end <= splice.start for f in document.layout.fences)
    return open_fence or has_structure(before) or has_structure(after)


def _touched(text: str, splice: Splice) -> tuple[str, str]:
    """The lines a splice touches, as they are and as they will be."""
    first, last = line_start(text, splice.start), line_end(text, splice.end)
    after = text[first : splice.start] + splice.text + text[splice.end : last]
    return text[first:last], after


def _splice(document: Document, splice: Splice, *, look: bool) -> Document:
    changed = document.spliced(*splice[:3])
    if find_frontmatter(changed.text) != changed.layout.frontmatter_end:
        raise Refused(Outcome.FRONTMATTER)
    if not look:
        return changed
    try:
        seen = analyse(changed.text)
    except DocumentError as error:
        raise Refused(Outcome.PROTECTED) from error
    if seen.regions != changed.layout.regions:
        raise Refused(Outcome.PROTECTED)
    if _without_new_fences(seen.fences, splice) != changed.layout.fences:
        raise Refused(Outcome.FENCE)
    return replace(changed, layout=seen)


def _without_new_fences(fences: Sequence[Fence], splice: Splice) -> tuple[Fence, ...]:
    """The fences that were there before: a closed one wholly in the new text is welcome."""
    end = splice.start + len(splice.text)
    return tuple(f for f in fences if not (f.closed and splice.start <= f.start and f.end <= end))
