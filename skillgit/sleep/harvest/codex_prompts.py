"""Codex says one prompt in up to three places; here it becomes one again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from skillgit.sleep.harvest.sessions import Origin

EVENT, ITEM, RESPONSE = "event", "item", "response"


@dataclass(frozen=True)
class Prompt:
    """What stands in a person's place, in one of the places where it stands.

    `place` is its line, counted from 1.
    """

    place: int
    channel: str
    name: str
    time: datetime | None
    origin: Origin
    text: str
    while_working: bool


def each_once(prompts: Sequence[Prompt]) -> list[Prompt]:
    """Each prompt once, from whichever place it stands in first; one typed twice stays twice.

    Where events say what was typed, a message that no event knows is not a person's.
    """
    typed = {_key(p) for p in prompts if p.channel != RESPONSE and p.origin.is_person}
    events = any(p.channel != RESPONSE for p in prompts)
    seen: Counter[tuple[str, str]] = Counter()
    taken: Counter[str] = Counter()
    out = []
    for prompt in prompts:
        key = _key(prompt)
        seen[prompt.channel, key] += 1
        if seen[prompt.channel, key] <= taken[key]:
            continue
        taken[key] += 1
        unheard = events and prompt.channel == RESPONSE and key not in typed
        if unheard and prompt.origin.is_person:
            prompt = replace(prompt, origin=Origin.INJECTED)
        out.append(prompt)
    return out


def _key(prompt: Prompt) -> str:
    return " ".join(prompt.text.split())
