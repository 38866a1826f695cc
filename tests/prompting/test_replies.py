from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from skillgit.editing.numbered_lines import NumberedSkill
from skillgit.errors import ReplyError
from skillgit.prompting.answers import Items
from skillgit.prompting.edit_schema import EditAnswer, EditsAnswer
from skillgit.prompting.replies import extract
from skillgit.records import Edit, EditOp, Skill, SkillDocument

SKILL = NumberedSkill(
    Skill(name="brief", documents=(SkillDocument(path="skills/brief/SKILL.md", data=b""),))
)


class SomeEdits(EditsAnswer):
    edits: Items[EditAnswer]


def edits_in(text: str | None) -> list[Edit]:
    return [edit.as_edit(SKILL) for edit in extract(text, SomeEdits.read).edits]


def anything(value: JsonValue) -> JsonValue:
    return value


def a_list_of_numbers(value: JsonValue) -> list[int]:
    if not isinstance(value, list):
        raise ReplyError("not a list")
    return [item for item in value if isinstance(item, int)]


def nothing_fits(value: JsonValue) -> JsonValue:
    raise ReplyError("no")


# ── the rows of the contract ─────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "text",
    [
        "I would use {op: delete} here, but no change is needed.",
        "I would use {'op': 'delete', 'anchor': 'x'} here.",
        "[{'op': 'add', 'content': 'x'}]",
        "[" * 50_000,
        '{"a":' * 5_000,
        '{"a":' * 5_000 + "1" + "}" * 5_000,
        '{"edits": [], "n": ' + "7" * 5_000 + "}",
        '{"edits": null}',
        '{"edits": "none"}',
        '{"edits": {"op": "add", "content": "x"}}',
        '{"patch": null}',
        '{"patch": {"edits": null}}',
        '{"op": "add", "content": "x"}',
        "",
        " \n ",
        "\ufeff",
        None,
        "null",
        "true",
        "17",
        '"no edits"',
        "[1]",
        '["add", "delete"]',
        '[{"op": "explode"}]',
        '[{"op": true, "content": "x"}]',
        '[{"content": "x"}]',
        '{"edits": [{"op": "add", "content": "a"}, {"op": "add", "cont',
        '{"edits": [{"op": "add", "content": "x", "task_ids": []}, {"op": "a',
        '<think>{"edits": [{"op": "add", "content": "x"}]}',
        '<think>{"edits": [{"op": "add", "content": "x"}]}</think> Nothing to do.',
        '{"edits": [], "x": NaN}',
        '{"edits": [], "x": -Infinity}',
        '{"edits": [], "x": 1e309}',
    ],
)
def test_what_holds_no_edits_is_a_parse_failure(text: str | None) -> None:
    with pytest.raises(ReplyError):
        edits_in(text)


@pytest.mark.parametrize(
    "text",
    [
        'As noted [see log], here: [{"op":"add","content":"x"}] per [1]',
        '{"note":1}\n{"edits":[{"op":"append","content":"x"}]}',
        '<think>{"edits": []}</think>{"edits":[{"op":"append","content":"x"}]}',
        '<THINK>\n{"edits": []}\n</THINK>\n\n{"edits":[{"op":"append","content":"x"}]}',
        '<think>a<think>{"edits": []}</think>{"edits": []}</think>[{"op":"add","content":"x"}]',
        '<think>I write <think> first. {"edits": []}</think>[{"op":"add","content":"x"}]',
        '{"edits": []} hm, better: </think>\n{"edits":[{"op":"add","content":"x"}]}',
        '{"patch": {"edits": [{"op":"insert_after","content":"x"}]}, "failure_summary": []}',
        '```json\n{"edits": [{"op": "add", "content": "x"}]}\n```',
        '```\n[{"op": "add", "content": "x"}]\n```',
        '~~~JSON5\n{"edits": [{"op": "add", "content": "x"}]}\n~~~',
        'The form is {"edits": []}, so:\n```json\n{"edits": [{"op": "add", "content": "x"}]}\n```',
        'First:\n```python\nx = [1]\n```\nthen\n```json\n[{"op": "add", "content": "x"}]\n```',
        'The type string[] is right, so [{"op": "add", "content": "x"}]',
        '\ufeff{"edits": [{"op": "add", "content": "x"}]}',
        '{"edits": [{"op": "add", "content": "x"},],}',
        '{"edits": [ // one\n {"op": "add", /* new */ "content": "x"} ]}',
        '{"edits": [{"op": "ADD", "content": "x", "confidence": 0.5}], "extra": {"a": [1]}}',
        '{"edits": null, "edits": [{"op": "add", "content": "x"}]}',
        '{"edits": [{"op": "add", "content": "x"}], "note": {oops}}',
        'He wrote {"quoted, then {"edits": [{"op": "add", "content": "x"}]}',
        "[" * 500 + ' {"edits": [{"op": "add", "content": "x"}]}',
        json.dumps('{"edits": [{"op": "add", "content": "x"}]}'),
    ],
)
def test_one_add_is_found(text: str) -> None:
    (edit,) = edits_in(text)
    assert (edit.op, edit.content, edit.target, edit.anchor) == (EditOp.ADD, "x", "skill", "")


