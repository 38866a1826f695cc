"""Transcripts written by hand, in the shapes that agents write them."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from skillgit.sleep.harvest import SOURCES, Transcript
from skillgit.sleep.harvest.lines import Lines
from skillgit.sleep.harvest.sessions import Damage

START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


def at(minutes: float) -> str:
    """A time of the day, as agents write it."""
    return (START + timedelta(minutes=minutes)).isoformat().replace("+00:00", "Z")


def jsonl(*records: Any) -> bytes:
    """The records, one a line."""
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def read_bytes(source: str, data: bytes, name: str = "s1.jsonl") -> list[Transcript]:
    """What a source's reader makes of a file with these bytes."""
    return read_with_damage(source, data, name)[0]


def read_with_damage(
    source: str, data: bytes, name: str = "s1.jsonl"
) -> tuple[list[Transcript], Damage]:
    """The same, with what could not be read."""
    stream = io.BytesIO(data)
    lines = Lines(stream)
    found = list(SOURCES[source].read(Path("/transcripts") / name, stream, lines))
    return found, lines.damage


def said(transcript: Transcript) -> list[tuple[str, str]]:
    """The origins and texts of a transcript's turns."""
    return [(turn.origin.value, turn.text) for turn in transcript.turns]


def person(transcript: Transcript) -> list[str]:
    """What the person said."""
    return [turn.text for turn in transcript.turns if turn.origin.is_person]


class ClaudeSession:
    """A session of Claude Code, a record after the other."""

    def __init__(self, session: str = "s1", *, cwd: str = "/work/repo") -> None:
        self.session, self.cwd = session, cwd
        self.records: list[dict[str, Any]] = []

    def add(self, kind: str, **fields: Any) -> ClaudeSession:
        """One record, a minute after and a child of the one before."""
        number = len(self.records) + 1
        parent = self.records[-1]["uuid"] if self.records else None
        record = {
            "parentUuid": parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": self.cwd,
            "sessionId": self.session,
            "version": "2.1.197",
            "gitBranch": "main",
            "entrypoint": "cli",
            "type": kind,
            "uuid": f"{self.session}-record-{number:04d}-aaaa",
            "timestamp": at(number),
        }
        self.records.append(record | fields)
        return self

    def user(self, text: Any, **fields: Any) -> ClaudeSession:
        """What stands in a person's place."""
        own = {"promptSource": "typed", "origin": {"kind": "human"}} | fields
        return self.add("user", message={"role": "user", "content": text}, **own)

    def agent(self, text: str = "Done.", **fields: Any) -> ClaudeSession:
        """What the agent answers."""
        content = [{"type": "text", "text": text}]
        return self.add("assistant", message={"role": "assistant", "content": content}, **fields)

    def result(self, text: str, *, error: bool = False, **fields: Any) -> ClaudeSession:
        """What a tool gives back."""
        block = {
            "type": "tool_result",
            "tool_use_id": "toolu_1",
            "content": text,
            "is_error": error,
        }
        content = [block]
        own = {"toolUseResult": {"stdout": text}, "sourceToolAssistantUUID": "x"} | fields
        return self.add("user", message={"role": "user", "content": content}, **own)

    @property
    def data(self) -> bytes:
        """The file's bytes."""
        return jsonl(*self.records)

    def write(self, folder: Path, name: str | None = None) -> Path:
        """Put the file where Claude Code would."""
        path = folder / f"{name or self.session}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.data)
        return path


def codex_meta(session: str = "0199-c1", **fields: Any) -> dict[str, Any]:
    """The first record of a Codex session."""
    payload = {
        "id": session,
        "cwd": "/work/repo",
        "originator": "codex_cli_rs",
        "cli_version": "0.171.0",
        "source": "cli",
    }
    return {"timestamp": at(0), "type": "session_meta", "payload": payload | fields}


def codex_event(minute: float, event: str, /, **fields: Any) -> dict[str, Any]:
    """An event of a Codex session."""
    return {"timestamp": at(minute), "type": "event_msg", "payload": {"type": event, **fields}}


def codex_message(
    minute: float, text: str | Sequence[str], role: str = "user", **fields: Any
) -> dict[str, Any]:
    """A message as it was sent to the model."""
    kind = "output_text" if role == "assistant" else "input_text"
    texts = [text] if isinstance(text, str) else text
    content = [{"type": kind, "text": part} for part in texts]
    payload = {"type": "message", "role": role, "content": content, **fields}
    return {"timestamp": at(minute), "type": "response_item", "payload": payload}
