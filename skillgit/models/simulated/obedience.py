"""Which house rules a text states, for which tasks, and which of them are obeyed this time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from skillgit.config import SimulationConfig
from skillgit.models.simulated.catalogue import HOUSE_RULES, HouseRule
from skillgit.models.simulated.chance import luck
from skillgit.models.simulated.drafts import Draft
from skillgit.models.simulated.effects import reshape, reword

LONG_SKILL = 1500
"""Tokens of a skill up to which nothing is forgotten; at twice that forgetting is at its full."""

CHARACTERS_PER_TOKEN = 4

_NEGATION = re.compile(r"(?i)\b(?:no|not|never|avoid|without|omit|don['’]t|instead of)\b")
_CONDITION = re.compile(
    r"(?i)^(?:only\s+)?(?:in|for|when(?:ever)?|if)\b\s*(?:writing|you write|asked for|the task is|"
    r"the task asks for)?\s*(?:an?|the|every|each|all|any)?\s*"
    r"(?P<kind>[a-z][a-z -]{2,40}?)\s*[,:]\s+(?P<rule>\S.*)$"
)
_EXCEPTION = re.compile(
    r"(?i)^(?:except|other than)\s+(?:in|for|when writing)?\s*(?:an?|the)?\s*"
    r"(?P<kind>[a-z][a-z -]{2,40}?)\s*[,:]\s+(?P<rule>\S.*)$"
)
_SUBJECT = re.compile(
    r"(?i)^(?:an?|every|each)\s+(?P<kind>[a-z][a-z-]{2,20}(?: [a-z][a-z-]{2,20})?)\s+"
    r"(?:is|are|has|have|must|should|needs|closes|ends|opens|starts|begins|gives|names|states|uses)\b"
)
_ANY_KIND = frozenset(
    ("answer", "output", "reply", "response", "text", "document", "task", "question", "case")
)
_FRONTMATTER = re.compile(r"\A\ufeff?---[ \t]*\n.*?\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_BULLET = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ x]\]\s+)?")


@dataclass(frozen=True)
class StatedRule:
    """A house rule as a text states it.

    `kind` are the words of the tasks it is limited to, `not_kind` those of the tasks it leaves out.
    """

    rule: HouseRule
    arguments: tuple[tuple[str, str], ...]
    kind: tuple[str, ...] = ()
    not_kind: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The rule and its arguments: two skills that state it differently share its luck."""
        values = (f"{name}={value.strip().lower()}" for name, value in self.arguments)
        return " ".join([self.rule.name, *values])

    def fits(self, prompt: str) -> bool:
        """Whether the task is of the kind the rule is limited to, and not of one it leaves out."""
        folded = prompt.casefold()
        left_out = bool(self.not_kind) and all(word in folded for word in self.not_kind)
        return not left_out and all(word in folded for word in self.kind)


@lru_cache(maxsize=1024)
def stated_rules(text: str) -> tuple[StatedRule, ...]:
    """The house rules a skill states, each once, in the order in which a draft goes through them.

    Frontmatter, headings and fenced blocks state none.
    """
    found: dict[tuple[str, tuple[str, ...], tuple[str, ...]], StatedRule] = {}
    for line in rule_lines(text):
        for stated in rules_of_line(line):
            found.setdefault((stated.key, stated.kind, stated.not_kind), stated)
    return tuple(sorted(found.values(), key=lambda stated: HOUSE_RULES.index(stated.rule)))


def rule_lines(text: str) -> list[str]:
    """The lines of a document that can state a rule, without their bullets."""
    lines, fenced = [], False
    for line in _FRONTMATTER.sub("", text).splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and line.strip() and not line.startswith(("#", "<!--")):
            lines.append(_BULLET.sub("", line).strip())
    return lines


@lru_cache(maxsize=8192)
def rules_of_line(line: str) -> tuple[StatedRule, ...]:
    """The house rules one line states.

    A stretch of the line that one rule has used as an argument states no other.
    """
    condition = _CONDITION.match(line)
    exception = None if condition else _EXCEPTION.match(line)
    about = condition or (None if exception else _SUBJECT.match(line))
    kind = _kind_words(about["kind"]) if about else ()
    not_kind = _kind_words(exception["kind"]) if exception else ()
    limited = condition or exception
    text = limited["rule"] if limited else line
    stated: list[StatedRule] = []
    claimed: list[tuple[int, int]] = []
    for rule in HOUSE_RULES:
        for match in _matches(rule, text, claimed):
            claimed += [match.span(name) for name in match.groupdict() if match[name]]
            arguments = {
                name: value
                for name, value in match.groupdict().items()
                if value and (name, value) != ("level", "##")
            }
            stated.append(StatedRule(rule, tuple(sorted(arguments.items())), kind, not_kind))
    return tuple(stated)


def _matches(rule: HouseRule, text: str, claimed: Sequence[tuple[int, int]]) -> list[re.Match[str]]:
    matches: list[re.Match[str]] = []
    taken = list(claimed)
    for pattern in rule.patterns:
        for match in pattern.finditer(text):
            spans = [match.span(name) for name in match.groupdict() if match[name]]
            spans = spans or [match.span()]
            if any(a < end and start < b for a, b in spans for start, end in taken):
                continue
            if not rule.forbids and _is_negated(text, match.start()):
                continue
            matches.append(match)
            taken.append(match.span())
    return matches


def _is_negated(text: str, place: int) -> bool:
    sentence = re.split(r"[.;:]\s", text[:place])[-1]
    return _NEGATION.search(sentence) is not None


def _kind_words(kind: str) -> tuple[str, ...]:
    words = [word.rstrip("s") for word in kind.casefold().split()]
    return tuple(word for word in words if word not in _ANY_KIND)


def obeyed(
    system: str, prompt: str, seed: int | None, freshness: str, config: SimulationConfig
) -> list[StatedRule]:
    """The stated rules that this answer follows.

    Obedience and forgetting are drawn by task, rule and seed, so that two skills meet the same
    luck; noise also by `freshness`, what is particular to this very request.
    """
    excess = len(system) / CHARACTERS_PER_TOKEN / LONG_SKILL - 1
    forgotten = config.forgetting * min(1.0, max(0.0, excess))
    return [
        stated
        for stated in stated_rules(system)
        if stated.fits(prompt)
        and luck("obey", prompt, stated.key, seed) < config.obedience
        and luck("forget", prompt, stated.key, seed) >= forgotten
        and luck("noise", freshness, stated.key, seed) >= config.noise
    ]


def follow(draft: Draft, rules: Sequence[StatedRule]) -> str:
    """The draft's text after the rules, which contradict each other if they do."""
    for stated in rules:
        reshape(draft, stated.rule, dict(stated.arguments))
    text = draft.text()
    for stated in rules:
        text = reword(text, stated.rule, dict(stated.arguments))
    return text
