"""JSON out of a model's answer: the one extractor, for every call.

Linear in the answer's length, and it raises nothing but ReplyError. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeVar

from pydantic import JsonValue

from skillgit.errors import ReplyError
from skillgit.prompting.lenient_json import (
    BrokenJsonError,
    JsonPart,
    JsonReader,
    without_surrogates,
)

T = TypeVar("T")

MAX_TRIED = 2_000

_LANDMARK = re.compile(r"[{\[]|<(/?)think(?:ing)?>", re.IGNORECASE)
_FENCE_BEFORE = re.compile(r"(?:```|~~~)[ \t]*[\w+-]*\s*$")
_FENCE_REACH = 40
# What may be read twice, because a brace in prose made a wrong beginning; then once is enough.
_SECOND_LOOKS = 20_000


class _Likelihood(IntEnum):
    """How likely an object or list is meant as the answer, the likeliest first."""

    FENCED = 0
    FREE = 1
    EMPTY = 2
    FRAGMENT = 3


@dataclass(frozen=True)
class _Candidate:
    likelihood: _Likelihood
    value: JsonValue


def extract(text: str | None, read: Callable[[JsonValue], T]) -> T:
    """What `read` makes of the first object or list in the answer that it accepts.

    Thoughts (`<think>`) do not count. What a fence begins with is tried first, then the others
    as they come, then empty ones, then complete parts of broken ones. `read` raises ReplyError
    for what is not what was asked for.
    Raises: ReplyError.
    """
    cleaned = without_surrogates(text or "").removeprefix("\ufeff").strip()
    if not cleaned:
        raise ReplyError("the answer is empty")
    candidates = sorted(_candidates(_unquoted(cleaned)), key=lambda c: c.likelihood)
    if not candidates:
        raise ReplyError("there is no JSON in the answer")
    first: ReplyError | None = None
    for candidate in candidates[:MAX_TRIED]:
        try:
            return read(candidate.value)
        except ReplyError as error:
            first = first or error
    raise ReplyError(f"no JSON in the answer is what was asked for: {first}")


def _unquoted(text: str) -> str:
    """The text inside, when the whole answer is one JSON string: some servers encode twice."""
    if len(text) < 2 or text[0] != '"' or text[-1] != '"':
        return text
    try:
        inside = json.loads(text)
    except ValueError:
        return text
    return without_surrogates(str(inside))


def _candidates(text: str) -> list[_Candidate]:
    """The objects and lists of the text outside thoughts, in their order."""
    candidates: list[_Candidate] = []
    thoughts = 0
    since_thought: list[_Candidate] = []
    for item in _landmarks(text):
        if isinstance(item, _Candidate):
            since_thought.append(item)
            if not thoughts:
                candidates.append(item)
            continue
        since_thought.clear()
        if item == "<":
            thoughts += 1
        elif thoughts:
            thoughts -= 1
        else:
            candidates.clear()  # the thought's beginning was left out
    ended = text.lower().rfind("</think") > text.lower().rfind("<think")
    return candidates or (since_thought if ended else [])


def _landmarks(text: str) -> Iterator[_Candidate | str]:
    """Objects and lists as candidates, beginnings of thoughts as `<`, their ends as `>`."""
    reader = JsonReader(text)
    second_looks = len(text) + _SECOND_LOOKS
    at = broken_to = 0
    while landmark := _LANDMARK.search(text, at):
        start = landmark.start()
        if landmark[0] not in "{[":
            yield ">" if landmark[1] else "<"
            at = landmark.end()
            continue
        try:
            part = reader.container(start)
        except BrokenJsonError as broken:
            broken_to = max(broken_to, broken.at)
            at = start + 1
            second_looks -= broken.at - start
            if second_looks < 0:
                yield from (
                    _Candidate(_Likelihood.FRAGMENT, f.value) for f in reader.finished if f.value
                )
                at = max(at, broken.at)
            continue
        at = part.end
        if candidate := _candidate(text, part, broken_to):
            yield candidate


def _candidate(text: str, part: JsonPart, broken_to: int) -> _Candidate | None:
    if part.end <= broken_to:
        return _Candidate(_Likelihood.FRAGMENT, part.value) if part.value else None
    before = text[max(0, part.start - _FENCE_REACH) : part.start]
    if _FENCE_BEFORE.search(before):
        return _Candidate(_Likelihood.FENCED, part.value)
    return _Candidate(_Likelihood.FREE if part.value else _Likelihood.EMPTY, part.value)
