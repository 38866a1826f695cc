"""What a host would act on in Markdown: raw HTML and the targets of links, not text about them.

Source: CommonMark, by which hosts read pull requests, before they sanitise what it makes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token
from typing_extensions import override

_ACTIVE = re.compile(
    r"<\s*/?\s*(?:script|iframe|object|embed|svg|math|form|style|link|meta|base|input|button|"
    r"template)\b",
    re.IGNORECASE,
)
_HANDLER = re.compile(r"<[^>]*\son\w+\s*=", re.IGNORECASE)
_SCRIPTED = re.compile(r"\s*(?:javascript|vbscript|data)\s*:", re.IGNORECASE)
_COMMENT = "<!--"


def active_parts(markdown: str) -> Iterator[tuple[int, str]]:
    """The parts that would act or hide, each with its line, counted from 1, and what it is."""
    line = 1
    for token in _Reader("commonmark").enable("table").parse(markdown):
        line = token.map[0] + 1 if token.map else line
        for part in (token, *(token.children or ())):
            yield from ((line, what) for what in _acts(part))


class _Reader(MarkdownIt):
    """A parser to which every target is one, be it for a script."""

    @override
    def validateLink(self, url: str) -> bool:
        """Whether a link is taken for one."""
        return True


def _acts(token: Token) -> Iterator[str]:
    if token.type in ("html_block", "html_inline"):
        if _ACTIVE.search(token.content):
            yield "a script or other active HTML"
        if _HANDLER.search(token.content):
            yield "an event handler in HTML"
        if _COMMENT in token.content:
            yield "a hidden HTML comment"
    target = str(token.attrGet("href") or token.attrGet("src") or "")
    if _SCRIPTED.match(target):
        yield "a link that runs a script"
