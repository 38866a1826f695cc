"""Rules that a person typed outright ("always use uv here"), and checks that can be made of them.

Only a sentence that tells what to do counts: not a question, not a report of what always happens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pydantic import JsonValue

from skillgit.records import Record
from skillgit.sleep.mine.feedback import own_words


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


LONGEST_RULE = 400
"""Unit: characters."""

_SENTENCE = re.compile(r"[^.!?\n;]+(?:[.](?=\S)[^.!?\n;]*)*[.!?;]?")
_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_QUESTION = re.compile(
    r"(?i)^(?:why|how|what|when|where|who|which|is|are|does|do|did|can|could|would|should)\b(?!.{0,20}\bnot\b)"
)
_BEFORE = r"(?:^|[,:;—–-]\s*|\b(?:please|and|but|so|then|also|instead|again|you (?:should|must|need to|have to)|we|must|should|to|here)[,:]?\s+)"
_RULE = re.compile(
    r"(?i)(?:^|\b(?:repo|repository|project|codebase|team|here),?\s+)we\s+(?:only\s+)?use\s+\S"
    rf"|{_BEFORE}(?:"
    r"(?:always|never)\s+(?!mind\b|been\b|had\b|was\b|were\b|is\b|seen\b|[a-z]+ed\b)[a-z]"
    r"|(?:don't|do not|dont)\s+(?:ever\s+)?(?!worry\b|know\b|think\b|understand\b|see\b|care\b|mind\b|have\b|need\b|get\b|remember\b)[a-z]"
    r"|(?:from now on|in (?:the )?future|going forward|every time|by default)\b"
    r"|(?:prefer|avoid|stick (?:to|with)|remember to|make sure (?:to|you|that|the|it)|stop \w+ing)\s"
    r"|use\s+\S.*?(?:\binstead\b|\brather than\b|,?\s+not\s+\S|\bhere\b|\bin this (?:repo|repository|project|codebase)\b)"
    r"|(?:immer|nie|niemals|toujours|ne \w+ jamais|siempre|nunca)\s"
    r"|(?:we|i)\s+(?:always|never|only)\s+(?!\w+ed\b|said\b|did\b|got\b|saw\b|had\b|was\b|were\b|meant\b|thought\b)[a-z]"
    r")"
)

_NAME = r"(?:`(?P<{0}q>[^`\n]{{1,60}})`|[\"“'](?P<{0}s>[^\"”'\n]{{1,60}})[\"”']|(?P<{0}w>[A-Za-z0-9][\w.+#/@-]{{0,38}}))"
_ARTICLE = r"(?:(?:the|a|an|our)\s+)?"
_INSTEAD = re.compile(
    rf"(?i)\buse\s+{_ARTICLE}{_NAME.format('x')}(?P<more>\s+\w+)?,?\s+"
    rf"(?:instead of|rather than|and not|not|over)\s+(?:using\s+)?{_ARTICLE}{_NAME.format('y')}"
)
_PREFER = re.compile(
    rf"(?i)\bprefer\s+{_ARTICLE}{_NAME.format('x')}\s+(?:over|to|instead of|rather than)\s+{_ARTICLE}{_NAME.format('y')}"
)
_FORBID = re.compile(
    rf"(?i)\b(?:never|don't|do not|dont|stop|avoid)\s+(?:ever\s+)?(?:us(?:e|ing)|call(?:ing)?|import(?:ing)?|writ(?:e|ing)|add(?:ing)?)\s+{_ARTICLE}{_NAME.format('y')}"
)
_DEMAND = re.compile(
    rf"(?i)\b(?:use|run|call|include|add|write)\s+{_ARTICLE}{_NAME.format('x')}"
    r"(?P<more>\s+(?!(?:here|in|for|and|or|to|when|while|instead|not|with|on|as|by|before|after|from|at|"
    r"everywhere|please|if|so|only|too|again|over|rather|because|since|unless|until)\b)[a-z]\w+)?"
)
_NO_NAMES = _words(
    "the a an it this that them those these your my our more less some any all such one what which "
    "only just to in on at for with of and or not so as is are be very too always never here there "
    "other others another same new old own proper good better clear simple short long full real "
    "actual correct right each every both either multiple single"
)
_KINDS = _words(
    "bullet table list tab space heading paragraph prose sentence comma quote emoji markdown html "
    "lowercase uppercase english german french spanish active passive voice past present tense tone "
    "test function class type comment name line code text word number file folder plain data format "
    "style snake camel composition inheritance async sync inline vertical horizontal metric imperial"
)
"""Words for how something is made rather than for what is in it."""

_NAMES_IN_S = _words(
    "pandas redis jenkins kubernetes postgres express axios celery sass windows aws"
)
_PLAIN_FROM = 6
"""From this length on a name is looked for as it stands. Unit: characters."""


class TypedRule(Record):
    """A rule in a person's own words, with the checks that could be made of it."""

    text: str
    checks: tuple[dict[str, JsonValue], ...] = ()


