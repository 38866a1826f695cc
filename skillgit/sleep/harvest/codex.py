"""Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl` and `archived_sessions/`.

Three formats: bare items, the envelope (`timestamp`, `type`, `payload`), and the newest, which
adds `ordinal` and records prompts as `item_completed`. One prompt is recorded in up to three places.
Source: what Codex 0.1 writes; docs/reference/transcripts.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import IO

from skillgit.records import Speaker
from skillgit.sleep.harvest.lines import Lines, Object, at, blocks, parse_time, text_at
from skillgit.sleep.harvest.origins import (
    CODEX_MESSAGE,
    CODEX_PERSON_SOURCES,
    CODEX_PROGRAM,
    field_origin,
    split_origin,
)
from skillgit.sleep.harvest.raw_turns import RawTurn, raw_turn
from skillgit.sleep.harvest.sessions import Kind, Origin, Transcript
from skillgit.sleep.harvest.source import Places, Source, condensed, named, safe_id, span


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENVELOPES = frozenset(("session_meta", "response_item", "event_msg", "compacted", "turn_context"))
SILENT_TYPES = _words(
    "turn_context world_state token_usage_record inter_agent_communication_metadata message "
    "reasoning function_call custom_tool_call tool_search_call tool_search_output "
    "web_search_call local_shell_call local_shell_call_output image_generation_call "
    "ghost_snapshot compaction compaction_summary agent_message agent_reasoning "
    "agent_reasoning_raw_content agent_reasoning_section_break token_count task_started "
    "turn_started task_complete turn_complete turn_aborted turn.completed user_message "
    "item_completed item_started context_compacted thread_settings_applied "
    "thread_goal_updated thread_name_updated thread_rolled_back undo_completed "
    "entered_review_mode exited_review_mode error warning stream_error exec_command_begin "
    "exec_command_end patch_apply_begin patch_apply_end mcp_tool_call_begin mcp_tool_call_end "
    "web_search_begin web_search_end image_generation_end view_image_tool_call "
    "dynamic_tool_call_request dynamic_tool_call_response guardian_assessment "
    "sub_agent_activity collab_agent_spawn_end collab_agent_interaction_end "
    "collab_waiting_end collab_close_end collab_resume_end plan_update turn_diff "
    "session_configured background_event deprecation_notice model_reroute model_verification "
    "hook_started hook_completed"
)
"""Types, of records and of what is in them, that hold no turn of their own or are read by name."""

STARTED = frozenset(("task_started", "turn_started"))
ENDED = frozenset(("task_complete", "turn_complete", "turn_aborted"))
OUTPUTS = frozenset(("function_call_output", "custom_tool_call_output", "local_shell_call_output"))

EVENT, ITEM, RESPONSE = "event", "item", "response"
"""The places where one prompt can stand: an event, an item, a message to the model."""

_CWD = re.compile(r"<cwd>([^<\n]{1,1000})</cwd>|Current working directory: ([^\n]{1,1000})")
_EXIT_CODE = re.compile(r'(?:Exit code: |exited with code |"exit_code": ?)([1-9]\d{0,4})')


def read(path: Path, stream: IO[bytes], lines: Lines) -> Sequence[Transcript]:  # noqa: ARG001
    """The one session in the file."""
    session = _Session(path)
    for record in lines:
        session.take(record, lines)
    return (session.transcript(),)


@dataclass(frozen=True)
class Prompt:
    """A user message, in one of the places where it is recorded.

    `place` is its line, counted from 1.
    """

    place: int
    channel: str
    name: str
    time: datetime | None
    origin: Origin
    text: str
    while_working: bool


class _Session:
    """What is known of a session while its records are read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._meta: Object | None = None
        self._cwd: str | None = None
        self._prompts: list[Prompt] = []
        self._turns: list[tuple[int, RawTurn]] = []
        self._times: list[datetime | None] = []
        self._count = 0
        self._ordinals: dict[int, float] = {}
        self._working = self._answered = False
        self._answers: Counter[tuple[str, str]] = Counter()
        self._answers_kept: Counter[str] = Counter()

    def take(self, record: Object, lines: Lines) -> None:
        """Note one record."""
        self._count += 1
        ordinal = record.get("ordinal")
        if isinstance(ordinal, int) and not isinstance(ordinal, bool) and abs(ordinal) < 1 << 53:
            self._ordinals[self._count] = ordinal
        time = parse_time(record.get("timestamp"))
        self._times.append(time)
        kind, payload = record.get("type"), record.get("payload")
        if not isinstance(payload, dict):
            self._bare(record, time, lines)
        elif kind == "session_meta":
            self._begin(payload)
        elif kind == "response_item":
            self._response(payload, time, lines)
        elif kind == "event_msg":
            self._event(payload, time, lines)
        elif kind == "compacted":
            self._add(raw_turn("", time, Speaker.USER, Origin.SUMMARY, text_at(payload, "message")))
        elif kind == "turn_context":
            self._cwd = self._cwd or text_at(payload, "cwd") or None
        elif not isinstance(kind, str) or kind not in SILENT_TYPES:
            lines.note_unknown(kind)

    def transcript(self) -> Transcript:
        """The session as it was read."""
        started, ended = span([*self._times, parse_time(at(self._meta, "timestamp"))])
        kind, why = self._kind()
        own = safe_id(at(self._meta, "id")) or safe_id(at(self._meta, "session_id"))
        ids = [own, safe_id(at(self._meta, "session_id"))] if own else [str(self._path)]
        lineage = [safe_id(at(self._meta, name)) for name in ("forked_from_id", "resumed_from_id")]
        return Transcript(
            source="codex",
            session_ids=tuple(dict.fromkeys(filter(None, ids))),
            lineage_ids=tuple(dict.fromkeys(filter(None, lineage))),
            kind=kind,
            why=why,
            cwd=self._cwd,
            started=started,
            ended=ended,
            turns=condensed(named(self._ordered(kind), own or self._path.stem)),
        )

    def _begin(self, payload: Object) -> None:
        """Only the first is the session's own: a fork begins with copies of its parent's."""
        if self._meta is None:
            self._meta = payload
            self._cwd = text_at(payload, "cwd") or self._cwd

    def _bare(self, record: Object, time: datetime | None, lines: Lines) -> None:
        if "record_type" in record:
            return
        if "type" not in record and isinstance(record.get("id"), str) and self._meta is None:
            self._meta = record
            self._cwd = text_at(record, "cwd") or None
            return
        if text_at(record, "type") in ENVELOPES:
            lines.note_damage("no payload")
            return
        self._response(record, time, lines)

    def _response(self, payload: Object, time: datetime | None, lines: Lines) -> None:
        kind = payload.get("type", "message" if "role" in payload else None)
        name = safe_id(payload.get("id")) or safe_id(payload.get("call_id"))
        if kind == "message":
            self._message(payload, name, time)
        elif isinstance(kind, str) and kind in OUTPUTS:
            self._answered = True
            text = "\n".join(blocks(payload.get("output"), "input_text", "output_text", "text"))
            failed = bool(_EXIT_CODE.search(text[:2_000]))
            output = text if failed else ""
            self._add(raw_turn(name, time, Speaker.TOOL, Origin.MACHINE, output, failed=failed))
        elif not isinstance(kind, str) or kind not in SILENT_TYPES:
            lines.note_unknown(kind)
        elif kind != "agent_message":
            self._answered = self._working

    def _message(self, payload: Object, name: str, time: datetime | None) -> None:
        role = payload.get("role")
        parts = blocks(payload.get("content"), "input_text", "output_text", "text")
        if role == "assistant":
            self._say(RESPONSE, name, time, "\n\n".join(parts))
        elif role == "user":
            self._look_for_cwd(parts)
            apart = [split_origin(part) for part in parts if part.strip()]
            own = [text for origin, text in apart if origin is Origin.HUMAN]
            if own:
                self._prompt(RESPONSE, name, time, payload, "\n\n".join(own))
            elif apart:
                self._prompt(RESPONSE, name, time, payload, "\n\n".join(parts))
        else:
            self._add(raw_turn(name, time, Speaker.SYSTEM, Origin.INJECTED, "\n\n".join(parts)))

    def _event(self, payload: Object, time: datetime | None, lines: Lines) -> None:
        kind = payload.get("type")
        if not isinstance(kind, str):
            lines.note_unknown(kind)
        elif kind in STARTED:
            self._working, self._answered = True, False
        elif kind in ENDED:
            self._working = self._answered = False
        elif kind == "user_message":
            self._prompt(EVENT, "", time, payload, text_at(payload, "message"))
        elif kind == "agent_message":
            self._say(EVENT, "", time, text_at(payload, "message"))
        elif kind == "item_completed":
            self._item(payload.get("item"), time, lines)
        elif kind not in SILENT_TYPES:
            lines.note_unknown(kind)

    def _item(self, item: object, time: datetime | None, lines: Lines) -> None:
        if not isinstance(item, dict):
            lines.note_damage("no item")
            return
        text = "\n\n".join(blocks(item.get("content"), "text", "Text"))
        if item.get("type") == "UserMessage":
            self._prompt(ITEM, safe_id(item.get("id")), time, item, text)
        elif item.get("type") == "AgentMessage":
            self._say(ITEM, safe_id(item.get("id")), time, text)
        else:
            self._answered = self._working

    def _say(self, channel: str, name: str, time: datetime | None, text: str) -> None:
        """Add a message of the agent; the same words recorded in another place are added once."""
        self._answered = self._working
        key = " ".join(text.split())[:500]
        self._answers[channel, key] += 1
        if key and self._answers[channel, key] > self._answers_kept[key]:
            self._answers_kept[key] += 1
            self._add(raw_turn(name, time, Speaker.ASSISTANT, Origin.MACHINE, text))

    def _prompt(
        self, channel: str, name: str, time: datetime | None, payload: Object, text: str
    ) -> None:
        by_text, own = split_origin(text)
        if not text.strip():
            return
        origin = field_origin(payload, CODEX_MESSAGE) or by_text
        working = self._working and self._answered
        self._prompts.append(Prompt(self._count, channel, name, time, origin, own, working))

    def _add(self, turn: RawTurn) -> None:
        self._turns.append((self._count, turn))

    def _look_for_cwd(self, parts: Sequence[str]) -> None:
        if self._cwd is None:
            match = next(filter(None, (_CWD.search(part[:5_000]) for part in parts)), None)
            self._cwd = (match[1] or match[2]).strip() if match else None

    def _kind(self) -> tuple[Kind, str]:
        source, originator = at(self._meta, "source"), text_at(self._meta, "originator")
        if isinstance(source, dict) and "subagent" in source:
            return Kind.SUBAGENT, ""
        if text_at(self._meta, "thread_source") in ("subagent", "agent"):
            return Kind.SUBAGENT, ""
        if source == "exec" or CODEX_PROGRAM.search(originator):
            return Kind.HEADLESS, ""
        if source is not None and not (isinstance(source, str) and source in CODEX_PERSON_SOURCES):
            return Kind.HEADLESS, "its source is not known to be a person"
        return Kind.PERSON, ""

    def _ordered(self, kind: Kind) -> list[RawTurn]:
        for prompt in each_once(self._prompts):
            origin = prompt.origin
            if kind is not Kind.PERSON and origin.is_person:
                origin = Origin.MACHINE
            elif prompt.while_working and origin is Origin.HUMAN:
                origin = Origin.STEERING
            turn = raw_turn(prompt.name, prompt.time, Speaker.USER, origin, prompt.text)
            self._turns.append((prompt.place, turn))
        places = self._places()
        return [turn for _, turn in sorted(self._turns, key=lambda entry: places[entry[0] - 1])]

    def _places(self) -> list[tuple[float, int]]:
        """Each line's place: by ordinal where the format has one, else by time, then by line.

        A record without either stands where the last record before it that has one stands.
        """
        known, out = float("-inf"), []
        for line, time in enumerate(self._times, start=1):
            if self._ordinals:
                known = self._ordinals.get(line, known)
            elif time is not None:
                known = time.timestamp()
            out.append((known, line))
        return out


