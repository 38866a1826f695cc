"""Text of models, transcripts and files as Markdown in which nothing acts. Pure.

A pull request's body is rendered, and its mentions, links and commands are obeyed; so is what a
squash makes of it. Everything that was not written by this program goes through here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from skillgit.history.sanitize import harmless

_ACTS = re.compile(r"([\\`*_\[\]<>|~$#!&])")
_OPENS_A_BLOCK = re.compile(r"^([-+=]|\d{1,9}[.)])")
_WWW = re.compile(r"\bwww\.", re.IGNORECASE)
_TICKS = re.compile(r"`+")

ONE_LINE = 300


def words(text: str, limit: int = ONE_LINE) -> str:
    """Text on one line, readable as it is: no markup, link, mention or HTML in it works."""
    line = _WWW.sub("www .", harmless(text, limit))
    escaped = _ACTS.sub(r"\\\1", line)
    return _OPENS_A_BLOCK.sub(_escaped_start, escaped)


def code(text: str, limit: int = ONE_LINE) -> str:
    """Text on one line as code; it may stand in a table."""
    line = harmless(text, limit)
    if not line:
        return "*empty*"
    ticks = "`" * (1 + max((len(run) for run in _TICKS.findall(line)), default=0))
    room = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{room}{line}{room}{ticks}".replace("|", "\\|")


def block(text: str) -> str:
    """Text of several lines as a block of code, line by line made harmless."""
    lines = [_indented(line) for line in text.strip("\n").split("\n")]
    longest = max((len(run) for line in lines for run in _TICKS.findall(line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join((f"{fence}text", *lines, fence))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; its cells are Markdown already."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def folded(title: str, body: str) -> str:
    """A body that is seen when its title is clicked."""
    return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>"


def _indented(line: str) -> str:
    start = len(line) - len(line.lstrip(" "))
    return " " * min(start, 40) + harmless(line, 2_000)


def _escaped_start(found: re.Match[str]) -> str:
    mark = found[1]
    return f"{mark[:-1]}\\{mark[-1]}"
