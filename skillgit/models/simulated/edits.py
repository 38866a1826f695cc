"""What an edit looks like, in the optimizer's answers and where a prompt shows edits.

The one place that knows the fields of an edit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from pydantic import JsonValue

from skillgit.models.simulated.prompt_reading import View, json_values, without_regions

_NO_LINE = 9_999
_EDIT_LINE = re.compile(r"^(?P<index>\d+): (?P<edit>\{.*\})$", re.MULTILINE)


@dataclass(frozen=True)
class Proposal:
    """An edit before it is written down, with the failures behind it."""

    op: str
    content: str = ""
    anchor: str = ""
    rationale: str = ""
    task_ids: tuple[str, ...] = ()

    def as_json(self, view: View) -> dict[str, JsonValue]:
        """The edit as the answer carries it; an idea that answers no reason claims the first."""
        tasks = set(self.task_ids)
        behind = [f.reasons for f in view.failures if f.task_id in tasks]
        named = dict.fromkeys(reason for reasons in behind for reason in reasons)
        own = [n for reason, n in view.reason_numbers.items() if reason in self.rationale]
        reasons = own or [view.reason_numbers[r] for r in named if r in view.reason_numbers] or [1]
        line = view.line_numbers.get(self.anchor, _NO_LINE) if self.anchor else 0
        return {
            "op": self.op,
            "line": line,
            "text": self.content,
            "reasons": [*reasons],
            "attempts": [1],
        }


@dataclass(frozen=True)
class ShownEdit:
    """An edit shown in a prompt, under its index."""

    index: int
    fields: dict[str, JsonValue] = field(hash=False)

    @property
    def meaning(self) -> tuple[str, str, str]:
        """What makes two edits say the same."""
        op, anchor, content = (_folded(self.fields.get(k)) for k in ("op", "anchor", "content"))
        return op, anchor, content

    @property
    def support(self) -> int:
        """How many trajectories stand behind it, as shown."""
        support = self.fields.get("support_count")
        return support if isinstance(support, int) else 1

    @property
    def proposal(self) -> Proposal:
        """What it would change."""
        op, content, anchor = (str(self.fields.get(k) or "") for k in ("op", "content", "anchor"))
        return Proposal(op, content, anchor)


def edits_in(text: str) -> list[ShownEdit]:
    """The edits that a prompt shows as numbered lines of JSON."""
    return [
        ShownEdit(int(line["index"]), value)
        for line in _EDIT_LINE.finditer(text)
        for value in json_values(line["edit"])
        if isinstance(value, dict) and isinstance(value.get("op"), str)
    ]


def changed(document: str, proposals: Iterable[Proposal]) -> str:
    """The document's prose after the proposals; empty when nothing of it changes."""
    before = without_regions(document).rstrip()
    lines = before.splitlines()
    for proposal in proposals:
        if proposal.op == "add":
            gap = [] if lines and lines[-1].startswith("- ") else [""]
            lines += [*gap, *proposal.content.splitlines()]
        elif proposal.anchor in lines:
            place = lines.index(proposal.anchor)
            new = proposal.content.splitlines() if proposal.op == "replace" else []
            lines[place : place + 1] = new
    text = "\n".join(lines)
    return "" if text == before else text


def _folded(value: JsonValue) -> str:
    return " ".join(str(value or "").casefold().split()).rstrip(".")
