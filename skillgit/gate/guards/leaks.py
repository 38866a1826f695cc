"""Leaks: what only the tasks should hold, found in a candidate's text.

A skill that quotes a judge's pattern, a task's reference or a task's own words may pass by them,
and learns nothing that holds elsewhere. What a `contains`, section or size check asks for is no
leak: a skill has to be able to say it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache

from pydantic import JsonValue

from skillgit.config import Config, Leak
from skillgit.gate.guards.objections import Objections
from skillgit.records import Skill, Split, Task

PHRASE = 12
"""How many successive words of one task make a quotation of it."""
SHORTEST = 4
"""A pattern or reference of fewer characters stands in many a text by chance."""
TEMPLATE = 3
"""What so many tasks share is their template, or the label of a class, and of no task its own."""

_WORD = re.compile(r"\w+")
_FLAGS = re.compile(r"^\(\?[aiLmsux]+\)")
_SPECIAL = re.compile(r"[][\\^$.|?*+(){}]")


def leak_guard(
    candidate: Skill, current: Skill, tasks: Sequence[Task], config: Config
) -> Objections:
    """Mark, or refuse, a candidate that holds what current does not and only tasks should."""
    found = tuple(leaks(_text(candidate), tasks, known=_text(current)))
    if config.gate.leak is Leak.REJECT:
        return Objections(refusals=found)
    return Objections(warnings=found)


def leaks(text: str, tasks: Sequence[Task], *, known: str = "") -> list[str]:
    """What a text holds of the tasks and `known` does not, one line for each kind and task."""
    return [
        *_patterns(text, tasks, known),
        *_references(text, tasks, known),
        *_quotations(text, tasks, known),
    ]


def _text(skill: Skill) -> str:
    return skill.text


# ── the sources of regex checks ──────────────────────────────────────────────────────────────


def _patterns(text: str, tasks: Sequence[Task], known: str) -> Iterator[str]:
    owners: dict[str, list[str]] = defaultdict(list)
    for task in tasks:
        for source in _regex_sources(task.judge.settings):
            owners[source].append(task.id)
    for source, names in owners.items():
        if _core(source) in text and _core(source) not in known:
            yield f"leak: the source of a regex check ({_named(names)})"


def _regex_sources(settings: dict[str, JsonValue]) -> Iterator[str]:
    checks = settings.get("checks")
    for check in checks if isinstance(checks, list) else []:
        if not isinstance(check, dict) or check.get("op") != "regex":
            continue
        source = check.get("arg")
        if isinstance(source, str) and len(_core(source)) >= SHORTEST and _is_pattern(source):
            yield source


def _core(source: str) -> str:
    """A pattern without the flags before it and the anchors around it."""
    return _FLAGS.sub("", source).removeprefix("^").removesuffix("$")


def _is_pattern(source: str) -> bool:
    """Whether it is more than a literal, which a skill must be able to name."""
    return _SPECIAL.search(_core(source)) is not None


# ── references ───────────────────────────────────────────────────────────────────────────────


def _references(text: str, tasks: Sequence[Task], known: str) -> Iterator[str]:
    wanted = {task.id: {_folded(part) for part in _texts(task.reference)} for task in tasks}
    shared = Counter(part for parts in wanted.values() for part in parts)
    folded, before = f" {_folded(text)} ", f" {_folded(known)} "
    for task_id, parts in wanted.items():
        own = (p for p in parts if len(p) >= SHORTEST and shared[p] < TEMPLATE)
        if any(f" {part} " in folded and f" {part} " not in before for part in own):
            yield f"leak: the reference of task {task_id}"


def _texts(reference: JsonValue) -> Iterator[str]:
    if isinstance(reference, str):
        yield reference
    elif isinstance(reference, int | float) and not isinstance(reference, bool):
        yield str(reference)
    elif isinstance(reference, list):
        for part in reference:
            yield from _texts(part)
    elif isinstance(reference, dict):
        for part in reference.values():
            yield from _texts(part)


def _folded(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


# ── a train task's own words ─────────────────────────────────────────────────────────────────


def _quotations(text: str, tasks: Sequence[Task], known: str) -> Iterator[str]:
    train = [task for task in tasks if task.split is Split.TRAIN]
    everything = _said(tuple(part for task in train for part in _parts(task)))
    quoted = {p for p in _phrases(text) - _phrases(known) if f" {p} " in everything}
    if not quoted:
        return
    said = {task.id: {p for p in quoted if f" {p} " in _said(_parts(task))} for task in train}
    shared = Counter(phrase for phrases in said.values() for phrase in phrases)
    for task_id, phrases in said.items():
        if any(shared[phrase] < TEMPLATE for phrase in phrases):
            yield f"leak: {PHRASE} successive words of train task {task_id}"


def _parts(task: Task) -> tuple[str, ...]:
    return (task.prompt, task.context, *task.turns)


@lru_cache(maxsize=4)
def _said(parts: tuple[str, ...]) -> str:
    """The words of some texts, in which no phrase goes over from one text to the next."""
    return "\n".join(f" {_folded(part)} " for part in parts)


def _phrases(text: str) -> set[str]:
    words = _WORD.findall(text.casefold())
    return {" ".join(words[i : i + PHRASE]) for i in range(len(words) - PHRASE + 1)}


def _named(names: Sequence[str]) -> str:
    shown = ", ".join(names[:3])
    return f"task {shown}" if len(names) == 1 else f"tasks {shown}" + (" …" if names[3:] else "")
