"""Claude Code: `~/.claude/projects/*/*.jsonl`, one session a file, sub-agents in files of their own.

Records are a tree by `uuid` and `parentUuid`; copies of a session carry the same ids.
Source: what Claude Code 2.1 writes; docs/reference/transcripts.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import IO

from skillgit.records import Speaker
from skillgit.sleep.harvest.lines import Lines, Object, at, blocks, parse_time, text_at
from skillgit.sleep.harvest.order import Node, in_order
from skillgit.sleep.harvest.origins import (
    CLAUDE_CODE,
    CLAUDE_CODE_QUEUED,
    Field,
    field_origin,
    split_origin,
)
from skillgit.sleep.harvest.raw_turns import RawTurn, raw_turn
from skillgit.sleep.harvest.sessions import Kind, Origin, Transcript
from skillgit.sleep.harvest.source import (
    Places,
    Source,
    condensed,
    kind_of,
    named,
    safe_id,
    span,
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SILENT_TYPES = _words(
    "system progress queue-operation file-history-snapshot summary ai-title custom-title "
    "agent-name agent-color agent-setting last-prompt permission-mode mode tag pr-link "
    "frame-link worktree-state relocated bridge-session started result content-replacement "
    "attribution-snapshot marble-origami-commit marble-origami-snapshot speculation-accept "
    "file-history-delta"
)
"""Types of records that hold no turn and are none that one misses."""

AGENT_FOLDER = "subagents"
_UUID_LENGTH = 36


def read(path: Path, stream: IO[bytes], lines: Lines) -> Sequence[Transcript]:  # noqa: ARG001
    """The one session in the file."""
    session = _Session(path)
    for record in lines:
        session.take(record, lines)
    return (session.transcript(),)


class _Session:
    """What is known of a session while its records are read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._nodes: list[Node] = []
        self._ids: dict[str, None] = {}
        if len(path.stem) == _UUID_LENGTH:
            self._ids[path.stem] = None
        self._lineage: dict[str, None] = {}
        self._cwd: str | None = None
        self._people = self._headless = self._sidechain = 0
        self._is_agent = AGENT_FOLDER in path.parts[-4:-1] or path.name.startswith("agent-")

    def take(self, record: Object, lines: Lines) -> None:
        """Note one record."""
        kind = record.get("type")
        if session_id := safe_id(record.get("sessionId")):
            self._ids.setdefault(session_id)
        if forked := safe_id(at(record, "forkedFrom", "sessionId")):
            self._lineage.setdefault(forked)
        if self._cwd is None and (cwd := text_at(record, "cwd")):
            self._cwd = cwd
        name = safe_id(at(record, "forkedFrom", "messageUuid")) or safe_id(record.get("uuid"))
        time = parse_time(record.get("timestamp"))
        turn = None
        if kind == "user":
            turn = self._user(name, time, record)
        elif kind == "assistant":
            turn = self._assistant(name, time, record)
        elif kind == "attachment":
            turn = self._attachment(name, time, record)
        elif not isinstance(kind, str) or kind not in SILENT_TYPES:
            lines.note_unknown(kind)
        if name or turn is not None:
            self._nodes.append(Node(name, safe_id(record.get("parentUuid")), time, turn))

    def transcript(self) -> Transcript:
        """The session as it was read."""
        started, ended = span([node.time for node in self._nodes])
        kind = kind_of(people=self._people, headless=self._headless, sidechain=self._sidechain)
        return Transcript(
            source="claude-code",
            session_ids=tuple(self._ids) or (str(self._path),),
            lineage_ids=tuple(self._lineage),
            kind=Kind.SUBAGENT if self._is_agent else kind,
            cwd=self._cwd,
            started=started,
            ended=ended,
            turns=condensed(named(in_order(self._nodes), next(iter(self._ids), self._path.stem))),
        )

    def _user(self, name: str, time: datetime | None, record: Object) -> RawTurn | None:
        content = at(record, "message", "content")
        if _has_result(content):
            return _tool_result(name, time, content)
        text = "\n\n".join(blocks(content, "text"))
        if not text.strip():
            return None
        return self._in_a_persons_place(name, time, record, text, CLAUDE_CODE)

    def _attachment(self, name: str, time: datetime | None, record: Object) -> RawTurn | None:
        attachment = record.get("attachment")
        if text_at(attachment, "type") != "queued_command":
            return None
        text = "\n\n".join(blocks(at(attachment, "prompt"), "text"))
        if not text.strip():
            return None
        turn = self._in_a_persons_place(name, time, record, text, CLAUDE_CODE_QUEUED)
        if turn.origin is Origin.HUMAN:
            return turn._replace(origin=Origin.STEERING)
        return turn

    def _in_a_persons_place(
        self, name: str, time: datetime | None, record: Object, text: str, table: Sequence[Field]
    ) -> RawTurn:
        by_field = field_origin(record, table)
        by_text, own = split_origin(text)
        if by_field is not None:
            self._headless += _is_headless(record)
            self._sidechain += bool(record.get("isSidechain") or record.get("agentId"))
        origin = by_field or by_text
        if self._is_agent and origin.is_person:
            origin = Origin.MACHINE
        self._people += origin.is_person
        return raw_turn(name, time, Speaker.USER, origin, own if origin is by_text else text)

    def _assistant(self, name: str, time: datetime | None, record: Object) -> RawTurn | None:
        text = "\n\n".join(blocks(at(record, "message", "content"), "text"))
        if not text.strip():
            return None
        return raw_turn(name, time, Speaker.ASSISTANT, Origin.MACHINE, text)


def _is_headless(record: Object) -> bool:
    entry, prompt = text_at(record, "entrypoint"), text_at(record, "promptSource")
    by_entry = field_origin(record, [field for field in CLAUDE_CODE if field.path == "entrypoint"])
    return entry.startswith("sdk") or prompt == "sdk" or by_entry is not None


def _has_result(content: object) -> bool:
    return isinstance(content, list) and any(
        isinstance(block, dict) and block.get("type") == "tool_result" for block in content
    )


def _tool_result(name: str, time: datetime | None, content: object) -> RawTurn:
    results = [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []
    failed = any(block.get("is_error") is True for block in results)
    texts = [text for block in results for text in blocks(block.get("content"), "text")]
    text = "\n".join(texts) if failed else ""
    return raw_turn(name, time, Speaker.TOOL, Origin.MACHINE, text, failed=failed)


def _folders(places: Places) -> list[Path]:
    own = places.variable("CLAUDE_CONFIG_DIR")
    if own is not None:
        return [own / "projects"]
    return [places.home / ".claude" / "projects", places.home / ".config" / "claude" / "projects"]


def _is_transcript(path: Path) -> bool:
    return path.suffix == ".jsonl" and path.name not in ("journal.jsonl", "history.jsonl")


SOURCE = Source(_folders, _is_transcript, read, version=2)
