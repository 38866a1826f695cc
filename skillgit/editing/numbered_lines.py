"""A skill as it is shown with numbered lines, and the anchor that a number stands for. Pure.

A model names a line by its number, which it cannot misspell; the record of the edit keeps the
anchor, which is what a replay elsewhere can find again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from skillgit.editing.document import Document, Region
from skillgit.editing.layout import line_end
from skillgit.editing.matching import LIST_MARK, find_anchor, is_list_item
from skillgit.editing.splices import frozen
from skillgit.errors import DocumentError
from skillgit.records import Edit, EditOp, Skill

_HEADING = re.compile(r" {0,3}#{1,6}[ \t]")
_INDENT = re.compile(r"[ \t]*")
_SHOWN_NUMBER = re.compile(r"^[ \t]*\d{1,5} \| ", re.MULTILINE)
_WRAPPER = re.compile(r"\A\s*(`{3,}|~{3,})(?:text|markdown|md)?[ \t]*\n(.*?)\n?\1\s*\Z", re.DOTALL)


@dataclass(frozen=True)
class Line:
    """A line that edits may name: its document, and where it stands in that document's text."""

    path: str
    start: int
    end: int


@dataclass(frozen=True)
class NumberedSkill:
    """The documents of a skill with a number before every line that edits may name.

    With a `region`, only the lines inside it have numbers, and of the first document alone.
    """

    skill: Skill
    region: Region | None = None

    @cached_property
    def _texts(self) -> dict[str, Document]:
        return {d.path: _parsed(d.data) for d in self.skill.documents}

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """The lines in their order; the first has the number 1."""
        found: list[Line] = []
        for path, document in self._texts.items():
            if self.region is not None and path != self.skill.main.path:
                continue
            start, text = 0, document.text
            while start <= len(text):
                end = line_end(text, start)
                if text[start:end].strip() and self._is_open(document, start, end):
                    found.append(Line(path, start, end))
                start = end + 1
        return tuple(found)

    def _is_open(self, document: Document, start: int, end: int) -> bool:
        if self.region is not None:
            span = document.layout.region(self.region)
            inside = span is not None and span.inner_start <= start and end <= span.inner_end
            return inside and is_list_item(document.text[start:end])
        return frozen(document.layout, start, end) is None and not any(
            fence.start <= start < fence.end for fence in document.layout.fences
        )

    def shown(self, path: str) -> str:
        """A document's text with the numbers of its lines in front."""
        text = self._texts[path].text
        numbers = {
            line.start: number for number, line in enumerate(self.lines, 1) if line.path == path
        }
        width = len(str(len(self.lines)))
        shown: list[str] = []
        start = 0
        while start <= len(text):
            end = line_end(text, start)
            shown.append(f"{numbers.get(start, ''):>{width}} | {text[start:end]}".rstrip())
            start = end + 1
        return "\n".join(shown).rstrip()

    def edit(self, op: EditOp, number: int, content: str) -> Edit:
        """The edit that a number and a text mean, with the anchor that finds the line again.

        An `add` below a number that no line has goes where it fits best; the anchor of any other
        operation is then one that is not found. The content takes on the line's own form.
        """
        line = self.lines[number - 1] if 1 <= number <= len(self.lines) else None
        content = unwrapped(content)
        if line is None:
            return self._without_line(op, number, content)
        text = self._texts[line.path].text
        own = text[line.start : line.end]
        if self.region is not None:
            if op is EditOp.ADD:
                return self._without_line(op, 0, content)
            return Edit(op=op, target=line.path, anchor=_words(own), content=content)
        start = self._unique_from(line)
        anchor, above = text[start : line.end], text[start : line.start]
        if op is not EditOp.DELETE and not content.strip():
            return Edit(op=op, target=line.path, anchor=anchor)
        match op:
            case EditOp.ADD:
                content = _in_form_of(own, content, adding=True)
            case EditOp.REPLACE:
                content = above + _in_form_of(own, content, adding=False)
            case EditOp.DELETE:
                if above:
                    op, content = EditOp.REPLACE, above.removesuffix("\n")
                else:
                    content = ""
        return Edit(op=op, target=line.path, anchor=anchor, content=content)

    def _without_line(self, op: EditOp, number: int, content: str) -> Edit:
        path = self.skill.main.path
        if op is not EditOp.ADD:
            return Edit(op=op, target=path, anchor=f"line {number}", content=content)
        is_rule = bool(content.strip()) and _is_one_line(content)
        if self.region is None and is_rule and self._rules_are_bullets(path):
            content = _in_form_of("- ", content, adding=True)
        return Edit(op=op, target=path, content=content)

    def _rules_are_bullets(self, path: str) -> bool:
        text = self._texts[path].text
        own = (text[line.start : line.end] for line in self.lines if line.path == path)
        body = [line for line in own if not _HEADING.match(line)]
        return not body or any(is_list_item(line) for line in body)

    def _unique_from(self, line: Line) -> int:
        """Where an anchor for a line begins so that it occurs once: a line or more above it."""
        text = self._texts[line.path].text
        above = [o.start for o in self.lines if o.path == line.path and o.start < line.start]
        for start in (line.start, *reversed(above[-8:])):
            span = text[start : line.end]
            is_open = frozen(self._texts[line.path].layout, start, line.end) is None
            if is_open and len(find_anchor(text, span)) == 1:
                return start
        return line.start


def reworded(edit: Edit, text: str) -> Edit:
    """The edit with another wording at its place, in the form that its own words have."""
    above = ""
    if edit.op is EditOp.REPLACE:
        start = edit.anchor[: edit.anchor.rfind("\n") + 1]
        above = start if edit.content.startswith(start) else ""
    own = edit.content[len(above) :]
    content = above + _in_form_of(own, unwrapped(text), adding=False)
    return edit.model_copy(update={"content": content})


def unwrapped(content: str) -> str:
    """A text without the fence and the line numbers that it was shown in and copied with."""
    wrapper = _WRAPPER.match(content)
    bare = wrapper[2] if wrapper else content
    return _SHOWN_NUMBER.sub("", bare)


def _parsed(data: bytes) -> Document:
    try:
        return Document.parse(data)
    except DocumentError:
        return Document.parse(b"")


def _words(line: str) -> str:
    """A bullet's words without its mark."""
    return LIST_MARK.sub("", line, count=1).strip()


def _is_one_line(text: str) -> bool:
    return "\n" not in text.strip("\n")


def _in_form_of(line: str, content: str, *, adding: bool) -> str:
    """The content as a line of the same kind: with its bullet, number or heading mark, if it has one."""
    mark = LIST_MARK.match(line)
    indent = _INDENT.match(line)
    lead = indent[0] if indent else ""
    bare = content.strip("\n")
    if mark and is_list_item(line):
        bare = bare.lstrip()
        if not is_list_item(bare) and not _HEADING.match(bare):
            bare = _next(mark[1], adding=adding) + bare
        return "\n".join(lead + part if part else part for part in bare.split("\n"))
    if not adding and (heading := _HEADING.match(line)) and not _HEADING.match(bare):
        return heading[0] + bare.lstrip()
    return bare


def _next(mark: str, *, adding: bool) -> str:
    digits = re.match(r"\d+", mark)
    if digits is None or not adding:
        return mark
    return f"{int(digits[0]) + 1}{mark[digits.end() :]}"
