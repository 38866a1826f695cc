"""A version's diff read into hunks, each beside the edits that made it.

The one module that knows unidiff.
"""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Sequence

from unidiff.errors import UnidiffParseError
from unidiff.patch import Hunk as DiffHunk
from unidiff.patch import PatchSet

from skillgit.errors import RepositoryError
from skillgit.records import EditOutcome, Record
from skillgit.records.skills import path_meant

_QUOTES = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"'})


class Hunk(Record):
    """A connected change of one document; `lines` as in a unified diff, with their first sign."""

    path: str
    old_start: int
    old_length: int
    new_start: int
    new_length: int
    lines: tuple[str, ...]

    @property
    def header(self) -> str:
        """The line that says where, as git writes it."""
        old = f"-{self.old_start},{self.old_length}"
        return f"@@ {old} +{self.new_start},{self.new_length} @@"

    @property
    def added(self) -> tuple[str, ...]:
        """The lines that are new, without their sign."""
        return tuple(line[1:] for line in self.lines if line.startswith("+"))

    @property
    def removed(self) -> tuple[str, ...]:
        """The lines that are gone, without their sign."""
        return tuple(line[1:] for line in self.lines if line.startswith("-"))


class AttributedHunk(Record):
    """A hunk with the edits that made it, in the order in which they were tried.

    Shape: `last_lines` has one index into the hunk's lines for each edit: where its text ends.
    """

    hunk: Hunk
    edits: tuple[EditOutcome, ...]
    last_lines: tuple[int, ...]


def read_hunks(diff: str) -> tuple[Hunk, ...]:
    """The hunks of a unified diff.

    Shape: in the order of the diff.
    Raises: RepositoryError when the text is no unified diff.
    """
    try:
        # A carriage return belongs to its line: only line feeds end one.
        files = PatchSet(io.StringIO(diff, newline="\n"))
    except UnidiffParseError as error:
        raise RepositoryError(f"git's diff could not be read: {error}") from error
    return tuple(_hunk(file.path, hunk) for file in files for hunk in file)


def attribute(
    hunks: Sequence[Hunk], outcomes: Sequence[EditOutcome], *, main_path: str
) -> tuple[AttributedHunk, ...]:
    """Each hunk with the edits whose text stands in it.

    Shape: one for each hunk, in order. An edit that a later one overwrote is in none.
    """
    applied = [outcome for outcome in outcomes if outcome.outcome.changed_text]
    return tuple(_attributed(hunk, applied, main_path) for hunk in hunks)


def _attributed(hunk: Hunk, applied: Sequence[EditOutcome], main_path: str) -> AttributedHunk:
    made = tuple(o for o in applied if _made(o, hunk, main_path=main_path))
    return AttributedHunk(
        hunk=hunk, edits=made, last_lines=tuple(_last_line(o, hunk) for o in made)
    )


def _last_line(outcome: EditOutcome, hunk: Hunk) -> int:
    """The line of the hunk that an edit's text ends on; the hunk's last where it is not plain."""
    edit = outcome.edit
    sign, text = ("+", edit.content) if edit.operation.brings_content else ("-", edit.anchor)
    wanted = folded(text.strip().rpartition("\n")[2])
    for index, line in enumerate(hunk.lines):
        if line.startswith(sign) and wanted in folded(line[1:]):
            return index
    return len(hunk.lines) - 1


def _hunk(path: str, hunk: DiffHunk) -> Hunk:
    return Hunk(
        path=path,
        old_start=hunk.source_start,
        old_length=hunk.source_length,
        new_start=hunk.target_start,
        new_length=hunk.target_length,
        lines=tuple(str(line).rstrip("\r\n") for line in hunk),
    )


def _made(outcome: EditOutcome, hunk: Hunk, *, main_path: str) -> bool:
    edit = outcome.edit
    if hunk.path != path_meant(edit.target, main_path):
        return False
    added, removed = folded("\n".join(hunk.added)), folded("\n".join(hunk.removed))
    does = edit.operation
    if does.brings_content and folded(edit.content) not in added:
        return False
    if does.takes_out_anchor:
        return folded(edit.anchor) in removed
    return bool(edit.content.strip())


def folded(text: str) -> str:
    """A text's words with plain quotes and single blanks, to tell whether it is the same text."""
    return " ".join(unicodedata.normalize("NFC", text).translate(_QUOTES).split())
