"""What the simulated optimizer can see in a prompt: the skill, the failures, and edits shown.

It goes by the structure that the stages give their data (fences, headings, JSON), never by the
words a prompt puts around it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import cast

from pydantic import JsonValue

_FENCED = r"\n\n(?P<fence>`{3,})text\n(?P<body>.*?)\n(?P=fence)$"
_DOCUMENT = re.compile(rf"^`(?P<path>[^`\n]+)`{_FENCED}", re.MULTILINE | re.DOTALL)
_TRAJECTORY = re.compile(
    rf"^### Task `(?P<id>[^`\n]+)`\n\n[^\n]*{_FENCED}", re.MULTILINE | re.DOTALL
)
_WHY = re.compile(r"\A\[[^\]\n]+\]\n(?P<reasons>.+?)(?:\n\n|\Z)", re.DOTALL)
_PAIR = re.compile(
    r"^### Task `(?P<id>[^`\n]+)`: [^\n]*\n\n#### [^\n]*\n\n(?P<before>Passed|Failed)[^\n]*"
    r"\n\n(?P<first>`{3,})text\n.*?\n(?P=first)\n\n#### [^\n]*\n\n(?P<now>Passed|Failed)[^\n]*"
    rf"{_FENCED}",
    re.MULTILINE | re.DOTALL,
)
_DRAFT = re.compile(rf"^### Draft \d+{_FENCED}", re.MULTILINE | re.DOTALL)
_FENCE = re.compile(_FENCED, re.MULTILINE | re.DOTALL)
_GUIDANCE = re.compile(
    r"^<!-- SLOW_UPDATE_START -->\n(?P<lines>.*?)^<!-- SLOW_UPDATE_END -->",
    re.MULTILINE | re.DOTALL,
)
_REGION = re.compile(
    r"^<!-- [\w:-]+[ _]START -->\n.*?^<!-- [\w:-]+[ _]END -->", re.MULTILINE | re.DOTALL
)
_BETWEEN_REASONS = re.compile(r";\s+(?=(?:[^\"]*\"[^\"]*\")*[^\"]*\Z)")
_ANY_FENCE = re.compile(r"^(?P<fence>`{3,})text\n.*?\n(?P=fence)$", re.MULTILINE | re.DOTALL)
_KIND = re.compile(
    r"(?i)\b(?:write|draft|prepare|compose|make)\s+(?:an?|the|some)\s+(?:[a-z-]+ ){0,3}?"
    r"(?P<kind>[a-z]{3,})\s+(?:on|about|for|of|to|that)\b"
)
_TRIED = re.compile(r"^\s*\d+\. \[(?:add|delete|replace)\] (?P<edit>.*)$", re.MULTILINE)
_TRIED_TEXT = re.compile(r"\"(?:\\.|[^\"\\])*\"")
_BUDGET = re.compile(r"\b(?P<n>\d+) edits?\b")
_EDIT_LINE = re.compile(r"^(?P<index>\d+): (?P<edit>\{.*\})$", re.MULTILINE)
_JSON_START = re.compile(r"[{\[]\s*[{\"]")
_BULLET = re.compile(r"\s*[-*+] \S")

USUAL_BUDGET = 4


@dataclass(frozen=True)
class Failure:
    """A trajectory that failed, and what for; `kind` is the kind of text that was asked for."""

    task_id: str
    reasons: tuple[str, ...]
    kind: str = ""


@dataclass(frozen=True)
class View:
    """What an analyst's prompt shows; `tried` are the texts of edits that were rejected."""

    path: str = ""
    skill: str = ""
    failures: tuple[Failure, ...] = ()
    tried: frozenset[str] = frozenset()
    budget: int = USUAL_BUDGET

    @property
    def bullets(self) -> tuple[str, ...]:
        """The skill's bullets, as they stand."""
        return tuple(
            line for line in without_regions(self.skill).splitlines() if _BULLET.match(line)
        )


