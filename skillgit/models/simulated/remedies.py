"""What may mend a failure, told by its reason alone."""

from __future__ import annotations

import re

from skillgit.models.simulated.catalogue import CUES, QUOTED_REMEDIES
from skillgit.models.simulated.obedience import rules_of_line

CHARACTERS_PER_WORD = 7
"""Characters a word of an answer takes, its space and Markdown included."""

_QUOTED = re.compile(r"[\"“`](?P<text>(?:\\.|[^\"”`\n\\])+)[\"”`]")
_FORBIDDEN = re.compile(
    r"(?i)\b(?:must not|should not|not allowed|forbidden|unwanted|banned|avoid|never|no|do not|don['’]t"
    r"|contains|still has)\b"
)
_WANTED = re.compile(
    r"(?i)\b(?:missing|lacks?|absent|without|not found|must (?:contain|have|call))\b"
)
_TOO_LONG = re.compile(r"(?i)too long|longer than|at most|more than|over the limit|maximum")
_TOO_SHORT = re.compile(r"(?i)too short|shorter than|at least|fewer than|minimum")
_TOOL = re.compile(r"(?i)\btool\b")
_SECTION = re.compile(
    r"(?i)\b(?:section|heading|headed)\b[^\"“`\n]*[\"“`](?P<after>[^\"”`\n]+)[\"”`]"
    r"|[\"“`](?P<before>[^\"”`\n]+)[\"”`]\s+(?:section|heading)\b"
)
_INTRODUCTION = re.compile(r"(?i)^(?:(?:no|nope|again)[,.!:]|please[,.!:]?)\s+")
_NUMBER = re.compile(r"\b\d[\d,_]*\b")


def mends(reason: str) -> tuple[str, ...]:
    """Lines for the skill that may mend what a reason complains of; none for what it leaves open."""
    for look in (_tool, _quoted, _length, _as_told, _by_cue):
        if lines := look(reason):
            return lines
    return ()


def _tool(reason: str) -> tuple[str, ...]:
    if not _TOOL.search(reason):
        return ()
    return tuple(f"Use the `{name}` tool before answering." for name in _literals(reason))


def _quoted(reason: str) -> tuple[str, ...]:
    literals = _literals(reason)
    if not literals:
        return ()
    if forbidden_texts(reason):
        return tuple(
            QUOTED_REMEDIES.get(text.strip(), f'Avoid the word "{text}".') for text in literals
        )
    if section := _SECTION.search(reason):
        named = section["after"] or section["before"]
        title = re.sub(r"^#+\s*", "", named)
        for text in literals:
            if text != named:
                return (f'In the "## {title}" section, mention "{text}".',)
        return (f'Always add a section headed "## {title}".',)
    return tuple(_wanted(text) for text in literals)


def _wanted(text: str) -> str:
    if text.strip() in QUOTED_REMEDIES:
        return QUOTED_REMEDIES[text.strip()]
    if re.match(r"#{1,6}\s+\S", text):
        return f'Always add a section headed "{text.strip()}".'
    if re.match(r"[A-Z][\w -]{1,24}:", text):
        return f'Close with a line "{text.strip()}".'
    return f'Include the phrase "{text}".'


def _length(reason: str) -> tuple[str, ...]:
    number = _NUMBER.search(reason)
    if number is None or not re.search(r"(?i)\b(?:characters?|chars?|words?|long|short)\b", reason):
        return ()
    limit = int(re.sub(r"\D", "", number.group()))
    words = limit if re.search(r"(?i)\bwords?\b", reason) else limit // CHARACTERS_PER_WORD
    if _TOO_SHORT.search(reason) and not _TOO_LONG.search(reason):
        return (f"Write at least {words + 1} words.",)
    if re.search(r"(?i)too short|shorter than", reason):
        return (f"Write at least {words + words // 3} words.",)
    return (f"Keep every answer under {max(1, words)} words.",)


def _as_told(reason: str) -> tuple[str, ...]:
    """The reason itself, if it already reads as a rule."""
    text = _INTRODUCTION.sub("", reason.strip()).rstrip(".")
    return (f"{text[:1].upper()}{text[1:]}.",) if text and rules_of_line(text) else ()


def _by_cue(reason: str) -> tuple[str, ...]:
    return tuple(line for cue, line in CUES.items() if re.search(cue, reason, re.IGNORECASE))[:1]


def _literals(reason: str) -> list[str]:
    return [re.sub(r"\\(.)", r"\1", found["text"]) for found in _QUOTED.finditer(reason)]


def forbidden_texts(reason: str) -> list[str]:
    """The texts that a reason says an answer must not have."""
    wanted, forbidden = _WANTED.search(reason), _FORBIDDEN.search(reason)
    if forbidden is None or (wanted and wanted.start() < forbidden.start()):
        return []
    return _literals(reason)


def forbids(line: str) -> bool:
    """Whether a line of a skill is a prohibition."""
    return _FORBIDDEN.search(line) is not None
