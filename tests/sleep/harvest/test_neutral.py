"""The neutral format: what any tool can write."""

from __future__ import annotations

from transcripts import at, jsonl, person, read_bytes, read_with_damage, said

from skillgit.sleep.harvest.sessions import SessionKind


def test_a_line_is_a_turn_and_only_its_text_has_to_be_there() -> None:
    data = jsonl({"text": "Fix the tests"}, {"role": "assistant", "text": "Fixed."})
    (found,) = read_bytes("neutral", data, "mine.jsonl")
    assert said(found) == [("human", "Fix the tests"), ("machine", "Fixed.")]
    assert found.session_ids == ("/transcripts/mine",)


def test_every_field_says_what_it_says_elsewhere() -> None:
    data = jsonl(
        {
            "session": "a",
            "id": "2",
            "parent": "1",
            "time": at(1),
            "text": "Done.",
            "role": "assistant",
        },
        {
            "session": "a",
            "id": "1",
            "time": at(1),
            "text": "Fix it all",
            "cwd": "/w",
            "forked_from": "z",
        },
        {"session": "a", "id": "3", "time": at(2), "text": "and the docs", "origin": "steering"},
        {"session": "a", "id": "4", "time": at(3), "text": "Fix it", "origin": "injected"},
        {"session": "b", "time": at(4), "text": "Say hello", "kind": "headless"},
        {"session": "a", "id": "5", "time": at(5), "text": "be nice", "role": "system"},
    )
    first, second = read_bytes("neutral", data)
    assert person(first) == ["Fix it all", "and the docs"]
    assert [turn.id for turn in first.turns][:2] == ["1", "2"]
    assert (first.cwd, first.lineage_ids, second.kind) == ("/w", ("z",), SessionKind.HEADLESS)


def test_an_unknown_origin_is_no_persons_and_counted() -> None:
    data = jsonl({"text": "Fix the tests", "origin": "martian"}, {"type": "other"}, {"text": 5})
    (found,), damage = read_with_damage("neutral", data)
    assert person(found) == []
    assert damage.unknown == {"other": 1, "(none)": 1, "origin martian": 1}
