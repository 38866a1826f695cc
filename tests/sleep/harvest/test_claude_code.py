"""Claude Code: whose words are whose, in whichever order the records stand."""

from __future__ import annotations

from pathlib import Path

import pytest
from transcripts import ClaudeSession, at, jsonl, person, read_bytes, read_with_damage, said

from skillgit.sleep.harvest.claude_code import SOURCE
from skillgit.sleep.harvest.sessions import SessionKind
from skillgit.sleep.harvest.source import Places

FIXTURES = Path(__file__).parents[1] / "fixtures"


def only(session: ClaudeSession):  # type: ignore[no-untyped-def]
    (transcript,) = read_bytes("claude-code", session.data)
    return transcript


def test_a_session_of_a_person_is_read_with_its_folder_and_times() -> None:
    found = only(
        ClaudeSession()
        .user("Add a test")
        .agent("Added.")
        .user([{"type": "text", "text": "Thanks"}])
    )
    assert said(found) == [("human", "Add a test"), ("machine", "Added."), ("human", "Thanks")]
    assert (found.kind, found.cwd) == (SessionKind.PERSON, "/work/repo")
    assert (found.started.isoformat(), found.ended.isoformat()) == (
        "2026-03-01T09:01:00+00:00", "2026-03-01T09:03:00+00:00",
    )  # fmt: skip
    assert "s1" in found.session_ids


@pytest.mark.parametrize(
    "fields",
    [
        {"isSidechain": True},
        {"agentId": "a1"},
        {"isMeta": True},
        {"isCompactSummary": True},
        {"isVisibleInTranscriptOnly": True},
        {"entrypoint": "sdk-cli"},
        {"entrypoint": "sdk-ts"},
        {"entrypoint": "sdk-py"},
        {"entrypoint": "mcp"},
        {"entrypoint": "claude-code-github-action"},
        {"entrypoint": "something-new"},
        {"promptSource": "sdk"},
        {"promptSource": "system"},
        {"promptSource": "suggestion_accepted"},
        {"origin": {"kind": "task-notification"}},
        {"origin": {"kind": "scheduled"}},
        {"origin": {"kind": "peer"}},
        {"origin": {"kind": "auto-continuation"}},
        {"origin": {"kind": "something-new"}},
        {"toolUseResult": "text"},
        {"sourceToolUseID": "toolu_1"},
    ],
)
def test_these_are_not_a_persons_request(fields: dict[str, object]) -> None:
    found = only(ClaudeSession().user("Add a test", **fields).agent())
    assert person(found) == []


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"promptSource": None, "origin": None, "entrypoint": None},
        {"entrypoint": "claude-vscode"},
        {"isMeta": False, "isSidechain": False, "isCompactSummary": False, "agentId": None},
    ],
)
def test_these_are(fields: dict[str, object]) -> None:
    assert person(only(ClaudeSession().user("Add a test", **fields))) == ["Add a test"]


def test_a_tool_result_is_the_machines_and_kept_only_when_it_failed() -> None:
    session = ClaudeSession().user("Go on with it").result("all fine").result("boom", error=True)
    assert said(only(session)) == [("human", "Go on with it"), ("machine", "boom")]


def test_what_was_typed_while_the_agent_worked_is_steering() -> None:
    queued = {"type": "queued_command", "prompt": "also the docs", "commandMode": "prompt"}
    session = ClaudeSession().user("Add a test").agent("On it.")
    session.add("attachment", attachment=queued)
    session.add(
        "attachment", attachment=queued | {"prompt": "done", "commandMode": "task-notification"}
    )
    session.add("attachment", attachment=queued | {"prompt": "x", "origin": {"kind": "peer"}})
    session.add("attachment", attachment={"type": "skill_listing", "content": "y"})
    assert [s for s in said(only(session)) if s[0] != "machine"] == [
        ("human", "Add a test"), ("steering", "also the docs"), ("injected", "done"), ("injected", "x"),
    ]  # fmt: skip


