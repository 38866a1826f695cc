"""Codex: three formats, and every prompt once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from transcripts import (
    at,
    codex_event,
    codex_message,
    codex_meta,
    jsonl,
    person,
    read_bytes,
    read_with_damage,
    said,
)

from skillgit.sleep.harvest.codex import SOURCE
from skillgit.sleep.harvest.sessions import SessionKind, Transcript
from skillgit.sleep.harvest.source import Places

FIXTURES = Path(__file__).parents[1] / "fixtures"


def read(*records: Any) -> Transcript:
    (found,) = read_bytes("codex", jsonl(*records), "rollout-2026-03-01-x.jsonl")
    return found


def item(minute: float, text: str) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return codex_event(minute, "item_completed", item={"type": "UserMessage", "content": content})


def test_a_prompt_that_is_a_message_and_an_event_is_one() -> None:
    found = read(
        codex_meta(),
        codex_message(1, "Fix the tests"),
        codex_event(1, "user_message", message="Fix the tests"),
        codex_message(2, "Fixed.", "assistant"),
        codex_event(2, "agent_message", message="Fixed."),
    )
    assert said(found) == [("human", "Fix the tests"), ("machine", "Fixed.")]


def test_in_all_three_places_and_either_order_it_is_one() -> None:
    for order in ((0, 1, 2), (2, 1, 0), (1, 2, 0)):
        places = [
            codex_message(1, "Fix the tests"),
            codex_event(1, "user_message", message="Fix the tests"),
            item(1, "Fix the tests\n"),
        ]
        assert person(read(codex_meta(), *(places[i] for i in order))) == ["Fix the tests"]


def test_a_prompt_typed_twice_is_two() -> None:
    both = [codex_event(1, "user_message", message="Fix it now"), codex_message(1, "Fix it now")]
    assert person(read(codex_meta(), *both, codex_message(2, "Done", "assistant"), *both)) == [
        "Fix it now", "Fix it now",
    ]  # fmt: skip


def test_what_no_event_knows_is_injected_where_events_say_what_was_typed() -> None:
    found = read(
        codex_meta(),
        codex_message(1, "Some context that looks like a request"),
        codex_message(1, "Fix the tests"),
        codex_event(1, "user_message", message="Fix the tests"),
    )
    assert person(found) == ["Fix the tests"]


def test_without_any_event_messages_are_told_by_their_text() -> None:
    found = read(
        codex_meta(),
        codex_message(1, ["<user_instructions>always x</user_instructions>"]),
        codex_message(1, ["<environment_context><cwd>/x</cwd></environment_context>"]),
        codex_message(2, "Fix the tests"),
    )
    assert person(found) == ["Fix the tests"]


def test_developers_and_summaries_are_not_the_person() -> None:
    found = read(
        codex_meta(),
        codex_message(1, "be nice", "developer"),
        codex_message(1, "be nicer", "system"),
        {"timestamp": at(2), "type": "compacted", "payload": {"message": "The user wants x"}},
        codex_event(3, "user_message", message="<x>", kind="user_instructions"),
    )
    assert [origin for origin, _ in said(found)] == ["injected", "injected", "summary", "injected"]


def test_what_was_typed_while_the_agent_worked_is_steering() -> None:
    call = {"type": "function_call", "call_id": "c", "name": "exec", "arguments": "{}"}
    found = read(
        codex_meta(),
        codex_event(0, "task_started"),
        codex_event(1, "user_message", message="Fix the tests"),
        {"timestamp": at(2), "type": "response_item", "payload": call},
        codex_event(3, "user_message", message="and the docs"),
        codex_event(4, "task_complete"),
        codex_event(5, "user_message", message="Now commit"),
    )
    assert [turn for turn in said(found) if turn[0] != "machine"] == [
        ("human", "Fix the tests"), ("steering", "and the docs"), ("human", "Now commit"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("meta", "kind"),
    [
        ({}, SessionKind.PERSON),
        ({"source": "vscode", "originator": "codex_vscode"}, SessionKind.PERSON),
        ({"source": None, "originator": "user"}, SessionKind.PERSON),
        ({"source": "exec", "originator": "codex_exec"}, SessionKind.HEADLESS),
        ({"source": "exec"}, SessionKind.HEADLESS),
        ({"source": "mcp"}, SessionKind.HEADLESS),
        ({"source": "cli", "originator": "codex_sdk_ts"}, SessionKind.HEADLESS),
        ({"source": {"custom": "robot"}}, SessionKind.HEADLESS),
        ({"source": "unknown"}, SessionKind.HEADLESS),
        ({"source": {"subagent": {"thread_spawn": {}}}}, SessionKind.SUBAGENT),
        ({"source": {"subagent": "review"}}, SessionKind.SUBAGENT),
        ({"thread_source": "subagent"}, SessionKind.SUBAGENT),
    ],
)
def test_whose_session_it_is_stands_in_its_first_record(
    meta: dict[str, Any], kind: SessionKind
) -> None:
    found = read(codex_meta(**meta), codex_event(1, "user_message", message="Fix the tests"))
    assert found.kind is kind
    assert found.has_person is (kind is SessionKind.PERSON)


def test_a_fork_is_itself_whatever_it_copies() -> None:
    found = read(codex_meta("child", forked_from_id="parent"), codex_meta("parent", cwd="/other"))
    assert (found.session_ids[0], found.lineage_ids, found.cwd) == (
        "child",
        ("parent",),
        "/work/repo",
    )


def test_the_newest_format_goes_by_ordinal() -> None:
    data = (FIXTURES / "codex-newest.jsonl").read_bytes()
    (found,), damage = read_with_damage("codex", data, "rollout-x.jsonl")
    assert [turn for turn in said(found) if turn[0] in ("human", "steering")] == [
        ("human", "Rename the parser module"),
        ("steering", "keep the old name as an alias"),
        ("human", "Rename the parser module"),
    ]
    assert [text for origin, text in said(found) if origin == "machine"][-1] == "Renamed."
    assert damage.unknown == {"comet_record": 1}
    assert found.cwd == "/work/repo"


def test_the_old_bare_format_is_read_with_its_folder() -> None:
    data = (FIXTURES / "codex-bare.jsonl").read_bytes()
    (found,), damage = read_with_damage("codex", data, "rollout-old.jsonl")
    assert person(found) == ["Rename the parser module"]
    assert (found.cwd, found.kind, damage.unknown) == ("/work/repo", SessionKind.PERSON, {})
    assert found.started is not None
    assert found.started.year == 2025


def test_sessions_and_archived_ones_are_looked_for_where_the_variable_says() -> None:
    home = Path("/home/ada")
    assert SOURCE.folders(Places(home)) == [
        home / ".codex" / "sessions", home / ".codex" / "archived_sessions",
    ]  # fmt: skip
    assert SOURCE.folders(Places(home, {"CODEX_HOME": "/c"}))[0] == Path("/c/sessions")


def test_damaged_envelopes_are_counted() -> None:
    data = jsonl({"type": "response_item"}, {"type": "event_msg", "payload": []}, {"payload": {}})
    _, damage = read_with_damage("codex", data)
    assert damage.damaged == {"no payload": 2}
    assert damage.unknown == {"(none)": 1}
