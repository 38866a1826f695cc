"""Foreign text as it stands in a prompt: fenced, so that nothing in it can pass for the prompt's.

Shared by the stages that ask the optimizer. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from skillgit.records import Edit, Skill, SkillDocument
from skillgit.records.canonical import canonical_json

NOTHING_YET = "Nothing yet."

_BACKTICKS = re.compile(r"`{3,}")


def fenced(text: str) -> str:
    """The text in a code fence longer than any run of backticks inside it."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}text\n{text.rstrip()}\n{fence}"


def cut(text: str, max_chars: int) -> str:
    """The text, or its head and tail with the number of characters cut between them.

    Unit: `max_chars` in characters, of head and tail together.
    """
    if len(text) <= max_chars:
        return text
    head = (max_chars + 1) // 2
    tail = max_chars - head
    gone = len(text) - max_chars
    return f"{text[:head]}\n[… {gone} characters cut here …]\n{text[len(text) - tail :]}"


def on_one_line(text: str, max_chars: int) -> str:
    """The text with every run of white space made one space, and its end cut if it is long."""
    line = " ".join(text.split())
    return line if len(line) <= max_chars else line[: max_chars - 1] + "…"


def shown_skill(skill: Skill) -> str:
    """Every document of the skill under its path, as it stands, in a fence."""
    return "\n\n".join(map(shown_document, skill.documents))


def shown_document(document: SkillDocument) -> str:
    """One document under its path, in a fence."""
    return f"`{document.path}`\n\n{fenced(document.data.decode('utf-8', 'replace'))}"


def shown_edits(edits: Sequence[Edit]) -> str:
    """The edits as lines of JSON, each with its index, evidence and origin."""
    return fenced("\n".join(_edit_line(index, edit) for index, edit in enumerate(edits)))


def _edit_line(index: int, edit: Edit) -> str:
    fields = edit.model_dump(mode="json", exclude={"task_ids"})
    return f"{index}: {canonical_json(fields)}"
