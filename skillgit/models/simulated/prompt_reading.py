"""What the simulated optimizer can see in a prompt: the skill and its failures.

It goes by the structure that the stages give their data (fences, headings, JSON), never by the
words a prompt puts around it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

from pydantic import JsonValue

_FENCED = r"\n\n(?P<fence>`{3,})text\n(?P<body>.*?)\n(?P=fence)$"
_DOCUMENT = re.compile(rf"^`(?P<path>[^`\n]+)`{_FENCED}", re.MULTILINE | re.DOTALL)
_TRAJECTORY = re.compile(
    rf"^### Task `(?P<id>[^`\n]+)`\n\n(?P<told>[^\n]*){_FENCED}", re.MULTILINE | re.DOTALL
)
_FELL_SHORT = re.compile(r"^Answer \d+: fell short \((?P<numbers>[\d, ]+)\)")
_REASON = re.compile(r"^(?P<number>\d+)\. \(\d+ of \d+ answers\) (?P<reason>.+)$", re.MULTILINE)
_NUMBERED_LINE = re.compile(r" *(?P<number>\d*) \|(?: (?P<line>.*))?")
_WHY = re.compile(r"\A\[[^\]\n]+\]\n(?P<reasons>.+?)(?:\n\n|\Z)", re.DOTALL)
_PAIR = re.compile(
    r"^### Task `[^`\n]+`: [^\n]*\n\n#### [^\n]*\n\n(?:Passed|Failed)[^\n]*"
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
    """What an analyst's prompt shows; `tried` are the texts of edits that were rejected.

    `line_numbers` are those of the skill's lines, `reason_numbers` those of the listed reasons.
    """

    path: str = ""
    line_numbers: Mapping[str, int] = field(default_factory=dict, hash=False)
    reason_numbers: Mapping[str, int] = field(default_factory=dict, hash=False)
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


def read_view(text: str) -> View:
    """What a prompt shows an analyst; of the documents, the first."""
    document = _DOCUMENT.search(text)
    around = _ANY_FENCE.sub("", text)
    budget = _BUDGET.search(around)
    skill, line_numbers = _without_numbers(document["body"] if document else "")
    reasons = {found["reason"]: int(found["number"]) for found in _REASON.finditer(around)}
    return View(
        path=document["path"] if document else "",
        skill=skill,
        line_numbers=line_numbers,
        reason_numbers=reasons,
        failures=tuple(_failures(text, {number: reason for reason, number in reasons.items()})),
        tried=frozenset(tried_in(text)),
        budget=int(budget["n"]) if budget else USUAL_BUDGET,
    )


def _without_numbers(body: str) -> tuple[str, dict[str, int]]:
    """A document's text, and the numbers of its lines, where it is shown with numbers."""
    found = [_NUMBERED_LINE.fullmatch(line) for line in body.splitlines()]
    shown = [line for line in found if line is not None]
    if not shown or len(shown) < len(found):
        return body, {}
    numbers: dict[str, int] = {}
    for line in shown:
        if line["number"]:
            numbers.setdefault(line["line"] or "", int(line["number"]))
    return "\n".join(line["line"] or "" for line in shown), numbers


def _failures(text: str, listed: Mapping[int, str]) -> Iterator[Failure]:
    for trajectory in _TRAJECTORY.finditer(text):
        told, why = _FELL_SHORT.match(trajectory["told"]), _WHY.match(trajectory["body"])
        if told:
            kind = _KIND.search(trajectory["body"])
            yield Failure(
                trajectory["id"],
                tuple(listed[int(n)] for n in told["numbers"].split(",") if int(n) in listed),
                kind["kind"].lower() if kind else "",
            )
        elif why:
            kind = _KIND.search(trajectory["body"], why.end())
            yield Failure(
                trajectory["id"],
                _distinct_reasons(why["reasons"]),
                kind["kind"].lower() if kind else "",
            )


def _distinct_reasons(text: str) -> tuple[str, ...]:
    parts = (part.strip() for part in _BETWEEN_REASONS.split(text))
    return tuple(dict.fromkeys(filter(None, parts)))


def skills_in(text: str) -> tuple[str, str]:
    """The earlier and the later skill that a look back shows; empty when it shows none."""
    documents = [found["body"] for found in _DOCUMENT.finditer(text)] or [""]
    return documents[0], documents[len(documents) // 2]


def failing_in(text: str) -> Counter[str]:
    """What tasks fail for with the later skill of a look back, with how many do."""
    reasons: Counter[str] = Counter()
    for found in _PAIR.finditer(text):
        if found["now"] == "Failed" and (why := _WHY.match(found["body"])):
            reasons.update(_distinct_reasons(why["reasons"]))
    return reasons


def guidance_in(skill: str) -> tuple[str, ...]:
    """The lines of the guidance that a skill carries, without their bullets."""
    region = _GUIDANCE.search(skill)
    return tuple(filter(None, map(plain, region["lines"].splitlines()))) if region else ()


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
