"""What is about to be committed to a skill's document, beside what was there before. Pure.

Only what is new counts: a fault that the document had before is nobody's to mend now.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from skillgit.editing.document import Document, Region, region_text
from skillgit.errors import DocumentError
from skillgit.gate.guards.agent_skills import FILE, violations
from skillgit.gate.guards.length import length_warnings
from skillgit.records import Skill, SkillDocument

_NEEDED = ("name", "description")
_LINE = re.compile(r"line \d+: ")


@dataclass(frozen=True)
class Staged:
    """What is new in one document.

    `faults` make it unusable or less usable, `warnings` do not, `regions` are the protected ones
    that somebody's hand has been in.
    """

    path: str
    faults: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    regions: tuple[Region, ...] = ()


def look_at(
    path: str,
    before: bytes | None,
    after: bytes,
    *,
    made: Callable[[], Iterable[bytes]] = tuple,
) -> Staged:
    """What is new in a document; `made` gives its versions that runs and merges brought.

    A region that reads as in one of those was not edited by hand.
    """
    old = set() if before is None else {_bare(fault) for fault in _faults(path, before)}
    return Staged(
        path=path,
        faults=tuple(fault for fault in _faults(path, after) if _bare(fault) not in old),
        warnings=tuple(_warnings(path, before, after)),
        regions=tuple(_edited(before, after, made)),
    )


def _bare(fault: str) -> str:
    """The fault without its line, which any line above it moves."""
    return _LINE.sub("", fault)


def _faults(path: str, data: bytes) -> list[str]:
    """What keeps agents from using the document, or us from training it."""
    try:
        front = Document.parse(data).frontmatter
    except DocumentError as error:
        return [error.message]
    needed = _NEEDED if PurePosixPath(path).name == FILE else ()
    return [f"the frontmatter has no `{key}`" for key in needed if not front.get(key)]


def _warnings(path: str, before: bytes | None, after: bytes) -> list[str]:
    """What the specification advises against; of the length only where it grows."""
    document = SkillDocument(path=path, data=after)
    old = set() if before is None else {*violations(SkillDocument(path=path, data=before))}
    known = {f"{path}: {fault}" for fault in _faults(path, after)}
    found = [line for line in violations(document) if line not in old | known]
    if before is None or len(after) > len(before):
        found += length_warnings(Skill(name="staged", documents=(document,)))
    return [line.removeprefix(path).lstrip(": ") for line in found]


def _edited(
    before: bytes | None, after: bytes, made: Callable[[], Iterable[bytes]]
) -> list[Region]:
    then, now = _regions(before), _regions(after)
    if then is None or now is None:
        return []
    changed = [region for region in Region if then[region] != now[region]]
    for version in made() if changed else ():
        known = _regions(version)
        if known is not None:
            changed = [region for region in changed if known[region] != now[region]]
    return changed


def _regions(data: bytes | None) -> dict[Region, str] | None:
    """The text of each region, nothing where there is none; `None` when they cannot be told."""
    if data is None:
        return dict.fromkeys(Region, "")
    try:
        document = Document.parse(data)
    except DocumentError:
        return None
    return {region: region_text(document, region) or "" for region in Region}
