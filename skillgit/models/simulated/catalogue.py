"""What the simulated optimizer proposes from: lines that mend a failure, guesses, and bad ideas."""

from __future__ import annotations

import json
import re

from skillgit.models.simulated.obedience import rules_of_line

CHARACTERS_PER_WORD = 7
"""Characters a word of an answer takes, its space and Markdown included."""

GUESSES: tuple[str, ...] = (
    'Close with a line "Confidence: high", "Confidence: medium" or "Confidence: low".',
    "Write every date in ISO form (YYYY-MM-DD).",
    'Add a section headed "## Summary".',
    'Add a section headed "## Next Steps".',
    "Cite at least one source.",
    'Start with a "TL;DR" line.',
    'Add a section headed "## Recommendation".',
    "Do not write in the first person.",
    "Give distances in metric units.",
)
"""House rules that are common in briefs and notes, the likeliest first, for what nobody explains."""

NEUTRAL: tuple[str, ...] = (
    "Keep a calm and friendly tone.",
    "Prefer plain words over jargon.",
    "Read the task twice before answering.",
    "Put the most important point first.",
    "Check names and spelling before answering.",
    "Explain abbreviations when they first appear.",
)

HARMFUL: tuple[str, ...] = (
    "Keep every answer under five words.",
    "Return valid JSON only.",
    "Write at most 12 words.",
    "Keep every answer under nine words.",
)

CONFLICTING: tuple[str, ...] = (
    "Write everything in lower case.",
    "Write the entire answer in capital letters.",
    "Keep every answer under 20 words.",
    "Write everything in small letters.",
)

OBSTACLES = frozenset({"at_most_words", "lower_case", "no_capitals", "upper_case", "as_json"})
"""Kinds of rules that can undo what others ask for."""

UNKNOWN_ANCHORS: tuple[str, ...] = (
    "## Formatting rules of the old handbook",
    "- This line was never part of the document.",
    "Follow the checklist in appendix C.",
)

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
_ANSWERING = re.compile(r"(?i)^(?:(?:no|nope|again)[,.!:]|please[,.!:]?)\s+")
_NUMBER = re.compile(r"\b\d[\d,_]*\b")

_CUES: tuple[tuple[str, str], ...] = (
    (r"\bcommas?\b", "Do not use commas."),
    (r"\bdates?\b|\bISO\b|YYYY", "Write every date in ISO form (YYYY-MM-DD)."),
    (r"\bconfidence\b", 'Close with a line "Confidence: high", or medium, or low.'),
    (r"\bfirst[- ]person\b|\bI or we\b", "Do not write in the first person."),
    (r"\bexclamation\b", "Do not use exclamation marks."),
    (r"\bmetric\b|\bmiles\b|\bunits?\b|\bkilomet", "Give distances in metric units."),
    (r"\bTL;?DR\b|\bone-line summary\b", 'Start with a "TL;DR" line.'),
    (r"\bsources?\b|\bcit(?:e|ation)", "Cite at least one source."),
    (r"\bpostscript\b|\bP\.S\.", "Add a postscript (P.S.)."),
    (r"\bangle|<<", "Put a title in <<double angle brackets>> first."),
    (r"\bbullet", "Use at least 3 bullet points."),
    (r"\bplaceholders?\b|\bsquare brackets\b", "Leave at least 2 placeholders in square brackets."),
    (r"\bhighlight", "Highlight at least 3 phrases with *asterisks*."),
    (r"\blower[- ]?case\b", "Write everything in lower case."),
    (r"\bsign[- ]?off\b", "Sign off with kind regards."),
    (r"\bJSON\b", "Return valid JSON only."),
)

_CHARACTERS: dict[str, str] = {
    ",": "Do not use commas.",
    "!": "Do not use exclamation marks.",
    "<<": "Put a title in <<double angle brackets>> first.",
    "P.S.": "Add a postscript (P.S.).",
    "TL;DR": 'Start with a "TL;DR" line.',
}


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
            _CHARACTERS.get(text.strip(), f'Avoid the word "{text}".') for text in literals
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
    if text.strip() in _CHARACTERS:
        return _CHARACTERS[text.strip()]
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
    text = _ANSWERING.sub("", reason.strip()).rstrip(".")
    return (f"{text[:1].upper()}{text[1:]}.",) if text and rules_of_line(text) else ()


def _by_cue(reason: str) -> tuple[str, ...]:
    return tuple(line for cue, line in _CUES if re.search(cue, reason, re.IGNORECASE))[:1]


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


def quoted(line: str) -> str:
    """A line as prompts quote what was tried."""
    return json.dumps(line, ensure_ascii=False)
