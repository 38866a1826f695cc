"""A night's edit as reports and state have it, and what makes two edits say the same. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from skillgit.editing.matching import fold
from skillgit.records import Edit, EditOp

SKILL, MEMORY = "skill", "memory"
_MARK = re.compile(r"^\s*[-*+][ \t]+")


class EditRecord(Edit):
    """An edit of a night; its `target` is `skill` or `memory`."""

    @property
    def words(self) -> str:
        """What it says, without a bullet's mark; of a replacement, both texts."""
        text = _MARK.sub("", self.content or self.anchor)
        return f"{self.anchor} → {text}" if self.op is EditOp.REPLACE else text


def as_record(edit: Edit, memory: str | None) -> EditRecord:
    """The edit under its document's alias."""
    alias = MEMORY if edit.target == memory else SKILL
    return EditRecord.model_validate({**edit.model_dump(), "target": alias})


def meaning(edit: Edit) -> tuple[str, str, str, str]:
    """What two edits have in common when they say the same of the same document."""
    return (edit.target, edit.op.value, _folded(edit.anchor), _folded(edit.content))


def says_any(edit: Edit, others: Sequence[Edit], *, anywhere: bool = False) -> bool:
    """Whether an edit says the same as one of others, be it of another document or not."""
    start = 1 if anywhere else 0
    return meaning(edit)[start:] in {meaning(other)[start:] for other in others}


def _folded(text: str) -> str:
    return fold(_MARK.sub("", text)).casefold()
