"""The simulated optimizer: fills each field of the schema it is asked with by what the field means.

What is wanted is told by the schema alone, never by a prompt's wording. A new field is a function
and a line in `FIELDS`; what has no line there gets the smallest value that fits.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import cast

from pydantic import JsonValue

from skillgit.models.simulated import catalogue, remedies
from skillgit.models.simulated.chance import pick
from skillgit.models.simulated.edits import ShownEdit, changed, edits_in
from skillgit.models.simulated.exchange import Exchange, exchange_of
from skillgit.models.simulated.obedience import rules_of_line, stated_rules
from skillgit.models.simulated.prompt_reading import (
    bullets_of,
    drafts_in,
    failing_in,
    guidance_in,
    notes_in,
    plain,
    skills_in,
    tried_in,
    without_regions,
)
from skillgit.models.simulated.reflecting import failure_summary, lapses, proposals
from skillgit.models.simulated.schemas import instance, properties
from skillgit.records import ModelReply, ModelRequest

DROPPED_FROM_A_MERGE = 0.03
SWAPPED_IN_A_RANKING = 0.1
MISTAKEN = 0.05
"""How often the guidance holds a line that does harm."""

MOST_GUIDANCE = 5
MENDS_AT_ONCE = 2
MOST_REMEMBERED = 12
MOST_TASKS = 8

_ANSWER = re.compile(r"^={10,}\n(?P<answer>.*)\n={10,}$", re.MULTILINE | re.DOTALL)
_CRITERION = re.compile(r"^- (?P<words>.*\S)\s*$", re.MULTILINE)
_QUOTED = re.compile(r"[\"“]([^\"“”\n]+)[\"”]")
_TURN = re.compile(
    r"^\[(?P<label>s\d+\.\d+) (?P<origin>human|steering|agent|error)\] (?P<text>[^\n]*)$",
    re.MULTILINE,
)
_NAMED = re.compile(r"(?i)\b(?:use|with|run|in|include)\s+[`\"]?(?P<name>[A-Za-z][\w.+-]{1,30})")
_PROPOSED = re.compile(r"^- \[(?:skill|memory)/\w+\] (?P<words>[^\n]*)$", re.MULTILINE)
_DECIDED = re.compile(r"^- Night \d+: (?P<fate>adopted|TURNED DOWN|proposed)", re.MULTILINE)


def answer(request: ModelRequest) -> ModelReply:
    """The optimizer's answer, the smallest that fits where it does not know what a field means."""
    exchange = exchange_of(request)
    if not exchange.schema:
        return ModelReply(text="This is the simulated optimizer; it answers in JSON schemas only.")
    value = exchange.fitted(_filled(exchange))
    if "score" in exchange.fields:  # an unscored task would say nothing about the skill
        return ModelReply(text=json.dumps(value, ensure_ascii=False))
    return ModelReply(text=written(value, exchange))


def _filled(exchange: Exchange) -> dict[str, JsonValue]:
    if not FIELDS.keys() & exchange.fields.keys():
        value = instance(exchange.schema)
        return value if isinstance(value, dict) else {}
    return {
        name: FIELDS[name](exchange) if name in FIELDS else instance(schema, root=exchange.schema)
        for name, schema in exchange.fields.items()
    }


# ── edits and documents ──────────────────────────────────────────────────────────────────────


def _edits(exchange: Exchange) -> JsonValue:
    """A union of the edits shown where each names its sources, else what mends the failures."""
    items = exchange.fields["edits"].get("items")
    if isinstance(items, dict) and "sources" in properties(items, exchange.schema):
        return _merged(exchange)
    return [proposal.as_json(exchange.view) for proposal in proposals(exchange)]


def _rules(exchange: Exchange) -> JsonValue:
    """The additions among what it would propose, each against the fault that it answers."""
    edits = [proposal.as_json(exchange.view) for proposal in proposals(exchange)]
    return [
        {"fault": fault, "rule": edit["text"]}
        for edit in edits
        if edit["op"] == "add"
        for fault in cast("list[JsonValue]", edit["reasons"])[:1]
    ]


def _merged(exchange: Exchange) -> JsonValue:
    """The edits shown, equal ones joined into the first in its own words, each by its indices."""
    groups: dict[tuple[str, str, str], list[ShownEdit]] = {}
    for edit in edits_in(exchange.text):
        groups.setdefault(edit.meaning, []).append(edit)
    return [
        {"sources": [edit.index for edit in group], "text": ""}
        for meaning, group in groups.items()
        if len(groups) == 1 or exchange.luck("drop", *meaning) >= DROPPED_FROM_A_MERGE
    ]


