"""ATIF: one reader for what several tools export."""

from __future__ import annotations

import json
from typing import Any

from transcripts import at, jsonl, person, read_bytes, read_with_damage, said

from skillgit.sleep.harvest.lineage import lineages


def trajectory(**fields: Any) -> dict[str, Any]:
    steps = [
        {"step_id": 1, "timestamp": at(1), "source": "system", "message": "You are an agent."},
        {"step_id": 2, "timestamp": at(2), "source": "user", "message": "Fix the tests"},
        {"step_id": 3, "timestamp": at(3), "source": "agent", "message": "Fixed.",
         "tool_calls": [], "observation": {"results": [{"content": "ok"}]}},
        {"step_id": 4, "timestamp": at(4), "source": "user",
         "message": [{"type": "text", "text": "no, all of them"}]},
        {"step_id": 5, "source": "user", "message": "Fix the tests", "is_copied_context": True},
    ]  # fmt: skip
    whole = {"schema_version": "ATIF-v1.7", "session_id": "t1", "agent": {"name": "x"}}
    return whole | {"steps": steps} | fields


def test_a_trajectory_is_a_session() -> None:
    (found,) = read_bytes("atif", json.dumps(trajectory(), indent=1).encode(), "t1.json")
    assert said(found) == [
        ("injected", "You are an agent."), ("human", "Fix the tests"), ("machine", "Fixed."),
        ("human", "no, all of them"), ("summary", "Fix the tests"),
    ]  # fmt: skip
    assert (found.session_ids, found.cwd) == (("t1", "/transcripts/t1"), None)


def test_several_trajectories_can_be_lines_of_one_file() -> None:
    data = jsonl(trajectory(), trajectory(session_id="t2", continued_trajectory_ref="t1.json"))
    first, second = read_bytes("atif", data, "all.jsonl")
    assert person(first) == person(second)
    assert second.lineage_ids == ("/transcripts/t1",)


def test_exports_of_one_name_are_not_one_session_and_a_continued_one_is() -> None:
    found = []
    for folder, fields in (
        ("a", {}),
        ("b", {}),
        ("b/c", {"continued_trajectory_ref": "../next.json"}),
    ):
        whole = json.dumps(trajectory(session_id=None, **fields)).encode()
        found += read_bytes("atif", whole, f"{folder}/trajectory.json")
    assert lineages(found) == [[0], [1], [2]]
    one = json.dumps(trajectory(session_id="x", continued_trajectory_ref="next.json")).encode()
    other = json.dumps(trajectory(session_id="y")).encode()
    both = [*read_bytes("atif", one, "d/first.json"), *read_bytes("atif", other, "d/next.json")]
    assert lineages(both) == [[0, 1]]


def test_a_sub_agents_trajectory_inside_is_not_a_persons() -> None:
    inner = trajectory(session_id="inner")
    (found,) = read_bytes(
        "atif", json.dumps(trajectory(subagent_trajectories=[inner])).encode(), "t1.json"
    )
    assert len(person(found)) == 2


def test_what_is_no_trajectory_is_counted() -> None:
    for data in (b"", b"[1]", b'{"steps": ', b"\xff\xfe", b"{" * 10_000):
        found, damage = read_with_damage("atif", data, "x.json")
        assert (found, damage.damaged) == ([], {"not JSON": 1})
    found, damage = read_with_damage("atif", b'{"a": 1}', "x.json")
    assert (found, damage.unknown) == ([], {"(none)": 1})
    odd = json.dumps(trajectory(steps=[1, None, {"source": "moon", "message": 5}])).encode()
    _, damage = read_with_damage("atif", odd, "x.json")
    assert (damage.damaged, damage.unknown) == ({"no step": 2}, {"moon": 1})
