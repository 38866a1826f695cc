"""Bytes flipped, cut and spliced in valid transcripts never raise."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transcripts import ClaudeSession, read_bytes

from skillgit.sleep.harvest.lineage import merged
from skillgit.sleep.mine import mine_heuristic

FIXTURES = Path(__file__).parents[1] / "fixtures"
ATIF = {
    "schema_version": "ATIF-v1.5",
    "session_id": "t",
    "steps": [
        {
            "step_id": 1,
            "timestamp": "2026-03-01T09:00:00Z",
            "source": "user",
            "message": "Fix it now",
        },
        {"step_id": 2, "source": "agent", "message": "Done.", "observation": {"results": []}},
        {"step_id": 3, "source": "user", "message": [{"type": "text", "text": "no, use uv here"}]},
    ],
}
NEUTRAL = b'{"text": "Fix it now", "time": "2026-03-01T09:00:00Z"}\n{"role": "tool", "text": "x"}\n'
WHOLE = [
    ("claude-code", (FIXTURES / "claude-traps.jsonl").read_bytes(), "s.jsonl"),
    ("claude-code", ClaudeSession().user("Add a test").agent().user("wrong").data, "s.jsonl"),
    ("codex", (FIXTURES / "codex-newest.jsonl").read_bytes(), "rollout-s.jsonl"),
    ("codex", (FIXTURES / "codex-bare.jsonl").read_bytes(), "rollout-s.jsonl"),
    ("atif", json.dumps(ATIF).encode(), "s.json"),
    ("neutral", NEUTRAL, "s.jsonl"),
]


@st.composite
def damaged(draw: st.DrawFn) -> tuple[str, bytes, str]:
    source, whole, name = draw(st.sampled_from(WHOLE))
    data = bytearray(whole)
    for _ in range(draw(st.integers(1, 6))):
        place = draw(st.integers(0, len(data)))
        match draw(st.sampled_from(("flip", "cut", "splice", "drop", "token"))):
            case "flip" if place < len(data):
                data[place] ^= draw(st.integers(1, 255))
            case "cut":
                del data[place:]
            case "drop":
                del data[place : place + draw(st.integers(1, 200))]
            case "splice":
                other = draw(st.sampled_from(WHOLE))[1]
                start = draw(st.integers(0, len(other)))
                data[place:place] = other[start : start + draw(st.integers(0, 300))]
            case "token":
                token = draw(
                    st.sampled_from((b"null", b"[]", b"{}", b"1e999", b'"\\ud800"', b"-1", b"true"))
                )
                data[place:place] = token
    return source, bytes(data), name


@settings(max_examples=300, deadline=None)
@given(damaged())
def test_no_damage_raises_in_reading_merging_or_mining(case: tuple[str, bytes, str]) -> None:
    found = read_bytes(*case)
    for transcript in found:
        transcript.model_dump_json().encode("utf-8")
    if found:
        mine_heuristic([merged(found)])


VALUES: list[object] = [
    None,
    True,
    0,
    -1,
    1e300,
    "",
    "x",
    "\ud800",
    [],
    {},
    [[]],
    {"a": {}},
    ["x"],
    10**30,
]


def _places(value: object, path: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [path, *(place for key, part in items for place in _places(part, (*path, key)))]


@pytest.mark.parametrize(("source", "data", "name"), WHOLE)
def test_any_value_may_stand_in_any_field(source: str, data: bytes, name: str) -> None:
    rows = data.splitlines() if name.endswith("l") else [data]
    for number, row in enumerate(rows):
        try:
            record = json.loads(row)
        except ValueError:
            continue
        for place in _places(record)[1:]:
            for value in VALUES:
                changed = json.loads(row)
                target = changed
                for key in place[:-1]:
                    target = target[key]
                target[place[-1]] = value
                lines = [*rows[:number], json.dumps(changed).encode(), *rows[number + 1 :]]
                for transcript in read_bytes(source, b"\n".join(lines), name):
                    merged([transcript])