@pytest.mark.parametrize(
    "text", ['{"edits":[]}\nReplace {foo} with {bar}.', "[]", "No edits: []", '{"edits": []}']
)
def test_no_edits_are_no_failure(text: str) -> None:
    assert edits_in(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Explanation uses {placeholder, final answer [1, 2]",
        'Explanation uses {"placeholder", final answer [1, 2]',
        'Explanation uses {"x": [1], y} and the answer is [1, 2]',
        "Explanation uses [see {this}, final answer [1, 2]",
        'Explanation uses "[", final answer [1, 2]',
    ],
)
def test_a_brace_in_prose_does_not_hide_the_answer(text: str) -> None:
    assert extract(text, a_list_of_numbers) == [1, 2]


def test_a_raw_line_feed_in_a_string_and_a_trailing_comma_are_forgiven() -> None:
    (edit,) = edits_in('{"edits":[{"op":"append","content":"a\nb"},]}')
    assert edit.content == "a\nb"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (r"\ud800", "\ufffd"),
        (r"a\udfffb", "a\ufffdb"),
        (r"\ud83d\ude00", "😀"),
        ("\ud800", "\ufffd"),
        (r"\"q\" \\ \/ \n\t", '"q" \\ / \n\t'),
        (r"a regex \d+", r"a regex \d+"),
        ("never print </think> or <think>", "never print </think> or <think>"),
        ("```python\\nx = []\\n```", "```python\nx = []\n```"),
        ("{braces} [and] brackets", "{braces} [and] brackets"),
        ("--no-verify must…", "--no-verify must…"),
        ("// no comment", "// no comment"),
        ("a\tb\r\nc", "a\tb\r\nc"),
    ],
)
def test_a_string_is_read_as_it_was_meant(written: str, read: str) -> None:
    (edit,) = edits_in('Here: {"edits": [{"op": "add", "content": "' + written + '"}]}')
    assert edit.content == read
    edit.content.encode("utf-8")


def test_the_reason_says_what_was_wrong() -> None:
    with pytest.raises(ReplyError, match="edits is null, not a list"):
        edits_in('{"edits": null}')
    with pytest.raises(ReplyError, match="no JSON"):
        edits_in("no change")
    with pytest.raises(ReplyError, match="empty"):
        edits_in("")


# ── speed and safety ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "text",
    [
        "[" * 50_000,
        '{"a":' * 5_000,
        "lorem {foo} [bar] ipsum " * 40_000,
        '["' * 50_000,
        '",["' * 25_000,
        '[\\"' * 50_000,
        "[/*" * 50_000,
        "[//" * 50_000,
        "[1" + "0" * 100_000,
        '["' + "\\" * 100_001,
        "[] {} " * 10_000,
        "<think>" * 20_000,
        "</think>{}" * 20_000,
        ("[" * 60 + "]" * 59) * 500,
    ],
    ids=lambda text: f"{text[:8]!r} for {len(text)}",
)
def test_a_hostile_answer_is_refused_in_under_a_second(text: str) -> None:
    start = time.thread_time()
    with pytest.raises(ReplyError):
        extract(text, nothing_fits)
    assert time.thread_time() - start < 1.0


@settings(deadline=None)
@given(st.text(alphabet='{}[]",:\\/*\n ae1-.<>think`u\ud800', max_size=120))
def test_nothing_but_its_own_error_is_raised(text: str) -> None:
    try:
        found = extract(text, anything)
    except ReplyError:
        return
    assert isinstance(found, dict | list)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**18), 10**18)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('abc{["\\'), inner),
    max_leaves=12,
)


@settings(deadline=None, max_examples=50)
@given(st.dictionaries(st.text("ab"), json_values, min_size=1), st.integers(0, 3))
def test_whatever_json_writes_is_read_back(value: dict[str, JsonValue], indent: int) -> None:
    text = json.dumps(value, indent=indent or None, ensure_ascii=indent == 1)
    assert extract(text, anything) == value
    assert extract(f"Well:\n```json\n{text}\n```\nDone.", anything) == value
    assert extract(f"Well, {text} is it.", anything) == value
