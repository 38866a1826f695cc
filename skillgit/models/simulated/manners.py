"""How an optimizer's answer reaches the reader: mostly plain JSON, sometimes dressed, sometimes broken."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from pydantic import JsonValue

from skillgit.models.simulated.exchange import Exchange


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
