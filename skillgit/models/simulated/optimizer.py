"""The simulated optimizer: the answer a schema's title names, in the optimizer's own manner.

Which answer is wanted is told by the schema alone, never by a prompt's wording. A new answer is a
function and a line in `ANSWERS`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from skillgit.models.simulated.exchange import Exchange, exchange_of, instance
from skillgit.models.simulated.prompt_reading import ShownEdit, edits_in
from skillgit.models.simulated.reflecting import analyse_failures, analyse_successes
from skillgit.models.simulated.remembering import decide_rate, guide, remember, remember_nights
from skillgit.models.simulated.rewriting import (
    consolidate,
    merge_documents,
    rewrite_failures,
    rewrite_from_suggestions,
    rewrite_successes,
    tell_failures_apart,
    tell_successes_apart,
)
from skillgit.records import ModelReply, ModelRequest

RUBRIC = "RubricAnswer"
"""A judge's answer always comes plain: an unscored task would say nothing about the skill."""


def answer(request: ModelRequest) -> ModelReply:
    """The optimizer's answer; for a title it does not know, the smallest that fits the schema."""
    exchange = exchange_of(request)
    if not exchange.schema:
        return ModelReply(text="This is the simulated optimizer; it answers in JSON schemas only.")
    if exchange.title == RUBRIC:
        return ModelReply(text=json.dumps(exchange.fitted(judge(exchange)), ensure_ascii=False))
    make = ANSWERS.get(exchange.title, smallest)
    return ModelReply(text=written(exchange.fitted(make(exchange)), exchange))


def smallest(exchange: Exchange) -> dict[str, JsonValue]:
    """The smallest answer that fits the schema."""
    value = instance(exchange.schema)
    return value if isinstance(value, dict) else {}


# ── The simulated optimizer merging patches and ranking edits.

DROPPED_FROM_A_MERGE = 0.03
SWAPPED_IN_A_RANKING = 0.1


@dataclass
class _Group:
    """Edits that say the same, the first of them as their form."""

    first: ShownEdit
    indices: list[int] = field(default_factory=list)


def merge(exchange: Exchange) -> dict[str, JsonValue]:
    """The union of the edits shown, equal ones joined, with the indices each came from."""
    groups: dict[tuple[str, str, str], _Group] = {}
    for edit in edits_in(exchange.text):
        group = groups.setdefault(edit.meaning, _Group(edit))
        group.indices.append(edit.index)
    kept = [
        group
        for group in groups.values()
        if len(groups) == 1 or exchange.luck("drop", *group.first.meaning) >= DROPPED_FROM_A_MERGE
    ]
    return {
        "reasoning": "Simulated: edits that say the same are joined; none is reworded.",
        "edits": [_merged(group) for group in kept],
    }


def _merged(group: _Group) -> dict[str, JsonValue]:
    sources: list[JsonValue] = list(group.indices)
    return {**group.first.fields, "sources": sources}


def rank(exchange: Exchange) -> dict[str, JsonValue]:
    """The indices of the edits shown, best supported first, with a slip now and then."""
    edits = sorted(edits_in(exchange.text), key=lambda edit: (-edit.support, edit.index))
    order: list[JsonValue] = [edit.index for edit in edits]
    if len(order) > 1 and exchange.luck("swap") < SWAPPED_IN_A_RANKING:
        order[0], order[1] = order[1], order[0]
    return {"reasoning": "Simulated: by support.", "selected_indices": order}


# ── How the simulated optimizer judges by a rubric: what a criterion puts in quotes has to be there.

_ANSWER = re.compile(r"^={10,}\n(?P<answer>.*)\n={10,}$", re.MULTILINE | re.DOTALL)
_CRITERION = re.compile(r"^- (?P<words>.*\S)\s*$", re.MULTILINE)
_QUOTED = re.compile(r"[\"“]([^\"“”\n]+)[\"”]")


