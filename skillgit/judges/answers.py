"""What an answer comes down to: its final answer, a number in it, and plain comparison."""

from __future__ import annotations

import re
import unicodedata

from pydantic import JsonValue

_TAGGED = re.compile(r"<answer>(.*?)</answer>", re.IGNORECASE | re.DOTALL)
_BOXED = re.compile(r"\\boxed\{([^{}]*)\}")
_LABELLED = re.compile(
    r"^[\s>*_#`-]*(?:the\s+)?(?:final\s+|correct\s+)?answer\s*(?:\s+is)?[*_]*\s*[:=][*_]*[ \t]*(\S.*)$",
    re.IGNORECASE | re.MULTILINE,
)
_DIGITS = r"(?:(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+)"
_NUMBER = re.compile(rf"(?<![\w.])[-+−]?{_DIGITS}(?:[eE][-+]?\d+)?(?:\s?/\s?{_DIGITS})?")
_EDGES = "\"'`*_“”‘’«»„ \t\n"
_SPACE = re.compile(r"\s+")


def final_answer(text: str) -> str:
    """What the answer itself marks as final, by `<answer>`, `\\boxed{}` or `Answer:`; else all."""
    for marked in (_TAGGED, _BOXED, _LABELLED):
        found = marked.findall(text)
        if found:
            return str(found[-1]).strip()
    return text.strip()


def last_number(text: str) -> float | None:
    """The last number in a text; `1,250`, `−3`, `2.5e3` and `3/4` are numbers."""
    found = _NUMBER.findall(text)
    return _value(found[-1]) if found else None


def plain(text: str, *, case_sensitive: bool = False) -> str:
    """The text trimmed of quotes, emphasis and a final full stop, in one Unicode form, folded.

    White space runs are one space; case is folded unless it counts.
    """
    folded = _SPACE.sub(" ", unicodedata.normalize("NFKC", text)).strip(_EDGES)
    if folded.endswith(".") and not folded.endswith(".."):
        folded = folded[:-1].rstrip(_EDGES)
    return folded if case_sensitive else folded.casefold()


def references(value: JsonValue) -> list[bool | int | float | str]:
    """The references a task names: one, or a list of several that are all right.

    Raises: ValueError.
    """
    items = value if isinstance(value, list) else [value]
    found: list[bool | int | float | str] = []
    for item in items:
        if item is None or isinstance(item, list | dict):
            raise ValueError("needs a 'reference': a text, a number, or a list of them")
        found.append(item)
    if not found:
        raise ValueError("needs a 'reference' that is not an empty list")
    return found


def as_text(value: bool | int | float | str) -> str:  # noqa: FBT001
    """A reference as an answer would write it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else f"{value:.15g}"


def _value(digits: str) -> float | None:
    top, _, bottom = digits.replace(",", "").replace("−", "-").partition("/")
    try:
        number = float(top)
        return number / float(bottom) if bottom else number
    except (ValueError, ZeroDivisionError):
        return None
