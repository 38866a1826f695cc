"""Text from a model or a stranger, as one line that no host, CI or git acts on. Pure."""

from __future__ import annotations

import re
import unicodedata

_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
_DROPPED = frozenset(("Cf",))
_BLANK = frozenset(("Cc", "Zs", "Zl", "Zp"))

# Each pair makes something that a host, a CI or git acts on into the same words, inert.
_DEFUSED: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"@(?=[\w\[-])"), "@ "),
    (re.compile(r"#(?=\w)"), "# "),
    (re.compile(r"([!&])(?=\d)"), r"\1 "),
    (re.compile(r"(GH)-(?=\d)", re.IGNORECASE), r"\1 "),
    (
        re.compile(
            r"((?:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)"
            r"|implement(?:s|ed|ing)?)\b:? ?[A-Z][A-Z0-9_]*)-(?=\d)",
            re.IGNORECASE,
        ),
        r"\1 ",
    ),
    (re.compile(r":(?=//)"), ": "),
    (re.compile(r"\[([^\[\]]*(?:skip|\bno[ _-]?ci\b)[^\[\]]*)\]", re.IGNORECASE), r"(\1)"),
    (re.compile(r"(NO)[_-](CI)", re.IGNORECASE), r"\1 \2"),
    (re.compile(r"(skip-checks|-(?:by|to)|Skillopt-\w+) ?:", re.IGNORECASE), r"\1 -"),
    (re.compile(r"\(cherry picked\b", re.IGNORECASE), "(cherry-picked"),
)


def harmless(text: str, limit: int) -> str:
    """Untrusted text as one visible line that nothing acts on, at most `limit` characters long.

    What hides (controls, zero-width and bidirectional characters) goes; mentions, issue
    numbers, links, words that stop a CI and keys of trailers stay readable, but are broken.
    """
    head = text[: 8 * limit]
    line = " ".join("".join(map(_visible, _INVISIBLE.sub("", head))).split())
    for pattern, inert in _DEFUSED:
        line = pattern.sub(inert, line)
    if len(line) <= limit and len(head) == len(text):
        return line
    return line[: limit - 1].rstrip() + "…"


def _visible(character: str) -> str:
    category = unicodedata.category(character)
    if category in _BLANK:
        return " "
    if category in _DROPPED:
        return ""
    return "\ufffd" if category == "Cs" else character
