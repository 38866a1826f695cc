"""Answers that decline to do the task."""

from __future__ import annotations

import re

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
