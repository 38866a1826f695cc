"""The house rules the simulated target can follow, as data: how each is worded, and its effect.

A rule's patterns are tried on each line of a skill; named groups become its arguments. Rules stand
in the order in which a draft goes through them, so that those that contradict each other really do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from skillgit.models.simulated import effects
from skillgit.models.simulated.effects import Shape, Wording

_TEXT = r"[\"“`](?P<text>[^\"”`\n]+)[\"”`]"
_NUMBER = r"(?P<n>\d+|one|two|three|four|five|six|seven|eight|nine|ten)"
_AT_MOST = (
    r"(?:at most|not exceed|(?:no|not|never)\b[^.\n]{0,25}?\b(?:more|longer) than|under|fewer than|less than"
    r"|up to|within|below|maximum of|limit of|to)"
)
_AT_LEAST = r"(?:at least|no fewer than|not fewer than|no less than|more than|minimum of)"
_NOT = (
    r"\b(?:no|not|never|avoid|without|omit|drop|don['’]t|leave out|free of|refrain from|exclude)\b"
)


@dataclass(frozen=True)
class HouseRule:
    """One kind of rule: what it is called, how a skill words it, and what following it does.

    `forbids` is for rules that are worded as a prohibition themselves; the others are not
    recognised after a negation.
    """

    name: str
    patterns: tuple[re.Pattern[str], ...]
    shape: Shape | None = None
    wording: Wording | None = None
    forbids: bool = False


def _rule(
    name: str,
    *patterns: str,
    shape: Shape | None = None,
    wording: Wording | None = None,
    forbids: bool = False,
) -> HouseRule:
    return HouseRule(name, tuple(re.compile(p) for p in patterns), shape, wording, forbids)


HOUSE_RULES: tuple[HouseRule, ...] = (
    # ── what stands in the answer ────────────────────────────────────────────────────────────
    _rule(
        "section_text",
        r"(?i:\bin|under)\s+(?:the\s+)?[\"“`](?P<level>#{1,6})?\s*(?P<title>[^\"”`\n]+)[\"”`]"
        rf"[^\"“`\n]*?(?i:mention|include|name|state|write|say)[^\"“`\n]*?{_TEXT}",
        shape=effects.section,
    ),
    _rule(
        "section",
        r"[\"“`](?P<level>#{1,6})\s*(?P<title>[^\"”`\n]+)[\"”`]",
        r"[\"“`](?P<title>[^\"”`\n:]+)[\"”`]\s+(?i:sections?|headings?)\b",
        r"(?i:sections?|headings?|headed|titled)\b[^\"“`\n.]{0,30}[\"“`](?P<title>[^\"”`\n:]+)[\"”`]",
        r"(?i:section|heading)\s+(?i:headed|titled|called|named)\s+(?P<title>[A-Z][\w&-]*(?: [A-Z][\w&-]*)*)",
        r"\b(?i:an?|the)\s+(?P<title>[A-Z][\w&-]+(?: [A-Z][\w&-]*)*)\s+(?i:section|heading)\b",
        r"(?<=\s)(?P<level>#{2,6}) (?P<title>[A-Z][\w&-]*(?: [A-Z][\w&-]*)*)",
        shape=effects.section,
    ),
    _rule("summary_line", r"\bTL;?DR\b", shape=effects.summary_line),
    _rule("angle_title", r"<<[^>\n]*>>", r"(?i)\bangl\w* brackets", shape=effects.angle_title),
    _rule(
        "labelled_line",
        r"[\"“`](?P<label>[A-Z][\w -]{1,24}?)\s*:\s*(?P<value>[^\"”`\n]*)[\"”`]",
        shape=effects.labelled_line,
    ),
    _rule(
        "confidence_line",
        r"(?i)\bconfidence\s+(?:line|level|rating|statement|score)\b",
        r"(?i)\b(?:state|give|rate|add|include)\s+(?:your|the|a|an|its)?\s*(?:level of )?confidence\b",
        shape=effects.confidence_line,
    ),
    _rule(
        "sign_off", rf"(?i)\bsign[- ]?(?:off|ed)\b(?:[^\"“`\n]*{_TEXT})?", shape=effects.sign_off
    ),
    _rule(
        "closing_text",
        rf"(?i)\b(?:end|close|finish|conclude|last line|closing line|final line)\b[^\"“`\n]*{_TEXT}",
        shape=effects.closing_text,
    ),
    _rule(
        "opening_text",
        rf"(?i)\b(?:start|begin|open|first line|opening line)\b[^\"“`\n]*{_TEXT}",
        shape=effects.opening_text,
    ),
    _rule(
        "capital_word",
        r"(?i:capitals?|capital letters|all[- ]caps|upper[- ]?case)\b[^\"“`\n]*[\"“`](?P<text>[A-Z]{2,})[\"”`]",
        r"[\"“`](?P<text>[A-Z]{2,})[\"”`][^\"“`\n]*(?i:capitals?|all[- ]caps|upper[- ]?case)\b",
        shape=effects.phrase,
    ),
    _rule(
        "phrase",
        r"(?i)\b(?:include|mention|use|contain|state|say|write|add|print)\b[^\"“`\n]{0,30}?"
        rf"(?:word|phrase|sentence|text|keyword|term|line|words|statement)\s*{_TEXT}",
        rf"(?i)\b(?:include|mention|contain|state|say|add)\s+{_TEXT}",
        shape=effects.phrase,
    ),
    _rule(
        "preference",
        r"(?i)\b(?:use|prefer(?=\s+`))\s+`?(?P<text>[\w.+-]*\w)`?(?:,|\s+\w+,?)?\s+(?:instead of|rather than|over|(?:and )?not)"
        r"\s+`?[\w.+-]*\w",
        shape=effects.phrase,
    ),
    _rule(
        "source_line",
        r"(?i)\b(?:cite|name|give|list|credit|quote)\b[^.\n]{0,30}\bsources?\b",
        r"(?i)\bsource line\b",
        shape=effects.source_line,
    ),
    _rule("postscript", r"(?i)\bpostscript\b", r"\bP\. ?S\.", shape=effects.postscript),
    _rule(
        "bullets",
        rf"(?i)\b{_NUMBER}\s+(?:short |concise )?bullets?\b",
        r"(?i)\bbullet(?:ed)?[- ](?:points|list)\b",
        shape=effects.bullets,
    ),
    _rule("placeholders", rf"(?i)\b(?:{_NUMBER}\s+)?placeholders?\b", shape=effects.placeholders),
    _rule(
        "highlights",
        rf"(?i)\bhighlight(?:ed)?\s+(?:at least\s+)?(?:{_NUMBER}\b)?",
        rf"(?i)\b{_NUMBER}\s+highlighted\b",
        shape=effects.highlights,
    ),
    # ── how much of it ───────────────────────────────────────────────────────────────────────
    _rule(
        "at_least_words",
        rf"(?i)\b{_AT_LEAST}\s+{_NUMBER}\s+words",
        rf"(?i)\b{_NUMBER}(?:\+| or more)[- ]words?\b",
        shape=effects.at_least_words,
    ),
    _rule(
        "at_least_sentences",
        rf"(?i)\b{_AT_LEAST}\s+{_NUMBER}\s+sentences",
        shape=effects.at_least_sentences,
    ),
    _rule(
        "at_most_sentences",
        rf"(?i)\b{_AT_MOST}\s+{_NUMBER}\s+sentences",
        shape=effects.at_most_sentences,
        forbids=True,
    ),
    _rule("paragraphs", rf"(?i)\b{_NUMBER}\s+paragraphs\b", shape=effects.paragraphs),
    _rule(
        "at_most_words",
        rf"(?i)\b{_AT_MOST}\s+{_NUMBER}\s+words",
        rf"(?i)\b{_NUMBER} words or (?:less|fewer)\b",
        shape=effects.at_most_words,
        forbids=True,
    ),
    # ── how it is worded ─────────────────────────────────────────────────────────────────────
    _rule(
        "iso_dates",
        r"(?i)\bISO\b[^.\n]{0,30}\bdates?\b",
        r"(?i)\bdates?\b[^.\n]{0,50}(?:\bISO\b|\bYYYY-MM-DD\b)",
        wording=effects.iso_dates,
    ),
    _rule(
        "metric_units",
        r"(?i)\bmetric\b[^.\n]{0,30}\bunits?\b",
        r"(?i)\b(?:in|use) (?:kilomet(?:re|er)s|km|metric)\b",
        wording=effects.metric_units,
    ),
    _rule(
        "no_first_person",
        rf"(?i){_NOT}[^.\n]{{0,40}}\bfirst[- ]person\b",
        r"(?i)\bthird[- ]person\b",
        wording=effects.no_first_person,
        forbids=True,
    ),
    _rule(
        "no_exclamation",
        rf"(?i){_NOT}[^.\n]{{0,30}}\bexclamation (?:mark|point)s?\b",
        wording=effects.no_exclamation,
        forbids=True,
    ),
    _rule(
        "without_word",
        rf"(?i){_NOT}[^\"“`\n]{{0,30}}\b(?:word|words|phrase|term|terms|use|say|write|saying|using|avoid|keywords?|include|mention|contain)\s*{_TEXT}",
        rf"(?i){_TEXT}\s+(?:should|must|may|does|is)\s+(?:not|never)\s+(?:appear|be used|stand)",
        wording=effects.without_word,
        forbids=True,
    ),
    _rule(
        "no_commas",
        rf"(?i){_NOT}[^.\n]{{0,30}}\bcommas?\b",
        wording=effects.no_commas,
        forbids=True,
    ),
    _rule(
        "lower_case",
        r"(?i)\b(?:all|only|entire|entirely|everything|whole|in)\b[^.\n]{0,30}\b(?:lower[- ]?case|small letters)\b",
        wording=effects.lower_case,
    ),
    _rule(
        "no_capitals",
        rf"(?i){_NOT}[^.\n]{{0,30}}\b(?:capital|upper[- ]?case) letters\b(?![^\n]*[\"“`])",
        wording=effects.lower_case,
        forbids=True,
    ),
    _rule(
        "upper_case",
        r"(?i)\b(?:all|only|entire|entirely|everything|whole)\b[^.\n\"“`]{0,30}\b(?:upper[- ]?case|capital letters|capitals)(?![^\n]*[\"“`])",
        wording=effects.upper_case,
    ),
    _rule(
        "as_json",
        r"(?i)\b(?:as|in|valid|only|output|return)\b[^.\n]{0,20}\bJSON\b",
        wording=effects.as_json,
    ),
    _rule(
        "in_quotes",
        r"(?i)\b(?:wrap|put|enclose|surround)\b[^.\n]{0,40}\bquot(?:es|ation marks)\b",
        wording=effects.in_quotes,
    ),
)