@dataclass(frozen=True)
class Pair:
    """One task attempted twice: what the later attempt failed for, if it did."""

    task_id: str
    passed: bool
    passes: bool
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Look:
    """What a look back shows: two skills, and the same tasks with both."""

    skill_before: str = ""
    skill: str = ""
    pairs: tuple[Pair, ...] = ()

    @property
    def guidance(self) -> tuple[str, ...]:
        """The lines of the guidance that the later skill carries, without their bullets."""
        region = _GUIDANCE.search(self.skill)
        return tuple(filter(None, map(plain, region["lines"].splitlines()))) if region else ()


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


def read_view(text: str) -> View:
    """What a prompt shows an analyst; of the documents, the first."""
    document = _DOCUMENT.search(text)
    around = _ANY_FENCE.sub("", text)
    budget = _BUDGET.search(around)
    return View(
        path=document["path"] if document else "",
        skill=document["body"] if document else "",
        failures=tuple(_failures(text)),
        tried=frozenset(tried_in(text)),
        budget=int(budget["n"]) if budget else USUAL_BUDGET,
    )


def _failures(text: str) -> Iterator[Failure]:
    for trajectory in _TRAJECTORY.finditer(text):
        why = _WHY.match(trajectory["body"])
        if why:
            reasons = [part.strip() for part in _BETWEEN_REASONS.split(why["reasons"])]
            kind = _KIND.search(trajectory["body"], why.end())
            yield Failure(
                trajectory["id"],
                tuple(dict.fromkeys(filter(None, reasons))),
                kind["kind"].lower() if kind else "",
            )


def read_look(text: str) -> Look:
    """What a prompt shows of two skills, the earlier first."""
    documents = [found["body"] for found in _DOCUMENT.finditer(text)]
    half = len(documents) // 2
    if not documents:
        return Look()
    return Look(documents[0], documents[half], tuple(_pairs(text)))


def _pairs(text: str) -> Iterator[Pair]:
    for found in _PAIR.finditer(text):
        why = None if found["now"] == "Passed" else _WHY.match(found["body"])
        reasons = _BETWEEN_REASONS.split(why["reasons"]) if why else []
        yield Pair(
            found["id"],
            found["before"] == "Passed",
            found["now"] == "Passed",
            tuple(dict.fromkeys(filter(None, map(str.strip, reasons)))),
        )


def bullets_of(skill: str) -> tuple[str, ...]:
    """The bullets of a document outside protected regions, without their marks."""
    return tuple(map(plain, View(skill=skill).bullets))


def without_regions(document: str) -> str:
    """A document without its protected regions."""
    return _REGION.sub("", document)


def drafts_in(text: str) -> list[str]:
    """The documents that a prompt shows as drafts."""
    return [found["body"] for found in _DRAFT.finditer(text)]


def notes_in(text: str) -> tuple[str, ...]:
    """The notes that a prompt shows in its last fence."""
    fences = [found["body"] for found in _FENCE.finditer(text)]
    return tuple(line for line in (fences or [""])[-1].splitlines() if _BULLET.match(line))


def tried_in(text: str) -> Iterator[str]:
    """The texts of edits that a prompt shows as tried in vain."""
    for line in _TRIED.finditer(_ANY_FENCE.sub("", text)):
        for quoted in _TRIED_TEXT.findall(line["edit"]):
            yield plain(json.loads(quoted, strict=False))


def plain(content: str) -> str:
    """A line of a skill without its bullet."""
    return content.strip().removeprefix("- ").strip()


def edits_in(text: str) -> list[ShownEdit]:
    """The edits that a prompt shows as numbered lines of JSON."""
    return [
        ShownEdit(int(line["index"]), value)
        for line in _EDIT_LINE.finditer(text)
        for value in json_values(line["edit"])
        if isinstance(value, dict) and isinstance(value.get("op"), str)
    ]


def json_values(text: str) -> Iterator[JsonValue]:
    """The JSON objects and lists of objects in a text, outermost ones only, in order."""
    decoder, place = json.JSONDecoder(), 0
    while start := _JSON_START.search(text, place):
        try:
            value, place = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            place = start.start() + 1
            continue
        yield cast("JsonValue", value)


def _folded(value: JsonValue) -> str:
    return " ".join(str(value or "").casefold().split()).rstrip(".")
