"""ATIF, the Agent Trajectory Interchange Format: one reader for what several tools export.

A file is one trajectory as JSON, or several as JSON Lines. It names no folder, so what is read
from a configured place counts as the project's own.
Source: ATIF v1.0 to v1.7, the trajectory format of Harbor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import IO

from skillgit.records import Speaker
from skillgit.sleep.harvest.lines import (
    Lines,
    Object,
    at,
    blocks,
    parse_time,
    text_at,
    whole_object,
)
from skillgit.sleep.harvest.origins import split_origin
from skillgit.sleep.harvest.raw_turns import RawTurn, raw_turn
from skillgit.sleep.harvest.sessions import Origin, Transcript
from skillgit.sleep.harvest.source import (
    Places,
    Source,
    condensed,
    named,
    safe_id,
    span,
)

LONGEST_FILE = 32 * 1024 * 1024
"""Unit: bytes."""


def read(path: Path, stream: IO[bytes], lines: Lines) -> Sequence[Transcript]:
    """The trajectories in the file; those of sub-agents inside them are not a person's."""
    if path.suffix == ".jsonl":
        return tuple(t for record in lines for t in _trajectory(path, record, lines))
    record = whole_object(stream, LONGEST_FILE)
    if record is None:
        lines.note_damage("not JSON")
        return ()
    return tuple(_trajectory(path, record, lines))


def _trajectory(path: Path, record: Object, lines: Lines) -> Iterator[Transcript]:
    steps = record.get("steps")
    if not text_at(record, "schema_version").startswith("ATIF") or not isinstance(steps, list):
        lines.note_unknown(record.get("schema_version"))
        return
    turns: list[RawTurn] = []
    times: list[datetime | None] = []
    file = str(path.with_suffix("")) if path.suffix == ".json" else ""
    session = safe_id(record.get("session_id")) or file or path.stem
    for number, step in enumerate(steps, start=1):
        if isinstance(step, dict):
            times.append(parse_time(step.get("timestamp")))
            turns += _turns(f"{session}:{number}", times[-1], step, lines)
        else:
            lines.note_damage("no step")
    started, ended = span(times)
    following = _reference(path, record.get("continued_trajectory_ref"))
    cwd = text_at(record, "extra", "cwd") or text_at(record, "agent", "extra", "cwd")
    yield Transcript(
        source="atif",
        session_ids=tuple(dict.fromkeys(filter(None, (session, file)))),
        lineage_ids=(following,) if following else (),
        cwd=cwd or None,
        started=started,
        ended=ended,
        turns=condensed(named(turns, session)),
    )


def _turns(name: str, time: datetime | None, step: Object, lines: Lines) -> Iterator[RawTurn]:
    text = "\n\n".join(blocks(step.get("message"), "text"))
    source = step.get("source")
    if source == "user":
        origin, own = split_origin(text)
        if at(step, "is_copied_context") is True:
            origin = Origin.SUMMARY
        if text.strip():
            yield raw_turn(name, time, Speaker.USER, origin, own)
    elif source == "agent":
        if text.strip():
            yield raw_turn(name, time, Speaker.ASSISTANT, Origin.MACHINE, text)
    elif source == "system":
        yield raw_turn(name, time, Speaker.SYSTEM, Origin.INJECTED, text)
    else:
        lines.note_unknown(source)


def _reference(path: Path, value: object) -> str:
    """The file, without its ending, in which the trajectory goes on."""
    name = safe_id(value).replace("\0", "")
    return str((path.parent / name).with_suffix("")) if Path(name).name else ""


def _folders(places: Places) -> list[Path]:  # noqa: ARG001
    """None: exports lie where a person puts them."""
    return []


def _is_transcript(path: Path) -> bool:
    return path.suffix in (".json", ".jsonl")


SOURCE = Source(_folders, _is_transcript, read, version=2, tells_project=False)