def each_once(prompts: Sequence[Prompt]) -> list[Prompt]:
    """Each prompt once, from the first place that records it; one typed twice is kept twice.

    Where events say what was typed, a message without an event is not a person's.
    """
    typed = {_key(p) for p in prompts if p.channel != RESPONSE and p.origin.is_person}
    events = any(p.channel != RESPONSE for p in prompts)
    seen: Counter[tuple[str, str]] = Counter()
    taken: Counter[str] = Counter()
    out = []
    for prompt in prompts:
        key = _key(prompt)
        seen[prompt.channel, key] += 1
        if seen[prompt.channel, key] <= taken[key]:
            continue
        taken[key] += 1
        untyped = events and prompt.channel == RESPONSE and key not in typed
        if untyped and prompt.origin.is_person:
            prompt = replace(prompt, origin=Origin.INJECTED)
        out.append(prompt)
    return out


def _key(prompt: Prompt) -> str:
    return " ".join(prompt.text.split())


def _folders(places: Places) -> list[Path]:
    home = places.variable("CODEX_HOME") or places.home / ".codex"
    return [home / "sessions", home / "archived_sessions"]


def _is_transcript(path: Path) -> bool:
    return path.suffix in (".jsonl", ".json") and path.name.startswith("rollout-")


SOURCE = Source(_folders, _is_transcript, read, version=2)
