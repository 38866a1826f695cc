"""What an answer comes down to: its final answer, a number in it, and plain comparison."""

from __future__ import annotations

import re
import unicodedata

from pydantic import JsonValue

_TAGS = ("<answer>", "</answer>")
_BOX = "\\boxed{"
_LABELLED = re.compile(
    r"^[ \t>*_#`-]*(?:(?:so|the|my|final|correct) +){0,3}answer"
    r"(?:[*_]* +is\b *[:=]?|[*_ ]*[:=])[*_]*[ \t]*(\S.*)$",
    re.IGNORECASE | re.MULTILINE,
)
_TYPESET = re.compile(r"\\(?:text|textbf|mathrm|mathbf)\{([^{}]*)\}")
_DIGITS = r"(?:(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+)"
_NUMBER = re.compile(rf"(?<![\w.])[-+−]?{_DIGITS}(?:[eE][-+]?\d+)?(?:\s?/\s?{_DIGITS})?")
_EDGES = "\"'`*_“”‘’«»„ \t\n"
_SPACE = re.compile(r"\s+")


def final_answer(text: str) -> str:
    """What the answer itself marks as final, by `<answer>`, `\\boxed{}` or `Answer:`; else all."""
    marked = _tagged(text) or _boxed(text)
    if marked is None:
        labelled = _LABELLED.findall(text)
        marked = labelled[-1] if labelled else text
    return str(marked).strip()


def _tagged(text: str) -> str | None:
    """What the last pair of answer tags holds."""
    lowered = text.lower()
    end = lowered.rfind(_TAGS[1]) if len(lowered) == len(text) else text.rfind(_TAGS[1])
    start = lowered.rfind(_TAGS[0], 0, max(end, 0))
    return text[start + len(_TAGS[0]) : end] if start >= 0 else None


def _boxed(text: str) -> str | None:
    """What the last box holds, to the brace that closes it."""
    start = text.rfind(_BOX)
    depth = 0
    for at in range(start + len(_BOX) - 1, len(text)) if start >= 0 else ():
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return _TYPESET.sub(r"\1", text[start + len(_BOX) : at])
    return None


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


# ── Answers that decline to do the task.

LONG = 600
"""From this length on, an answer that opens with a regret is taken to have done some work.
Unit: characters."""

_MARKUP = re.compile(r"^(?:[\s>*_#`~-]|\d+[.)])+")
_PREAMBLE = (
    r"(?:(?:i['’]?m|i am|we['’]?re|we are)?\s*(?:very |so |really |truly )?(?:sorry|afraid)"
    r"|(?:my |sincere )?apolog(?:y|ies|i[sz]e)|unfortunately|regrettably"
    r"|as an? (?:ai|artificial|language|large)[^,.;:]*)"
    r"[\s,.;:!—–-]*(?:but|that|however|for)?[\s,.;:]*"
)
_DECLINE = (
    r"(?:(?:i|we) (?:just |simply |really )?"
    r"(?:can['’]?t|cannot|can not|could not|couldn['’]?t|won['’]?t|will not|must decline"
    r"|am unable|['’]m unable|am not able|are unable|are not able|have to decline|decline to)"
    r"|i['’]m (?:unable|not able)|we['’]re (?:unable|not able)"
    r"|(?:cannot|can['’]?t|unable to|not able to) (?:complete|comply|help|assist|do|provide|answer)"
    r"|no can do)\b"
    r"(?! (?:stress|emphasi|overstate|recommend .{1,40} enough|wait\b))"
)
_OPENING = re.compile(rf"(?:{_PREAMBLE}){{0,2}}{_DECLINE}", re.IGNORECASE)
_REGRET_ALONE = re.compile(r"(?:i['’]?m |i am )?sorry[.!]?$|no[.!]?$", re.IGNORECASE)


def is_refusal(answer: str) -> bool:
    """Whether an answer is empty, or short and opens by declining."""
    text = _MARKUP.sub("", answer[: 4 * LONG]).strip()
    if not text:
        return not answer.strip() or len(answer) < LONG
    if len(answer.strip()) >= LONG:
        return False
    return bool(_OPENING.match(text) or _REGRET_ALONE.match(text))
