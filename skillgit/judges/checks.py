"""The operators of the rule judge: what each asks of an answer, and in which words.

A new operator is a function here and a line in `OPERATORS`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import NamedTuple

from pydantic import JsonValue

from skillgit.judges.patterns import Pattern
from skillgit.judges.refusals import is_refusal
from skillgit.judges.sections import Section, fold_heading, sections
from skillgit.records import Rollout


class Answer:
    """A rollout as checks look at it; what costs is worked out once."""

    def __init__(self, rollout: Rollout) -> None:
        self.text = rollout.answer
        self._rollout = rollout

    @cached_property
    def folded(self) -> str:
        """The text without case."""
        return fold_case(self.text)

    @cached_property
    def sections(self) -> list[Section]:
        """The text's sections."""
        return sections(self.text)

    @cached_property
    def tools(self) -> frozenset[str]:
        """The tools that were called, without case."""
        calls = (call for message in self._rollout.trajectory for call in message.tool_calls)
        return frozenset(fold_case(call.name) for call in calls)


Test = Callable[[Answer], bool]


class Built(NamedTuple):
    """A check ready to run, the plain words for what it asks, and whether that is form alone."""

    test: Test
    words: str
    shape: bool = False


Operator = Callable[[JsonValue], Built]
"""Builds a check from its argument; raises ValueError for one that it cannot use."""


def fold_case(text: str) -> str:
    """The text in one Unicode form and without case."""
    folded = unicodedata.normalize("NFC", text).casefold()
    return unicodedata.normalize("NFC", folded)


def _contains(arg: JsonValue) -> Built:
    wanted = fold_case(_text(arg))
    return Built(lambda answer: wanted in answer.folded, f"must contain {_quoted(arg)}")


def _not_contains(arg: JsonValue) -> Built:
    unwanted = fold_case(_text(arg))
    return Built(lambda answer: unwanted not in answer.folded, f"must not contain {_quoted(arg)}")


def _regex(arg: JsonValue) -> Built:
    pattern = Pattern(_text(arg))
    return Built(lambda answer: pattern.found_in(answer.text), "must have a form it does not have")


def _section_present(arg: JsonValue) -> Built:
    name = _heading(arg)
    return Built(
        lambda answer: any(name in fold_heading(s.heading) for s in answer.sections),
        f"must have a section headed {_quoted(arg)}",
        shape=True,
    )


def _section_contains(arg: JsonValue) -> Built:
    """With a text, a section of that name; with a pair, a text under a heading of that name."""
    if isinstance(arg, str):
        return _section_present(arg)
    if isinstance(arg, dict) and set(arg) == {"section", "text"}:
        arg = [arg["section"], arg["text"]]
    if not isinstance(arg, list) or len(arg) != 2:
        raise ValueError('needs a text, or {"section": …, "text": …}, as its arg')
    name, wanted = _heading(arg[0]), fold_case(_text(arg[1]))
    return Built(
        lambda answer: any(
            name in fold_heading(s.heading) and wanted in fold_case(s.body) for s in answer.sections
        ),
        f"must contain {_quoted(arg[1])} in a section headed {_quoted(arg[0])}",
    )


def _max_chars(arg: JsonValue) -> Built:
    limit = _whole(arg)
    words = f"must have at most {limit} characters"
    return Built(lambda answer: len(answer.text) <= limit, words, shape=True)


def _min_chars(arg: JsonValue) -> Built:
    limit = _whole(arg)
    words = f"must have at least {limit} characters"
    return Built(lambda answer: len(answer.text) >= limit, words, shape=True)


def _no_refusal(arg: JsonValue) -> Built:
    if arg not in (None, True, ""):
        raise ValueError("takes no arg")
    return Built(lambda answer: not is_refusal(answer.text), "must not refuse the task")


def _tool_called(arg: JsonValue) -> Built:
    name = fold_case(_text(arg).strip())
    return Built(lambda answer: name in answer.tools, f"must call the tool {_quoted(arg)}")


OPERATORS: Mapping[str, Operator] = {
    "contains": _contains,
    "not_contains": _not_contains,
    "regex": _regex,
    "section_present": _section_present,
    "section_contains": _section_contains,
    "max_chars": _max_chars,
    "min_chars": _min_chars,
    "no_refusal": _no_refusal,
    "tool_called": _tool_called,
}


def _text(arg: JsonValue) -> str:
    if not isinstance(arg, str) or not arg.strip():
        raise ValueError("needs a text that is not blank as its arg")
    return arg


def _heading(arg: JsonValue) -> str:
    name = fold_heading(_text(arg))
    if not name:
        raise ValueError("needs a heading's words as its arg")
    return name


def _whole(arg: JsonValue) -> int:
    if isinstance(arg, float) and arg.is_integer():
        arg = int(arg)
    if isinstance(arg, bool) or not isinstance(arg, int) or arg < 0:
        raise ValueError("needs a whole number of characters, 0 or more, as its arg")
    return arg


def _quoted(arg: JsonValue) -> str:
    return f'"{arg}"'
