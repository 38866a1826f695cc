"""Lineage: copies of a session are one session."""

from __future__ import annotations

from datetime import timedelta

from transcripts import START, ClaudeSession, codex_event, codex_meta, jsonl, read_bytes

from skillgit.sleep.harvest.lineage import lineages, merged
from skillgit.sleep.harvest.sessions import Transcript


def claude(session: ClaudeSession, name: str | None = None) -> Transcript:
    (found,) = read_bytes("claude-code", session.data, f"{name or session.session}.jsonl")
    return found


def test_a_session_resumed_into_a_second_file_is_one() -> None:
    first = ClaudeSession("s1").user("Add a test").agent()
    second = ClaudeSession("s1").user("Add a test").agent().user("Now the docs")
    for record in second.records:
        record["sessionId"] = "s2"
    both = [claude(first, "f1"), claude(second, "f2")]
    assert lineages(both) == [[0, 1]]
    assert [turn.text for turn in merged(both).turns] == ["Add a test", "Done.", "Now the docs"]


def test_short_ids_are_only_the_same_when_all_else_is() -> None:
    one, other = ClaudeSession("s1").user("Add a test", uuid="u1"), ClaudeSession("s2")
    other.user("Write the docs", uuid="u1")
    assert lineages([claude(one), claude(other)]) == [[0], [1]]
    copy = ClaudeSession("s3").user("Add a test", uuid="u1")
    assert lineages([claude(one), claude(other), claude(copy)]) == [[0, 2], [1]]


def test_two_sessions_of_equal_words_are_two() -> None:
    both = [claude(ClaudeSession(name).user("Add a test").agent()) for name in ("s1", "s2")]
    assert lineages(both) == [[0], [1]]
    assert merged(both[:1]).lineage != merged(both[1:]).lineage


def test_a_fork_whose_copies_have_new_ids_and_times_is_one_with_its_parent() -> None:
    parent = [codex_event(1, "user_message", message="Fix the tests")]
    child = [codex_event(61, "user_message", message="Fix the tests")]
    more = codex_event(62, "user_message", message="and the docs")
    found = [
        read_bytes("codex", jsonl(codex_meta("p"), *parent), "rollout-p.jsonl")[0],
        read_bytes(
            "codex", jsonl(codex_meta("c", forked_from_id="p"), *child, more), "rollout-c.jsonl"
        )[0],
    ]
    assert lineages(found) == [[0, 1]]
    assert [turn.text for turn in merged(found).turns] == ["Fix the tests", "and the docs"]


def test_a_chain_of_copies_is_one_lineage_in_any_order() -> None:
    first = ClaudeSession("a").user("One thing")
    second = ClaudeSession("b").user("One thing", uuid="a-record-0001-aaaa").user("Another thing")
    third = ClaudeSession("c").user("Another thing", uuid="b-record-0002-aaaa")
    found = [claude(third), claude(first), claude(second)]
    assert lineages(found) == [[0, 1, 2]]
    assert merged(found).id == merged(found[::-1]).id


def test_turns_after_the_last_harvest_are_new() -> None:
    session = merged(
        [claude(ClaudeSession().user("Old words").user("New words", timestamp=None).user("Newer"))],
        since=START + timedelta(minutes=1),
    )
    assert [session.is_new(turn) for turn in session.turns] == [False, True, True]
