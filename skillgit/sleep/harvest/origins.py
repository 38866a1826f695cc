"""Which texts are a person's: the tables that decide it, and the functions that read them.

When in doubt, a text is not a person's: a missed request costs little, a machine's text taken for
one costs a night.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from skillgit.sleep.harvest.lines import Object, at
from skillgit.sleep.harvest.sessions import Origin


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ANY: frozenset[object] = frozenset()


@dataclass(frozen=True)
class Field:
    """What the value of a record's field says about its origin.

    With `values`, one of them says `origin`, and `ANY` is whatever is neither absent nor false.
    With `person`, every value but these does; an absent field says nothing.
    """

    path: str
    origin: Origin
    values: frozenset[object] | None = None
    person: frozenset[object] | None = None

    def matches(self, record: Object) -> bool:
        """Whether this field of a record says so."""
        value = at(record, *self.path.split("."))
        if self.person is not None:
            return value is not None and not _among(value, self.person)
        if value in (None, False, "", 0) or self.values is None:
            return False
        return self.values == ANY or _among(value, self.values)


CLAUDE_CODE: tuple[Field, ...] = (
    Field("isSidechain", Origin.MACHINE, ANY),
    Field("agentId", Origin.MACHINE, ANY),
    Field("isCompactSummary", Origin.SUMMARY, ANY),
    Field("isMeta", Origin.INJECTED, ANY),
    Field("isVirtual", Origin.INJECTED, ANY),
    Field("isVisibleInTranscriptOnly", Origin.INJECTED, ANY),
    Field("toolUseResult", Origin.MACHINE, ANY),
    Field("sourceToolUseID", Origin.MACHINE, ANY),
    Field("sourceToolAssistantUUID", Origin.MACHINE, ANY),
    Field("isApiErrorMessage", Origin.MACHINE, ANY),
    Field("origin.kind", Origin.INJECTED, person=frozenset(("human",))),
    Field(
        "promptSource",
        Origin.INJECTED,
        person=frozenset(("typed", "user", "queued", "pasted", "voice")),
    ),
    Field(
        "entrypoint",
        Origin.MACHINE,
        person=frozenset(
            (
                "cli", "claude-vscode", "claude-jetbrains", "claude-desktop", "claude-desktop-3p",
                "claude-in-teams", "remote", "remote_mobile", "remote_desktop",
            )
        ),
    ),
)  # fmt: skip
"""Fields of Claude Code's records, the first that matches decides. `suggestion_accepted` is a
prompt that the machine wrote; entry points that begin with `sdk` are programs."""

CLAUDE_CODE_QUEUED: tuple[Field, ...] = (
    *CLAUDE_CODE,
    Field("attachment.isMeta", Origin.INJECTED, ANY),
    Field("attachment.origin.kind", Origin.INJECTED, person=frozenset(("human",))),
    Field("attachment.commandMode", Origin.COMMAND, frozenset(("bash", "command"))),
    Field("attachment.commandMode", Origin.INJECTED, person=frozenset(("prompt",))),
)
"""Fields of what was typed while the agent worked."""

CODEX_PERSON_SOURCES = frozenset(("cli", "vscode", "tui", "appserver", "user"))
"""Sources of a Codex session (`session_meta.source`) that are a person at the keys."""

CODEX_PROGRAM = re.compile(r"exec|sdk|mcp|action|subagent|review", re.IGNORECASE)
"""Originators (`session_meta.originator`) that are programs."""

CODEX_MESSAGE: tuple[Field, ...] = (
    Field("kind", Origin.INJECTED, person=frozenset(("plain", "user"))),
    Field("origin.kind", Origin.INJECTED, person=frozenset(("human", "user"))),
)
"""Fields of Codex's user messages."""

INJECTED_TAGS = _words(
    "system-reminder task-notification teammate-message channel user-prompt-submit-hook "
    "post-tool-use-hook local-command-caveat ide_opened_file ide_selection ide_diagnostics "
    "new-diagnostics environment_context environments_instructions user_instructions permissions "
    "collaboration_mode multi_agent_mode apps_instructions plugins_instructions "
    "skills_instructions skill personality_spec context_window token_budget rollout_budget "
    "additional_context turn_aborted subagent_notification internal_model_context "
    "codex_internal_context goal_context recommended_plugins hook_prompt hook_context "
    "model_switch remote-trigger scheduled-task fork-boilerplate session-start-hook "
    "cross-session-message mcp-resource-update"
)
COMMAND_TAGS = frozenset(
    [
        "command-name",
        "command-message",
        "command-args",
        "bash-input",
        "user_shell_command",
        "user-memory-input",
    ]
)
MACHINE_TAGS = _words(
    "bash-stdout bash-stderr local-command-stdout local-command-stderr tool_use_error "
    "user_action tool_result persisted-output"
)
"""Elements that agents put into the place of a person's words, by what they hold."""

