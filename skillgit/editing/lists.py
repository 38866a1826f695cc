"""List items in Markdown text, seen line by line: marks, and lists that end a text."""

from __future__ import annotations

import re

LIST_MARK = re.compile(r"[ \t]*((?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$))", re.MULTILINE)
"""What stands before a list item's words; the group leaves the indentation out."""

_RULE = re.compile(r"[ \t]*([-*_])[ \t]*(?:\1[ \t]*){2,}$", re.MULTILINE)


def is_list_item(text: str) -> bool:
    """Whether the text's first line is a list item."""
    return LIST_MARK.match(text) is not None and _RULE.match(text) is None


def ends_with_list(text: str, item: str) -> bool:
    """Whether the text's last block is a list of the same kind as this item."""
    for line in reversed(text.split("\n")):
        if is_list_item(line):
            if not line[0].isspace():
                return line[0].isdigit() == item.lstrip()[0].isdigit()
        elif line.strip() and not line[0].isspace():
            return False
    return False