def judge(exchange: Exchange) -> dict[str, JsonValue]:
    """The share of the criteria whose quoted words the answer has, and the criteria it misses."""
    found = _ANSWER.search(exchange.text)
    answer = found["answer"].casefold() if found else ""
    asked = exchange.text[: found.start()] if found else exchange.text
    criteria = list(_criteria(asked))
    missed = [words for words, quoted in criteria if not all(q in answer for q in quoted)]
    score = 1 - len(missed) / len(criteria) if criteria else 1.0
    return {"score": score, "reason": "; ".join(f"not met: {words}" for words in missed)}


def _criteria(text: str) -> Iterator[tuple[str, list[str]]]:
    for line in _CRITERION.finditer(text):
        quoted = [words.casefold() for words in _QUOTED.findall(line["words"])]
        if quoted:
            yield line["words"], quoted


# ── How an optimizer's answer reaches the reader: mostly plain JSON, sometimes dressed, sometimes broken.


def _fenced(text: str) -> str:
    return f"Here is what I suggest.\n\n```json\n{text}\n```\n"


def _thought_over(text: str) -> str:
    return f'<think>Perhaps {{"edits": []}} would do? No.</think>\n{text}'


def _trailing_comma(text: str) -> str:
    return re.sub(r"([}\]])\s*}\s*$", r"\1,}", text)


def _wrapped_in_prose(text: str) -> str:
    return f"As noted [see the failures], this should help:\n{text}\nThat is all [1]."


def _cut_short(text: str) -> str:
    return text[: len(text) // 3]


def _prose(_: str) -> str:
    return "I would use {op: add} here, but on reflection the document reads well as it is."


MANNERS: tuple[tuple[float, Callable[[str], str]], ...] = (
    (0.12, _fenced),
    (0.08, _thought_over),
    (0.06, _trailing_comma),
    (0.06, _wrapped_in_prose),
    (0.02, _cut_short),
    (0.03, _prose),
)
"""The share of answers that come in each manner; all others are plain."""


def written(answer: dict[str, JsonValue], exchange: Exchange) -> str:
    """The answer's text, in a manner that depends on the question."""
    text = json.dumps(answer, ensure_ascii=False)
    rest = exchange.luck("manner")
    for share, manner in MANNERS:
        if rest < share:
            return manner(text)
        rest -= share
    return text


# ── The simulated optimizer finding tasks in sessions that it is shown.

MOST = 8

_TURN = re.compile(
    r"^\[(?P<label>s\d+\.\d+) (?P<origin>human|steering|agent|error)\] (?P<text>[^\n]*)$",
    re.MULTILINE,
)
_NAMED = re.compile(r"(?i)\b(?:use|with|run|in|include)\s+[`\"]?(?P<name>[A-Za-z][\w.+-]{1,30})")


def mine_tasks(exchange: Exchange) -> dict[str, JsonValue]:
    """A task for every request that the person came back to, checked by what they named then."""
    requests: dict[str, re.Match[str]] = {}
    tasks: list[JsonValue] = []
    for turn in _TURN.finditer(exchange.text):
        if turn["origin"] in ("agent", "error"):
            continue
        session = turn["label"].partition(".")[0]
        request = requests.setdefault(session, turn)
        if request is not turn and len(tasks) < MOST:
            tasks.append(_task(request, turn))
    return {"tasks": tasks}


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


ANSWERS: Mapping[str, Callable[[Exchange], dict[str, JsonValue]]] = {
    "FailureAnalysis": analyse_failures,
    "SuccessAnalysis": analyse_successes,
    "MergedPatch": merge,
    "Ranking": rank,
    "MineAnswer": mine_tasks,
    "AwareFailureAnalysis": tell_failures_apart,
    "AwareSuccessAnalysis": tell_successes_apart,
    "ConsolidatedNotes": consolidate,
    "FailureRewrite": rewrite_failures,
    "SuccessRewrite": rewrite_successes,
    "MergedDocument": merge_documents,
    "RewrittenDocument": rewrite_from_suggestions,
    "LearningRateDecision": decide_rate,
    "SlowUpdateGuidance": guide,
    "MetaSkillMemory": remember,
    "SlowMemory": remember_nights,
}
