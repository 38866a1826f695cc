"""The simulated optimizer finding tasks in sessions that it is shown."""

from __future__ import annotations

import re

from pydantic import JsonValue

from skillgit.models.simulated.exchange import Exchange

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
