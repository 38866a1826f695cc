"""How the simulated optimizer judges by a rubric: what a criterion puts in quotes has to be there.

A criterion without quotes is met by any answer, so that a simulated run says nothing about it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pydantic import JsonValue

from skillgit.models.simulated.exchange import Exchange

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
