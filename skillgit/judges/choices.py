"""Multiple choice: which option an answer names."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from string import ascii_uppercase

from pydantic import JsonValue

from skillgit.judges.answers import final_answer, plain

_ALONE = re.compile(r"[\s(\[]*([A-Za-z])[\s)\].:]*$")
_FIRST = re.compile(r"\(?([A-Za-z])[).:]\s")
_SAID = re.compile(r"\b(?i:answer(?: is)?|choose|pick)\s*:?\s*[*_]*\(?([A-Z])\b(?!['’])")
_MARKED = re.compile(
    r"\(([A-Za-z])\)|\*\*\(?([A-Za-z])\)?[.:]?\*\*|\b(?i:option|choice)\s*:?\s*\(?([A-Z])\b"
)


def read_choices(value: JsonValue) -> dict[str, str]:
    """The options by letter, of a list of texts, a map from letters, or a text cut at `|`.

    Raises: ValueError.
    """
    if isinstance(value, str):
        parts: list[JsonValue] = [part.strip() for part in value.split("|")]
        value = json.loads(value) if value.lstrip().startswith("[") else parts
    if isinstance(value, dict) and set(value) == {"text", "label"}:
        texts, labels = value["text"], value["label"]
        if isinstance(texts, list) and isinstance(labels, list) and len(texts) == len(labels):
            value = dict(zip(map(str, labels), texts, strict=True))
    if isinstance(value, list):
        value = dict(zip(ascii_uppercase, value, strict=False))
    if not isinstance(value, dict) or len(value) < 2:
        raise ValueError("choices: two or more options, as a list of texts")
    options = {}
    for letter, text in value.items():
        if not isinstance(text, str | int | float) or isinstance(text, bool) or not str(text):
            raise ValueError("choices: every option is a text")
        options[letter.strip().upper()] = str(text)
    return options


def option_of_reference(reference: str, options: Mapping[str, str]) -> str:
    """The letter that a reference means: an option's text, or a letter.

    Raises: ValueError.
    """
    for letter, text in options.items():
        if plain(text) == plain(reference):
            return letter
    letter = reference.strip().upper()
    if letter in options:
        return letter
    raise ValueError(f"the reference {reference!r} is none of the choices")


def chosen_option(answer: str, options: Mapping[str, str]) -> str | None:
    """The one letter an answer names, or `None` when it names none or several."""
    text = final_answer(answer)
    bare = plain(text)
    for letter, option in options.items():
        if bare == plain(option):
            return letter
    rows = [row for row in text.splitlines() if row.strip()] or [""]
    alone = (_ALONE.match(row) for row in (bare, plain(rows[0]), plain(rows[-1])))
    letters = {match[1].upper() for match in alone if match}
    if letters:
        return _single(letters & options.keys()) if len(letters) == 1 else None
    said = {str(letter).upper() for letter in _SAID.findall(answer)} & options.keys()
    if len(said) == 1:
        return said.pop()
    named = {str(a or b or c).upper() for a, b, c in _MARKED.findall(text)} & options.keys() | said
    start = text.lstrip("*_ \t\n")
    if first := _FIRST.match(start):
        letter, rest = first[1].upper(), plain(start[first.end() :])
        if letter in options and rest.startswith(plain(options[letter])):
            return letter
        named |= {letter} & options.keys()
    return _single(named)


def _single(letters: set[str]) -> str | None:
    return next(iter(letters)) if len(letters) == 1 else None