@pytest.mark.parametrize("content", [[{"type": "image"}], [], None, 5, {"type": "text"}, [None, 3]])
def test_a_prompt_without_words_is_none(content: object) -> None:
    assert said(only(ClaudeSession().user(content))) == []


def test_a_lone_surrogate_is_replaced_and_nothing_raises_later() -> None:
    data = ClaudeSession().user("cut here: X").data.replace(b"X", b"\\ud83d")
    (found,) = read_bytes("claude-code", data)
    found.model_dump_json().encode("utf-8")
    assert person(found) == ["cut here: \ufffd"]


def test_records_stand_in_any_order_in_the_file() -> None:
    session = ClaudeSession().user("Add a test").agent("Added.").user("Now the docs").agent("Done.")
    (found,) = read_bytes("claude-code", jsonl(*reversed(session.records)))
    assert [text for _, text in said(found)] == ["Add a test", "Added.", "Now the docs", "Done."]


@pytest.mark.parametrize(
    "name", ["agent-abc.jsonl", "s1/subagents/agent-1.jsonl", "s1/subagents/x.jsonl"]
)
def test_a_sub_agents_own_file_is_not_a_person(name: str) -> None:
    (found,) = read_bytes("claude-code", ClaudeSession().user("Explore").agent().data, name)
    assert found.kind is SessionKind.SUBAGENT
    assert person(found) == []


def test_a_headless_run_is_known_as_one() -> None:
    session = ClaudeSession().user("Say hello", entrypoint="sdk-cli", promptSource="sdk").agent()
    assert only(session).kind is SessionKind.HEADLESS


def test_what_only_sidechains_say_is_a_sub_agents() -> None:
    assert only(ClaudeSession().user("Explore", isSidechain=True)).kind is SessionKind.SUBAGENT


def test_a_fork_names_its_parent_and_the_ids_of_what_it_copied() -> None:
    forked = {"sessionId": "s0", "messageUuid": "s0-record-0001-aaaa"}
    found = only(ClaudeSession("s2").user("Add a test", forkedFrom=forked))
    assert found.lineage_ids == ("s0",)
    assert found.turns[0].id == "s0-record-0001-aaaa"


def test_unknown_records_are_counted_and_cost_nothing_else() -> None:
    session = ClaudeSession().user("Add a test").add("brand-new").add("system").add("summary")
    (found,), damage = read_with_damage("claude-code", session.data)
    assert damage.unknown == {"brand-new": 1}
    assert person(found) == ["Add a test"]


def test_transcripts_are_looked_for_where_the_variable_says() -> None:
    home = Path("/home/ada")
    assert SOURCE.folders(Places(home))[0] == home / ".claude" / "projects"
    own = Places(home, {"CLAUDE_CONFIG_DIR": "/else/where"})
    assert SOURCE.folders(own) == [Path("/else/where/projects")]


def test_the_fixture_of_traps_has_two_requests_and_a_correction() -> None:
    data = (FIXTURES / "claude-traps.jsonl").read_bytes()
    (found,), damage = read_with_damage("claude-code", data, "claude-traps.jsonl")
    assert person(found) == [
        "Write the release notes for 2.4",
        "no, use bullet points instead of a table",
        "keep the tone friendly, please",
    ]
    assert sum(damage.damaged.values()) == 3
    assert damage.unknown == {"weather-report": 1}


def test_a_record_without_a_usable_time_still_counts() -> None:
    session = ClaudeSession().user("Add a test", timestamp="soon").agent(timestamp=None)
    assert person(only(session)) == ["Add a test"]
    assert only(session).ended is None


def test_a_time_in_milliseconds_is_read() -> None:
    found = only(ClaudeSession().user("Add a test", timestamp=1772355600000))
    assert found.started.isoformat() == at(0).replace("Z", "+00:00")
