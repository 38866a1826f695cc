"""A note's lines ↔ records. What is no line of ours, or of a kind not known here, is skipped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NoReturn

from pydantic import ValidationError

from skillgit.history import NoteLine
from skillgit.history import epoch_notes as epoch_notes  # its records are kinds of lines


def parse_lines(texts: Iterable[str]) -> tuple[NoteLine, ...]:
    """The lines whose kind is known, in canonical order: that of their text."""
    parsed = ((text, parse_line(text)) for text in sorted(set(texts)))
    return tuple(line for _, line in parsed if line is not None)


@lru_cache(maxsize=16_384)
def parse_line(text: str) -> NoteLine | None:
    """A line as the record of its kind, or `None` when it is none that is known here."""
    try:
        raw = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    if not isinstance(raw, dict):
        return None
    record = kinds_of_lines().get(str(raw.get("kind")))
    if record is None:
        return None
    try:
        return record.model_validate_json(text)
    except ValidationError:
        return None


def kinds_of_lines() -> dict[str, type[NoteLine]]:
    """Every kind of line there is, by the default of its field `kind`."""
    return {record.model_fields["kind"].default: record for record in _records(NoteLine)}


def _records(parent: type[NoteLine]) -> Iterator[type[NoteLine]]:
    for record in parent.__subclasses__():
        yield record
        yield from _records(record)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")
