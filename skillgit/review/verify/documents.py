"""A document before and after a commit: what its frontmatter, markers and regions say. Pure.

Only new violations count: what was wrong before is nobody's to answer for here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator

from skillgit.editing.document import Document, Region, region_text
from skillgit.errors import DocumentError
from skillgit.review.verify.findings import Severity, VerifyFinding

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*", re.IGNORECASE)
_MOST_DESCRIPTION = 1024


def document_findings(
    where: str,
    old: bytes,
    new: bytes,
    *,
    may_change: Collection[Region],
    is_proposed: bool = True,
    is_night: bool = False,
) -> Iterator[VerifyFinding]:
    """What is wrong with a document's change.

    `may_change` are the protected regions that are this commit's to write; in a night nothing
    outside of them changes. In a person's own change, not `is_proposed`, what is protected from
    edits of a model is only worth a warning.
    """
    severity = Severity.PROBLEM if is_proposed else Severity.WARNING
    before, after = _parsed(old), _parsed(new)
    if isinstance(after, DocumentError):
        if not isinstance(before, DocumentError) or before.message != after.message:
            check = "markers" if "<!--" in after.message else "document"
            yield VerifyFinding(check=check, where=where, message=after.message)
        return
    if isinstance(before, DocumentError):
        return
    yield from _frontmatter(where, before, after, severity)
    for region in Region:
        for check, message in _region(before, after, region, may_change=region in may_change):
            yield VerifyFinding(check=check, where=where, message=message, severity=severity)
    if is_night and _outside(before, may_change) != _outside(after, may_change):
        yield VerifyFinding(
            check="regions", where=where, message="a night changed text outside its LEARNED region"
        )


def _parsed(data: bytes) -> Document | DocumentError:
    try:
        return Document.parse(data)
    except DocumentError as error:
        return error


def _frontmatter(
    where: str, before: Document, after: Document, severity: Severity
) -> Iterator[VerifyFinding]:
    old, new = (doc.text[: doc.layout.frontmatter_end] for doc in (before, after))
    if old == new or not before.text:
        return
    message = "the frontmatter was changed"
    yield VerifyFinding(check="frontmatter", where=where, message=message, severity=severity)
    for message in _violations(after):
        if message not in _violations(before):
            yield VerifyFinding(check="frontmatter", where=where, message=message)


def _violations(document: Document) -> list[str]:
    """What keeps agents from taking the frontmatter for a skill's.

    Source: the SKILL.md format of agent skills.
    """
    if not document.layout.frontmatter_end:
        return ["there is no frontmatter"]
    try:
        values = document.frontmatter
    except DocumentError as error:
        return [error.message]
    found = []
    name, description = values.get("name"), values.get("description")
    if not isinstance(name, str) or len(name) > 64 or not _NAME.fullmatch(name):
        found.append("its name is not 1 to 64 letters, digits and hyphens")
    if not isinstance(description, str) or not 0 < len(description.strip()) <= _MOST_DESCRIPTION:
        found.append(f"its description is not 1 to {_MOST_DESCRIPTION} characters long")
    return found


def _region(
    before: Document, after: Document, region: Region, *, may_change: bool
) -> Iterator[tuple[str, str]]:
    old, new = region_text(before, region), region_text(after, region)
    name = region.value
    if old is not None and new is None:
        yield "markers", f"the markers of {name} are gone"
    elif old is None and new is not None and not may_change:
        yield "markers", f"markers of a {name} region came in"
    elif old is not None and new is not None:
        if old != new and not may_change:
            yield "regions", f"the protected region {name} was changed"
        if _moved(before, after, region):
            yield "markers", f"the markers of {name} were moved to another place"


def _moved(before: Document, after: Document, region: Region) -> bool:
    """Whether lines that stayed stand on the other side of the region now."""
    above, below = _sides(before, region)
    now_above, now_below = _sides(after, region)
    return bool(above & now_below or below & now_above)


def _sides(document: Document, region: Region) -> tuple[set[str], set[str]]:
    """The lines before and after a region that the document has only once."""
    span = document.layout.region(region)
    if span is None:
        return set(), set()
    parts = (document.text[: span.start], document.text[span.end :])
    counts = Counter(line for part in parts for line in part.split("\n"))
    above, below = (
        {line for line in part.split("\n") if line.strip() and counts[line] == 1} for part in parts
    )
    return above, below


def _outside(document: Document, regions: Collection[Region]) -> str:
    """The text without what stands in some regions, and without their markers."""
    text = document.text
    for span in sorted(document.layout.regions, key=lambda s: -s.start):
        if span.region in regions:
            text = text[: span.start].rstrip("\n") + "\n" + text[span.end :].lstrip("\n")
    return text.strip("\n")
