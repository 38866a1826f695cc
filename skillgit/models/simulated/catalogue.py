"""What the simulated model knows, read from `catalogue.toml`: house rules, drafts, proposals."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from pydantic import Field

from skillgit.records import Record

_DATA: dict[str, Any] = tomllib.loads(
    (files("skillgit.models.simulated") / "catalogue.toml").read_text("utf-8")
)

SLOTS: tuple[tuple[str, ...], ...] = tuple(map(tuple, _DATA["canned"]["slots"]))
"""Sentences of a canned answer, one of each tuple is taken."""

DETAILS: tuple[str, ...] = tuple(_DATA["canned"]["details"])

GUESSES: tuple[str, ...] = tuple(_DATA["lines"]["guesses"])
"""House rules that are common in briefs and notes, the likeliest first, for what nobody explains."""

NEUTRAL: tuple[str, ...] = tuple(_DATA["lines"]["neutral"])
HARMFUL: tuple[str, ...] = tuple(_DATA["lines"]["harmful"])
CONFLICTING: tuple[str, ...] = tuple(_DATA["lines"]["conflicting"])
UNKNOWN_ANCHORS: tuple[str, ...] = tuple(_DATA["lines"]["unknown_anchors"])

QUOTED_REMEDIES: Mapping[str, str] = _DATA["remedies"]["quoted"]
CUES: Mapping[str, str] = _DATA["remedies"]["cues"]

OBSTACLES = frozenset({"at_most_words", "lower_case", "no_capitals", "upper_case", "as_json"})
"""Kinds of rules that can undo what others ask for."""


class HouseRule(Record):
    """One kind of rule: what it is called, how a skill words it, and what following it does.

    `effect` names what it does to a draft, with `line` and the rest as its data; `wording` and
    `replace` change the finished text. `forbids` is for rules that are worded as a prohibition.
    """

    name: str
    patterns: tuple[re.Pattern[str], ...]
    effect: str = ""
    line: str = ""
    item: str = ""
    between: str = ""
    defaults: dict[str, str] = Field(default_factory=dict)
    wording: str = ""
    replace: tuple[tuple[str, str], ...] = ()
    forbids: bool = False


def _rule(data: dict[str, Any]) -> HouseRule:
    patterns = []
    for pattern in data["patterns"]:
        for name, part in _DATA["parts"].items():
            pattern = pattern.replace(f"{{{name}}}", part)
        patterns.append(re.compile(pattern))
    return HouseRule.model_validate({**data, "patterns": patterns})


HOUSE_RULES: tuple[HouseRule, ...] = tuple(map(_rule, _DATA["rule"]))
"""All house rules, in the order in which a draft goes through them."""
