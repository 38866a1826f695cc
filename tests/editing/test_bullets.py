from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgit.editing.apply import apply_edits
from skillgit.editing.bullets import as_bullets, find_bullets
from skillgit.editing.document import Document, region_text
from skillgit.editing.layout import Region
from skillgit.errors import DocumentError
from skillgit.records import Edit, EditOp, Outcome

START, END = Region.LEARNED.start_marker, Region.LEARNED.end_marker


def learned(*lines: str) -> str:
    return "\n".join(["# A", "- mine", "", START, *lines, END, "", "after", ""])


def run(doc: str, op: str, anchor: str = "", content: str = "") -> tuple[str, str]:
    edit = Edit(op=EditOp(op), anchor=anchor, content=content)
    data, (outcome,) = apply_edits(doc.encode(), [edit], region=Region.LEARNED)
    return data.decode(), str(outcome)


@pytest.mark.parametrize(
    ("content", "bullets"),
    [
        ("Use uv", "- Use uv"),
        ("- Use uv", "- Use uv"),
        ("* Use uv", "* Use uv"),
        ("--no-verify must never be used", "- --no-verify must never be used"),
        ("**Never** push", "- **Never** push"),
        ("one\ntwo\n\n  three", "- one\n  two\n\n    three"),
        ("- one\ntwo\n  three", "- one\n  two\n    three"),
        ("- one\n  two", "- one\n  two"),
        ("- one\n- two", "- one\n- two"),
        ("do:\n- one\n- two", "- do:\n  - one\n  - two"),
        ("  - one", "- one"),
        ("```\nx\n```", "- ```\n  x\n  ```"),
    ],
)
def test_content_becomes_bullets(content: str, bullets: str) -> None:
    assert as_bullets(content) == bullets
    assert run(learned("- old"), "add", content=content) == (
        learned("- old", bullets),
        "applied",
    )


def test_bullets_are_found_with_all_their_lines() -> None:
    text = "intro\n- a\n  more\n\n  still a\n\n- b\nlazy\n* c\n"
    assert [b.text for b in find_bullets(text, 0, len(text))] == [
        "- a\n  more\n\n  still a",
        "- b",
        "* c",
    ]


def test_the_region_is_made_with_the_first_bullet() -> None:
    assert run("# A\ntext\n", "add", content="x") == (
        f"# A\ntext\n{START}\n- x\n{END}\n",
        "applied",
    )
    assert run("# A\r\n", "add", content="x")[0] == f"# A\r\n{START}\r\n- x\r\n{END}\r\n"
    assert run("# A", "add", content="x")[0] == f"# A\n{START}\n- x\n{END}"


def test_a_region_after_raw_html_is_set_apart_from_it() -> None:
    doc = "# A\n<details>\nmore\n</details>\n"
    assert run(doc, "add", content="x")[0] == f"{doc}\n{START}\n- x\n{END}\n"


def test_without_a_region_there_is_nothing_to_name() -> None:
    for op in ("delete", "replace", "add"):
        assert run("# A\n- x\n", op, "x", "y") == ("# A\n- x\n", "anchor_missing")


def test_a_bullet_already_there_is_a_duplicate_whatever_its_case_and_spelling() -> None:
    doc = learned("- Use  “uv”\n  always")
    assert run(doc, "add", content='* use "uv" always') == (doc, "duplicate")
    assert run(doc, "add", content='use "uv"')[1] == "applied"


def test_of_several_bullets_those_already_there_are_left_out() -> None:
    assert run(learned("- a"), "add", content="- A\n- b") == (learned("- a", "- b"), "applied")


@pytest.mark.parametrize(
    ("anchor", "outcome"),
    [
        ("pytest", "applied"),
        ("- run pytest", "applied"),
        ("* Run   PYTEST", "applied_normalized"),
        ("run pytest\nwith -x", "applied_normalized"),
        ("run", "anchor_ambiguous(2)"),
        ("mine", "anchor_missing"),
        ("after", "anchor_missing"),
        ("", "empty"),
    ],
)
def test_a_bullet_is_named_by_what_fits_it_alone(anchor: str, outcome: str) -> None:
    doc = learned("- run pytest\n  with -x", "- run ruff")
    expected = learned("- run ruff") if outcome.startswith("applied") else doc
    assert run(doc, "delete", anchor) == (expected, outcome)


def test_a_bullet_is_replaced_whole() -> None:
    doc = learned("- run pytest\n  with -x", "- run ruff")
    assert run(doc, "replace", "pytest", "run tox") == (
        learned("- run tox", "- run ruff"),
        "applied",
    )
    assert run(doc, "replace", "ruff", "- run ruff") == (doc, "noop")
    assert run(doc, "replace", "pytest", "Run ruff") == (doc, "duplicate")


def test_an_added_bullet_follows_the_one_it_names() -> None:
    doc = learned("- a\n  more", "- b")
    assert run(doc, "add", "more", "c") == (learned("- a\n  more", "- c", "- b"), "applied")


def test_three_lines_survive_a_second_night() -> None:
    first, _ = run(learned(), "add", content="one\ntwo\nthree")
    second, _ = run(first, "add", content="four")
    assert second == learned("- one", "  two", "  three", "- four")


@pytest.mark.parametrize(
    ("content", "outcome"),
    [
        (f"x\n{END}", "protected"),
        ("- x\n<!-- SLOW_UPDATE_START -->", "protected"),
        ("x\n```\ny", "fence"),
        ("- ```", "fence"),
        ("", "empty"),
    ],
)
@pytest.mark.parametrize("doc", [learned("- old"), "# A\n"])
def test_a_bullet_cannot_leave_the_region(doc: str, content: str, outcome: str) -> None:
    assert run(doc, "add", content=content) == (doc, outcome)


def test_other_regions_and_frontmatter_are_out_of_reach() -> None:
    doc = f"---\nname: a\n---\n<!-- APPENDIX_START -->\n- a\n<!-- APPENDIX_END -->\n{learned()}"
    assert run(doc, "delete", "a") == (doc, "anchor_missing")
    assert run(doc, "add", content="b")[0] == doc.replace(f"{START}\n", f"{START}\n- b\n")


CONTENTS = st.one_of(
    st.text(max_size=20),
    st.lists(
        st.sampled_from(["- a", "b", "", "  c", "* D", "1. x", "```", "# h", START, END, "-- y"]),
        max_size=6,
    ).map("\n".join),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(EditOp), CONTENTS, CONTENTS), max_size=5), CONTENTS)
def test_outside_the_region_no_byte_changes(
    changes: list[tuple[EditOp, str, str]], old: str
) -> None:
    doc = learned("- old", *(f"- {line}" for line in old.splitlines() if line.strip()))
    edits = [Edit(op=op, anchor=anchor, content=content) for op, anchor, content in changes]
    try:
        data = Document.parse(doc.encode()).to_bytes()
    except DocumentError:
        return
    result, outcomes = apply_edits(data, edits, region=Region.LEARNED)
    before, after = data.decode().split(START)[0], data.decode().rsplit(END, 1)[1]
    assert len(outcomes) == len(edits)
    assert result.decode().startswith(before + START)
    assert result.decode().endswith(END + after)
    again, repeated = apply_edits(result, edits[-1:], region=Region.LEARNED)
    if edits and edits[-1].op is EditOp.ADD and outcomes[-1].outcome is Outcome.APPLIED:
        assert (again, repeated[0].outcome) == (result, Outcome.DUPLICATE) or edits[-1].anchor
    assert region_text(Document.parse(again), Region.LEARNED) is not None
