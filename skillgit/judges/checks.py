"""The operators of the rule judge: what each asks of an answer, and in which words.

A new operator is a function here and a line in `OPERATORS`.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import NamedTuple

import regex
from markdown_it import MarkdownIt
from pydantic import JsonValue

from skillgit.judges.answers import is_refusal
from skillgit.records import Rollout


class CheckedAnswer:
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


Test = Callable[[CheckedAnswer], bool]


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


# ── Regular expressions from task files: valid by Python's `re`, and never run without a limit.

MATCH_SECONDS = 1.0
"""How long one pattern may look at one answer. Unit: seconds of processor time."""


class SlowPatternError(Exception):
    """A pattern did not come to an end in time."""


class Pattern:
    """A compiled pattern that gives up in time."""

    def __init__(self, source: str) -> None:
        """Raises: ValueError when the pattern does not compile."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                re.compile(source)
                self._compiled = regex.compile(source, regex.VERSION0)
            except (re.error, regex.error, OverflowError, RecursionError) as error:
                raise ValueError(f"the pattern does not compile: {error}") from error

    def found_in(self, text: str) -> bool:
        """Whether it matches anywhere in the text.

        Raises: SlowPatternError.
        """
        try:
            return self._compiled.search(text, timeout=MATCH_SECONDS, concurrent=True) is not None
        except TimeoutError as error:
            raise SlowPatternError from error


# ── The sections of a Markdown answer: where its headings are, and what stands under them.

_EMPHASIS = re.compile(r"[*_`~]")
_SPACE = re.compile(r"\s+")
_MARKDOWN = MarkdownIt("commonmark").disable("inline")


class Section(NamedTuple):
    """A heading's text, and the text under it down to the next heading that is not deeper."""

    heading: str
    body: str


def fold_heading(text: str) -> str:
    """A heading without case, emphasis, leading `#` and differences of white space."""
    bare = _EMPHASIS.sub("", unicodedata.normalize("NFKC", text).strip().lstrip("#"))
    return _SPACE.sub(" ", bare).strip().casefold()


def sections(markdown: str) -> list[Section]:
    """The sections of a text, in order; a line in a code fence is no heading."""
    tokens = _MARKDOWN.parse(markdown)
    lines = markdown.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    headings = [
        (int(token.tag[1:]), token.map, tokens[at + 1].content)
        for at, token in enumerate(tokens)
        if token.type == "heading_open" and token.map is not None
    ]
    ends: dict[int, int] = {}
    nearest: dict[int, int] = {}
    for at in range(len(headings) - 1, -1, -1):
        level, (start, _), _ = headings[at]
        ends[at] = min((nearest[depth] for depth in nearest if depth <= level), default=len(lines))
        nearest[level] = start
    return [
        Section(text, "\n".join(lines[body_start : ends[at]]))
        for at, (_, (_, body_start), text) in enumerate(headings)
    ]