def _ranking(exchange: Exchange) -> JsonValue:
    """The indices of the edits shown, best supported first, with a slip now and then."""
    edits = sorted(edits_in(exchange.text), key=lambda edit: (-edit.support, edit.index))
    order: list[JsonValue] = [edit.index for edit in edits]
    if len(order) > 1 and exchange.luck("swap") < SWAPPED_IN_A_RANKING:
        order[0], order[1] = order[1], order[0]
    return order


def _document(exchange: Exchange) -> JsonValue:
    """The drafts joined, the suggestions followed, or else the skill with what it would edit."""
    skill = exchange.view.skill
    if drafts := drafts_in(exchange.text):
        old, lines = set(without_regions(skill).splitlines()), drafts[0].splitlines()
        for draft in drafts[1:]:
            lines += [line for line in draft.splitlines() if line not in old and line not in lines]
        return "\n".join(lines)
    if edits := edits_in(exchange.text):
        return changed(skill, [edit.proposal for edit in edits]) or skill
    return changed(skill, proposals(exchange))


def _notes(exchange: Exchange) -> JsonValue:
    """The notes that were left last, half of what there was."""
    notes = list(dict.fromkeys(map(plain, notes_in(exchange.text))))
    return [*notes[-max(1, len(notes) // 2) :]]


# ── looking back ─────────────────────────────────────────────────────────────────────────────


def _guidance(exchange: Exchange) -> JsonValue:
    """What still helps of the previous guidance, and what mends failures that are left."""
    skill, failing = skills_in(exchange.text)[1], failing_in(exchange.text)
    kept = [line for line in guidance_in(skill) if not _is_blamed(line, failing)]
    fresh = _missing(failing, "\n".join([skill, *kept]))[:MENDS_AT_ONCE]
    if exchange.luck("mistaken") < MISTAKEN:
        fresh.append(pick(catalogue.CONFLICTING, exchange.identity, "mistake"))
    lines = [*kept, *fresh][-MOST_GUIDANCE:] or ["Keep to all of the rules at once."]
    return "\n".join(f"- {line}" for line in lines)


def _is_blamed(line: str, failing: Counter[str]) -> bool:
    """Whether a line may be why tasks fail: it undoes others, or asks for what is unwanted."""
    if not failing:
        return False
    if any(stated.rule.name in catalogue.OBSTACLES for stated in rules_of_line(line)):
        return True
    unwanted = (text for reason in failing for text in remedies.forbidden_texts(reason))
    return any(
        len(text) > 2 and text.casefold() in line.casefold() and not remedies.forbids(line)
        for text in unwanted
    )


def _missing(failing: Counter[str], text: str) -> list[str]:
    """Lines that mend what fails most and that the text does not state yet."""
    stated = {stated.key for stated in stated_rules(text)}
    lines: dict[str, None] = {}
    for reason, _ in failing.most_common():
        for line in remedies.mends(reason):
            rules = rules_of_line(line)
            if rules and not all(rule.key in stated for rule in rules):
                lines[line] = None
    return list(lines)


def _memory(exchange: Exchange) -> JsonValue:
    """What came in, what went, what was tried in vain, what still fails; or what nights made."""
    if exchange.title == "SlowMemory":
        return _memory_of_nights(exchange.text)
    before, now = map(bullets_of, skills_in(exchange.text))
    tried = list(dict.fromkeys(tried_in(exchange.text)))[-MOST_REMEMBERED:]
    failing = failing_in(exchange.text).most_common(3)
    lines = ["Edits that answer a reason of a failure hold; ideas that no failure asks for do not."]
    lines += [f"Came in and stayed: {line}" for line in now if line not in before][:3]
    lines += [f"Was taken out: {line}" for line in before if line not in now][:3]
    lines += [f"Fails still ({count}): {reason}" for reason, count in failing]
    lines += ["Tried without success:"] if tried else []
    lines += [
        f"    {number}. [add] {json.dumps(line, ensure_ascii=False)}"
        for number, line in enumerate(tried, 1)
    ]
    return "\n".join(lines)


def _memory_of_nights(text: str) -> str:
    proposed = dict.fromkeys(found["words"] for found in _PROPOSED.finditer(text))
    fates = Counter(found["fate"] for found in _DECIDED.finditer(text))
    lines = [
        "Rules that answer what a person said come through; ideas that nobody asked for do not."
    ]
    lines += [f"{fate}: {count}" for fate, count in sorted(fates.items())]
    lines += [f"Tried tonight: {words}" for words in proposed][:MOST_REMEMBERED]
    return "\n".join(lines)


def _supported(exchange: Exchange) -> int:
    return sum(edit.support > 1 for edit in edits_in(exchange.text))


def _learning_rate(exchange: Exchange) -> JsonValue:
    """As many edits as have more than one trajectory behind them, and now and then one more."""
    bold = exchange.luck("bold") < 0.5
    return min(len(edits_in(exchange.text)), _supported(exchange) + bold)


def _risk_notes(exchange: Exchange) -> JsonValue:
    return [] if _supported(exchange) else ["no edit has more than one attempt behind it"]


# ── judging and mining ───────────────────────────────────────────────────────────────────────


def _criteria(exchange: Exchange) -> tuple[int, list[str]]:
    """How many criteria quote something, and those whose quoted words the answer does not have."""
    found = _ANSWER.search(exchange.text)
    shown = found["answer"].casefold() if found else ""
    asked = exchange.text[: found.start()] if found else exchange.text
    criteria = [
        line["words"] for line in _CRITERION.finditer(asked) if _QUOTED.search(line["words"])
    ]
    missed = [
        words
        for words in criteria
        if any(q.casefold() not in shown for q in _QUOTED.findall(words))
    ]
    return len(criteria), missed


def _score(exchange: Exchange) -> JsonValue:
    criteria, missed = _criteria(exchange)
    return 1 - len(missed) / criteria if criteria else 1.0


def _reason(exchange: Exchange) -> JsonValue:
    return "; ".join(f"not met: {words}" for words in _criteria(exchange)[1])


def _tasks(exchange: Exchange) -> JsonValue:
    """A task for every request that the person came back to, checked by what they named then."""
    requests: dict[str, re.Match[str]] = {}
    tasks: list[JsonValue] = []
    for turn in _TURN.finditer(exchange.text):
        if turn["origin"] in ("agent", "error"):
            continue
        request = requests.setdefault(turn["label"].partition(".")[0], turn)
        if request is not turn and len(tasks) < MOST_TASKS:
            tasks.append(_task(request, turn))
    return tasks


def _task(request: re.Match[str], correction: re.Match[str]) -> dict[str, JsonValue]:
    named = _NAMED.search(correction["text"])
    checks: list[JsonValue] = []
    if named:
        checks = [{"op": "contains", "arg": named["name"], "hint": correction["text"]}]
    return {
        "prompt": request["text"],
        "checks": checks,
        "criteria": [] if named else [f"It heeds this: {correction['text']}"],
        "evidence": [request["label"], correction["label"]],
        "reason": "Simulated: the person came back to it.",
    }


FIELDS: Mapping[str, Callable[[Exchange], JsonValue]] = {
    "confidence": lambda exchange: "high" if _supported(exchange) else "low",
    "document": _document,
    "edits": _edits,
    "failure_summary": lambda exchange: failure_summary(exchange.view),
    "guidance": _guidance,
    "lapses": lambda exchange: lapses(exchange.view),
    "learning_rate": _learning_rate,
    "memory": _memory,
    "notes": _notes,
    "reason": _reason,
    "reasoning": lambda _: "Simulated: from a catalogue, by what the question shows.",
    "reflection": lambda _: "Simulated: what helps is kept, what is blamed is dropped.",
    "risk_notes": _risk_notes,
    "rules": _rules,
    "score": _score,
    "selected_indices": _ranking,
    "tasks": _tasks,
    "thought": lambda _: "Simulated: from a catalogue, by what the question shows.",
}


# ── how an answer reaches the reader: mostly plain JSON, sometimes dressed, sometimes broken ──

MANNERS: tuple[tuple[float, Callable[[str], str]], ...] = (
    (0.12, lambda text: f"Here is what I suggest.\n\n```json\n{text}\n```\n"),
    (0.08, lambda text: f'<think>Perhaps {{"edits": []}} would do? No.</think>\n{text}'),
    (0.06, lambda text: re.sub(r"([}\]])\s*}\s*$", r"\1,}", text)),
    (
        0.06,
        lambda text: f"As noted [see the failures], this should help:\n{text}\nThat is all [1].",
    ),
    (0.02, lambda text: text[: len(text) // 3]),
    (
        0.03,
        lambda _: "I would use {op: add} here, but on reflection the document reads well as it is.",
    ),
)
"""The share of answers that come in each manner; all others are plain."""


def written(value: dict[str, JsonValue], exchange: Exchange) -> str:
    """The answer's text, in a manner that depends on the question."""
    text = json.dumps(value, ensure_ascii=False)
    rest = exchange.luck("manner")
    for share, manner in MANNERS:
        if rest < share:
            return manner(text)
        rest -= share
    return text