def typed_rules(text: str) -> tuple[TypedRule, ...]:
    """The rules in a message, in order, each once."""
    sentences = dict.fromkeys(_rule_sentences(text))
    return tuple(TypedRule(text=sentence, checks=checks_in(sentence)) for sentence in sentences)


def checks_in(sentence: str) -> tuple[dict[str, JsonValue], ...]:
    """Rule checks for what a sentence asks for by name; none where it names nothing."""
    hint = sentence.strip()
    rule = _RULE.search(sentence)
    if rule is not None:
        sentence = sentence[rule.start() :]
    instead = _INSTEAD.search(sentence) or _PREFER.search(sentence)
    if instead:
        wanted = _name(instead, "x")
        return (_wanted(wanted, hint),) if wanted else ()
    forbidden = _FORBID.search(sentence)
    if forbidden:
        unwanted = _name(forbidden, "y")
        return (_unwanted(unwanted, hint),) if unwanted else ()
    wanted = next(filter(None, (_name(match, "x") for match in _DEMAND.finditer(sentence))), "")
    return (_wanted(wanted, hint),) if wanted else ()


def _rule_sentences(text: str) -> Iterator[str]:
    for match in _SENTENCE.finditer(_FENCE.sub(" ", text[:8_000])):
        sentence = " ".join(match.group().split()).strip(" -*•>#")
        if not 8 <= len(sentence) <= LONGEST_RULE or sentence.endswith("?"):
            continue
        if match.group().lstrip().startswith(">") or _QUESTION.match(sentence):
            continue
        if _RULE.search(own_words(sentence.replace("`", " "))):
            yield sentence.rstrip(";")


def _name(match: re.Match[str], group: str) -> str:
    """The name a pattern found; none for a plain word that names a kind of thing, or nothing.

    An answer that has bullets does not have the word in it.
    """
    quoted = match[f"{group}q"] or match[f"{group}s"]
    if quoted:
        return quoted.strip()
    word = (match[f"{group}w"] or "").rstrip(".,;:!?")
    if len(word) < 2 or word.lower() in _NO_NAMES or match.groupdict().get("more"):
        return ""
    is_plain = word.isalpha() and word.islower()
    if is_plain and (word in _KINDS or (word.endswith("s") and word not in _NAMES_IN_S)):
        return ""
    return word


def _wanted(name: str, hint: str) -> dict[str, JsonValue]:
    if len(name) >= _PLAIN_FROM or not name.isalnum():
        return {"op": "contains", "arg": name, "hint": hint}
    return {"op": "regex", "arg": rf"(?i)(?<!\w){re.escape(name)}(?!\w)", "hint": hint}


def _unwanted(name: str, hint: str) -> dict[str, JsonValue]:
    if len(name) >= _PLAIN_FROM or not name.isalnum():
        return {"op": "not_contains", "arg": name, "hint": hint}
    pattern = rf"(?is)\A(?!.*(?<!\w){re.escape(name)}(?!\w))"
    return {"op": "regex", "arg": pattern, "hint": hint}
