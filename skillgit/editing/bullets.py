"""Edits inside a protected region, where every rule is a bullet: the way a night learns."""

from __future__ import annotations

import re
from typing import NamedTuple

from skillgit.editing.document import Document, replace_region
from skillgit.editing.layout import Region, RegionSpan, analyse, block_tokens, makes_regions
from skillgit.editing.matching import fold
from skillgit.editing.splices import Refused, Splice, refuse_frozen
from skillgit.errors import DocumentError
from skillgit.records import Edit, EditOp, Outcome

_BULLET = re.compile(r"[-*+](?:[ \t]+|$)")


class Bullet(NamedTuple):
    """A bullet with its further lines, and where it stands, without its last line end."""

    start: int
    end: int
    text: str

    @property
    def key(self) -> str:
        """What it is compared by: its words, folded, without regard to case."""
        return _key(self.text)


def plan_bullet(document: Document, edit: Edit, region: Region) -> Splice | Document:
    """What an edit does to the bullets of a region.

    Raises: Refused, when it does nothing.
    """
    span = document.layout.region(region)
    if edit.operation.brings_content:
        _refuse_broken(as_bullets(edit.content))
    if span is None:
        if edit.op is not EditOp.ADD or edit.anchor.strip():
            raise Refused(Outcome.ANCHOR_MISSING)
        return _with_region(document, region, as_bullets(edit.content))
    bullets = find_bullets(document.text, span.inner_start, span.inner_end)
    if edit.op is EditOp.ADD:
        splice = _plan_add(document.text, span, bullets, edit)
    else:
        splice = _plan_change(bullets, edit)
    refuse_frozen(document.layout, splice.start, splice.end, inside=region)
    return splice


def as_bullets(content: str) -> str:
    """The content as bullets: a mark before it unless it has one, further lines indented.

    The words are kept as they are: `--no-verify …` becomes `- --no-verify …`.
    """
    content = content[len(content) - len(content.lstrip()) :]
    if not _BULLET.match(content):
        return "- " + _indented(content)
    parts = re.split(r"\n(?=[-*+][ \t])", content)
    return "\n".join(part if _hangs_together(part) else _indented(part) for part in parts)


def _indented(content: str) -> str:
    first, *rest = content.split("\n")
    return "\n".join([first, *("  " + line if line.strip() else line for line in rest)])


def _hangs_together(bullet: str) -> bool:
    return all(not line.strip() or line[0] in " \t" for line in bullet.split("\n")[1:])


def find_bullets(text: str, start: int, end: int) -> list[Bullet]:
    """The bullets at the margin of a stretch of text that begins and ends between lines."""
    bullets: list[Bullet] = []
    opened: int | None = None
    last = offset = start
    for line in text[start:end].split("\n"):
        begins = _BULLET.match(line) is not None
        if opened is not None and (begins or (line.strip() and line[0] not in " \t")):
            bullets.append(Bullet(opened, last, text[opened:last]))
            opened = None
        if begins:
            opened = offset
        if line.strip():
            last = offset + len(line)
        offset += len(line) + 1
    if opened is not None:
        bullets.append(Bullet(opened, last, text[opened:last]))
    return bullets


def _key(bullet: str) -> str:
    return fold(_BULLET.sub("", bullet, count=1)).casefold()


def _plan_add(text: str, span: RegionSpan, bullets: list[Bullet], edit: Edit) -> Splice:
    known = {bullet.key for bullet in bullets}
    content = as_bullets(edit.content)
    fresh = [b.text for b in find_bullets(content, 0, len(content)) if b.key not in known]
    if not fresh:
        raise Refused(Outcome.DUPLICATE)
    outcome = Outcome.APPLIED
    if edit.anchor.strip():
        bullet, outcome = _named(bullets, edit.anchor)
        place = bullet.end + 1
    else:
        inner = text[span.inner_start : span.inner_end].rstrip()
        place = text.index("\n", span.inner_start + len(inner)) + 1 if inner else span.inner_start
    return Splice(place, place, "".join(line + "\n" for line in fresh), outcome)


def _plan_change(bullets: list[Bullet], edit: Edit) -> Splice:
    bullet, outcome = _named(bullets, edit.anchor)
    if not edit.operation.brings_content:
        return Splice(bullet.start, bullet.end + 1, "", outcome)
    content = as_bullets(edit.content)
    if content == bullet.text:
        raise Refused(Outcome.NOOP)
    if any(other.key == _key(content) for other in bullets if other is not bullet):
        raise Refused(Outcome.DUPLICATE)
    return Splice(bullet.start, bullet.end, content, outcome)


def _named(bullets: list[Bullet], anchor: str) -> tuple[Bullet, Outcome]:
    """The one bullet that an anchor is a part of."""
    anchor = anchor.strip()
    wanted = _key(anchor) or fold(anchor).casefold()
    fitting = [bullet for bullet in bullets if wanted in bullet.key]
    if not fitting:
        raise Refused(Outcome.ANCHOR_MISSING)
    if len(fitting) > 1:
        raise Refused(Outcome.ANCHOR_AMBIGUOUS, len(fitting))
    exact = anchor in fitting[0].text
    return fitting[0], Outcome.APPLIED if exact else Outcome.APPLIED_NORMALIZED


def _refuse_broken(bullets: str) -> None:
    if makes_regions(bullets):
        raise Refused(Outcome.PROTECTED)
    if any(not fence.closed for fence in analyse(bullets).fences):
        raise Refused(Outcome.FENCE)


def _with_region(document: Document, region: Region, bullets: str) -> Document:
    """The document with the region made at its end: no line more than it takes to be read as one."""
    tokens = block_tokens(document.text)
    in_html = bool(tokens) and tokens[-1].type == "html_block"
    try:
        return Document.parse(replace_region(document, region, bullets, apart=in_html))
    except DocumentError as error:
        raise Refused(Outcome.FENCE) from error
