"""The simulated optimizer looking back: guidance for the target, and a memory for itself."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from pydantic import JsonValue

from skillgit.models.simulated import catalogue
from skillgit.models.simulated.exchange import Exchange, pick
from skillgit.models.simulated.obedience import rules_of_line, stated_rules
from skillgit.models.simulated.prompt_reading import (
    Look,
    bullets_of,
    edits_in,
    read_look,
    tried_in,
)

MOST_GUIDANCE = 5
MENDS_AT_ONCE = 2
MISTAKEN = 0.05
"""How often the guidance holds a line that does harm."""

MOST_REMEMBERED = 12
_PROPOSED = re.compile(r"^- \[(?:skill|memory)/\w+\] (?P<words>[^\n]*)$", re.MULTILINE)
_DECIDED = re.compile(r"^- Night \d+: (?P<fate>adopted|TURNED DOWN|proposed)", re.MULTILINE)
_NOTHING_TO_ADD = "Keep to all of the rules at once."


def guide(exchange: Exchange) -> dict[str, JsonValue]:
    """Guidance: what still helps of the previous one, and what mends failures that are left."""
    look = read_look(exchange.text)
    failing = Counter(reason for pair in look.pairs if not pair.passes for reason in pair.reasons)
    kept = [line for line in look.guidance if not _is_blamed(line, failing)]
    dropped = [line for line in look.guidance if line not in kept]
    fresh = _missing(failing, look, kept)[:MENDS_AT_ONCE]
    if exchange.luck("mistaken") < MISTAKEN:
        fresh.append(pick(catalogue.CONFLICTING, exchange.identity, "mistake"))
    lines = [*kept, *fresh][-MOST_GUIDANCE:] or [_NOTHING_TO_ADD]
    return {
        "reflection": f"Simulated: {len(kept)} lines of the guidance are kept, {len(dropped)} dropped.",
        "reasoning": "Simulated: each line answers a reason that tasks still fail for.",
        "guidance": "\n".join(f"- {line}" for line in lines),
    }


def _is_blamed(line: str, failing: Counter[str]) -> bool:
    """Whether a line may be why tasks fail: it undoes others, or asks for what is unwanted."""
    if not failing:
        return False
    if any(stated.rule.name in catalogue.OBSTACLES for stated in rules_of_line(line)):
        return True
    unwanted = (text for reason in failing for text in catalogue.forbidden_texts(reason))
    return any(
        len(text) > 2 and text.casefold() in line.casefold() and not catalogue.forbids(line)
        for text in unwanted
    )


def _missing(failing: Counter[str], look: Look, kept: Sequence[str]) -> list[str]:
    """Lines that mend what fails most and that nothing states yet."""
    text = "\n".join([look.skill, *kept])
    stated = {stated.key for stated in stated_rules(text)}
    lines: list[str] = []
    for reason, _ in failing.most_common():
        for line in catalogue.mends(reason):
            rules = rules_of_line(line)
            if rules and not all(rule.key in stated for rule in rules) and line not in lines:
                lines.append(line)
    return lines


def remember(exchange: Exchange) -> dict[str, JsonValue]:
    """A memory: what came in, what went, what was tried in vain, and what is still failing."""
    look = read_look(exchange.text)
    before, now = map(bullets_of, (look.skill_before, look.skill))
    failing = Counter(reason for pair in look.pairs if not pair.passes for reason in pair.reasons)
    tried = list(dict.fromkeys(tried_in(exchange.text)))[-MOST_REMEMBERED:]
    lines = ["Edits that answer a reason of a failure hold; ideas that no failure asks for do not."]
    lines += [f"Came in and stayed: {line}" for line in now if line not in before][:3]
    lines += [f"Was taken out: {line}" for line in before if line not in now][:3]
    lines += [f"Fails still ({count}): {reason}" for reason, count in failing.most_common(3)]
    lines += ["Tried without success:"] if tried else []
    lines += [
        f"    {number}. [add] {catalogue.quoted(line)}" for number, line in enumerate(tried, 1)
    ]
    return {
        "reasoning": "Simulated: counted from the pairs and the steps.",
        "memory": "\n".join(lines),
    }


def remember_nights(exchange: Exchange) -> dict[str, JsonValue]:
    """A memory over nights: what came through, what did not, and what the person decided."""
    proposed = [found["words"] for found in _PROPOSED.finditer(exchange.text)]
    fates = Counter(found["fate"] for found in _DECIDED.finditer(exchange.text))
    lines = [
        "Rules that answer what a person said come through; ideas that nobody asked for do not."
    ]
    lines += [f"{fate}: {count}" for fate, count in sorted(fates.items())]
    lines += [f"Tried tonight: {words}" for words in dict.fromkeys(proposed)][:MOST_REMEMBERED]
    return {"reasoning": "Simulated: counted.", "memory": "\n".join(lines)}


def decide_rate(exchange: Exchange) -> dict[str, JsonValue]:
    """A learning rate: as many edits as have more than one trajectory behind them, and one more."""
    edits = edits_in(exchange.text)
    supported = sum(edit.support > 1 for edit in edits)
    return {
        "learning_rate": min(len(edits), supported + (exchange.luck("bold") < 0.5)),
        "reasoning": f"Simulated: {supported} of {len(edits)} edits have more than one attempt behind them.",
        "confidence": "high" if supported else "low",
        "risk_notes": [] if supported else ["no edit has more than one attempt behind it"],
    }