STARTS: tuple[tuple[str, Origin], ...] = (
    ("this session is being continued from a previous conversation", Origin.SUMMARY),
    ("another language model started to solve this problem", Origin.SUMMARY),
    ("caveat: the messages below were generated by the user while running", Origin.INJECTED),
    ("[request interrupted by user", Origin.INJECTED),
    ("# agents.md instructions", Origin.INJECTED),
    ("warning: apply_patch was requested via", Origin.INJECTED),
    ("warning: the maximum number of unified exec", Origin.INJECTED),
    ("base directory for this skill:", Origin.INJECTED),
    ("stop hook feedback:", Origin.INJECTED),
    ("unknown slash command:", Origin.INJECTED),
    ("the user sent a new message while you were working:", Origin.INJECTED),
    ("[image: source:", Origin.INJECTED),
)
"""First words, in lower case, that no person types."""

_REQUEST_MARKS = ("## my request for codex:", "## my request for claude:")
_TAG = re.compile(r"<([A-Za-z][\w\-]{1,60})(?: [^<>\n]{0,400})?>")
_SLASH_COMMAND = re.compile(r"/[A-Za-z][\w:.\-]*(?:\s[^\n]*)?\Z")


def field_origin(record: Object, table: Iterable[Field]) -> Origin | None:
    """What a record's fields say of its origin; `None` when nothing speaks against a person."""
    return next((field.origin for field in table if field.matches(record)), None)


def split_origin(text: str) -> tuple[Origin, str]:
    """The origin of a user message, and the part of it that comes from there.

    Elements that an agent put beside a person's words are left out; the rest is the person's.
    """
    rest, left_out = _without_elements(text.strip())
    rest = _after_request_mark(rest).strip()
    lowered = rest[:200].lower()
    for start, origin in STARTS:
        if lowered.startswith(start):
            return origin, rest
    if not rest:
        return left_out or Origin.INJECTED, text.strip()
    if left_out is Origin.COMMAND:
        return Origin.COMMAND, text.strip()
    if _SLASH_COMMAND.match(rest):
        return Origin.COMMAND, rest
    return Origin.HUMAN, rest


def _without_elements(text: str) -> tuple[str, Origin | None]:
    """The text without known elements, and the origin that they give it."""
    if "<" not in text:
        return text, None
    kept: list[str] = []
    origins: set[Origin] = set()
    unclosed: set[str] = set()
    place = 0
    while opening := _TAG.search(text, place):
        origin = _tag_origin(opening[1])
        if origin is None:
            kept.append(text[place : opening.end()])
            place = opening.end()
            continue
        closing = f"</{opening[1]}>"
        end = -1 if closing in unclosed else text.find(closing, opening.end())
        if end < 0:
            unclosed.add(closing)
        if end < 0 and text[place : opening.start()].strip():
            kept.append(text[place : opening.end()])
            place = opening.end()
            continue
        kept.append(text[place : opening.start()])
        origins.add(origin)
        place = len(text) if end < 0 else end + len(closing)
    kept.append(text[place:])
    order = (Origin.COMMAND, Origin.MACHINE, Origin.INJECTED)
    return "".join(kept), next((origin for origin in order if origin in origins), None)


def _tag_origin(name: str) -> Origin | None:
    folded = name.lower()
    if folded in COMMAND_TAGS:
        return Origin.COMMAND
    if folded in MACHINE_TAGS:
        return Origin.MACHINE
    if folded in INJECTED_TAGS or folded.startswith("external_"):
        return Origin.INJECTED
    return None


def _after_request_mark(text: str) -> str:
    if not text.startswith("# Context from my IDE"):
        return text
    lowered = text.lower()
    for mark in _REQUEST_MARKS:
        at_mark = lowered.rfind(mark)
        if at_mark >= 0:
            return text[at_mark + len(mark) :]
    return ""


def _among(value: object, values: frozenset[object]) -> bool:
    try:
        return value in values
    except TypeError:
        return False
