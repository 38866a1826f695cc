"""The score ledger: what was ever measured of a skill object, and what was rejected on it.

Scores are keyed by content, so they hold across branches, runs and clones. Pure: it works on the
lines of one object's note.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NoReturn, TypeVar

from pydantic import ValidationError

from skillgit.history import NoteLine, Phase, RejectedLine, RunPosition, ScoresLine
from skillgit.history.notes import NOTE_KINDS
from skillgit.records import Measurements, Score

LineT = TypeVar("LineT", ScoresLine, RejectedLine)


def pooled(
    object_id: str,
    lines: Iterable[NoteLine],
    target: str,
    *,
    repeats: int | None,
    before: RunPosition | None,
) -> tuple[Measurements, ...]:
    """What is known of an object under a target: the k-th item has each task's k-th measurement.

    A task that could not be scored was not measured. Which measurement is the k-th depends on
    the lines alone, not on their order.
    Shape: `repeats` items; with `None`, as many as the task measured most often has.
    """
    known = (line for line in lines if isinstance(line, ScoresLine) and line.target == target)
    rounds: list[dict[str, Score | None]] = [{} for _ in range(repeats or 0)]
    taken: dict[str, int] = {}
    for line in sorted(_older(known, before), key=_order):
        for task, score in _scored(line):
            nth = taken.get(task, 0)
            taken[task] = nth + 1
            if repeats is None and nth == len(rounds):
                rounds.append({})
            if nth < len(rounds):
                rounds[nth][task] = score
    return tuple(Measurements(object_id=object_id, scores=scores) for scores in rounds)


def rejected(
    lines: Iterable[NoteLine], target: str, *, before: RunPosition | None
) -> Sequence[RejectedLine]:
    """The sets of edits rejected under a target, in an order that depends on the lines alone."""
    known = (line for line in lines if isinstance(line, RejectedLine) and line.target == target)
    return sorted(_older(known, before), key=lambda line: (line.step, line.run, line.to_line()))


def _older(lines: Iterable[LineT], before: RunPosition | None) -> Iterator[LineT]:
    """The lines without those that the run itself wrote at or after a moment of its own."""
    for line in lines:
        own = before is not None and line.run == before.run_id
        if before is None or not own or not before.is_reached_by(line.step, line.phase):
            yield line


def _order(line: ScoresLine) -> tuple[int, int, int, str, str]:
    return (line.repeat, line.step, list(Phase).index(line.phase), line.run, line.to_line())


def _scored(line: ScoresLine) -> Iterator[tuple[str, Score]]:
    for task, pair in line.tasks.items():
        if pair is None:
            continue
        try:
            yield task, Score(hard=pair[0], soft=pair[1])
        except ValidationError:
            continue


# ── A note's lines ↔ records. What is no line of ours, or of a kind not known here, is skipped.


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
    record = NOTE_KINDS.get(str(raw.get("kind")))
    if record is None:
        return None
    try:
        return record.model_validate_json(text)
    except ValidationError:
        return None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")
