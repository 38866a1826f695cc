"""The neutral format: JSON Lines that any tool can write, described in docs/reference/transcripts.md.

A line is a turn: `session`, `id`, `parent`, `time`, `role`, `origin`, `text`, `cwd`, `kind`,
`forked_from`; only `text` has to be there.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import IO

from skillgit.records import Speaker
from skillgit.sleep.harvest.lines import Lines, Object, parse_time, text_at
from skillgit.sleep.harvest.order import Node, in_order
from skillgit.sleep.harvest.origins import split_origin
from skillgit.sleep.harvest.raw_turns import raw_turn
from skillgit.sleep.harvest.sessions import Kind, Origin, Transcript
from skillgit.sleep.harvest.source import (
    Places,
    Source,
    condensed,
    named,
    safe_id,
    span,
)

ROLES = {
    "user": Speaker.USER,
    "assistant": Speaker.ASSISTANT,
    "tool": Speaker.TOOL,
    "system": Speaker.SYSTEM,
}


def read(path: Path, stream: IO[bytes], lines: Lines) -> Sequence[Transcript]:  # noqa: ARG001
    """The sessions in the file, in the order in which they begin."""
    sessions: dict[str, list[Object]] = {}
    for record in lines:
        if isinstance(record.get("text"), str):
            sessions.setdefault(
                safe_id(record.get("session")) or str(path.with_suffix("")), []
            ).append(record)
        else:
            lines.note_unknown(record.get("type"))
    return tuple(_session(name, records, lines) for name, records in sessions.items())


def _session(session: str, records: Sequence[Object], lines: Lines) -> Transcript:
    nodes = [_node(record, lines) for record in records]
    started, ended = span([node.time for node in nodes])
    kinds = {text_at(record, "kind") for record in records}
    forked = dict.fromkeys(filter(None, (safe_id(r.get("forked_from")) for r in records)))
    return Transcript(
        source="neutral",
        session_ids=(session,),
        lineage_ids=tuple(forked),
        kind=next((kind for kind in Kind if kind.value in kinds), Kind.PERSON),
        cwd=next(filter(None, (text_at(record, "cwd") for record in records)), None),
        started=started,
        ended=ended,
        turns=condensed(named(in_order(nodes), session)),
    )


def _node(record: Object, lines: Lines) -> Node:
    name, time = safe_id(record.get("id")), parse_time(record.get("time"))
    speaker = ROLES.get(text_at(record, "role") or "user", Speaker.SYSTEM)
    by_text, own = split_origin(text_at(record, "text"))
    origin = by_text if speaker is Speaker.USER else Origin.MACHINE
    if speaker is Speaker.SYSTEM:
        origin = Origin.INJECTED
    stated = text_at(record, "origin")
    if stated:
        known = next((o for o in Origin if o.value == stated), None)
        if known is None:
            lines.note_unknown(f"origin {stated}")
        origin = known or Origin.INJECTED
    text = own if origin.is_person else text_at(record, "text")
    turn = raw_turn(name, time, speaker, origin, text, failed=record.get("failed") is True)
    return Node(name, safe_id(record.get("parent")), time, turn if text.strip() else None)


def _folders(places: Places) -> list[Path]:  # noqa: ARG001
    """None: such files lie where a person puts them."""
    return []


def _is_transcript(path: Path) -> bool:
    return path.suffix == ".jsonl"


SOURCE = Source(_folders, _is_transcript, read, version=2, tells_project=False)
