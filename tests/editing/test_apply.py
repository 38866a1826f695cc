from __future__ import annotations

import codecs
import difflib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from work import grows_in_proportion

from skillgit.editing.apply import MAX_CONTENT, apply_edits
from skillgit.editing.document import Document
from skillgit.editing.layout import Region
from skillgit.errors import DocumentError
from skillgit.records import Edit, EditOp, Outcome

FRONTMATTER = "---\nname: a\ndescription: x\n---\n"
GUIDANCE = "<!-- SLOW_UPDATE_START -->\nguidance\n<!-- SLOW_UPDATE_END -->\n"


def add(content: str, anchor: str = "") -> Edit:
    return Edit(op=EditOp.ADD, anchor=anchor, content=content)


def replace(anchor: str, content: str) -> Edit:
    return Edit(op=EditOp.REPLACE, anchor=anchor, content=content)


def delete(anchor: str) -> Edit:
    return Edit(op=EditOp.DELETE, anchor=anchor)


def applied(doc: str, *edits: Edit) -> str:
    """The new text, when every edit is applied."""
    data, outcomes = apply_edits(doc.encode(), edits)
    assert [o.outcome for o in outcomes] == [Outcome.APPLIED] * len(edits)
    return data.decode()


def answer(doc: str, edit: Edit) -> str:
    """The outcome of an edit that is not applied."""
    data, (outcome,) = apply_edits(doc.encode(), [edit])
    assert data == doc.encode()
    return str(outcome)


# ── anchors ──────────────────────────────────────────────────────────────────────────────────


def test_an_anchor_that_stands_twice_is_ambiguous() -> None:
    doc = "# A\n- run tests\n# B\n- run tests\n"
    assert answer(doc, replace("run tests", "run pytest")) == "anchor_ambiguous(2)"


def test_overlapping_places_count() -> None:
    assert answer("# A\naaa\n", delete("aa")) == "anchor_ambiguous(2)"


@pytest.mark.parametrize("edit", [add("x", "no such line"), replace("no", "x"), delete("no")])
def test_an_absent_anchor_is_an_outcome_and_never_an_append(edit: Edit) -> None:
    assert answer("# A\ntext\n", edit) == "anchor_missing"


def test_a_similar_anchor_is_missing() -> None:
    assert answer("- always run the tests\n", delete("- always run the test s")) == "anchor_missing"
    assert answer("- at most 10² rows\n", delete("at most 102 rows")) == "anchor_missing"
    assert answer("- cafe\u0301 first\n", delete("cafe")) == "anchor_missing"
    assert answer("- 한글 first\n", delete("하")) == "anchor_missing"


@pytest.mark.parametrize(
    ("text", "anchor"),
    [
        ("say “yes” or ‘no’", "say \"yes\" or 'no'"),
        ('say "yes"', "say “yes”"),
        ("a — b", "a - b"),
        ("one\n  two", "one two"),
        ("one\u00a0two", "one two"),
        ("one two", "  one \n two  "),
        ("caf\u00e9 first", "cafe\u0301 first"),
        ("cafe\u0301 first", "caf\u00e9 first"),
        ("한글 first", "\u1112\u1161\u11ab글 first"),
    ],
)
def test_an_anchor_is_found_when_only_its_spelling_differs(text: str, anchor: str) -> None:
    data, (outcome,) = apply_edits(f"# H\n\n{text}.\n".encode(), [replace(anchor, "new")])
    assert outcome.outcome is Outcome.APPLIED_NORMALIZED
    assert data == b"# H\n\nnew.\n"


def test_a_folded_match_must_be_unique_too() -> None:
    assert answer("a “x”\nb ‘‘\na ”x“\n", delete('a "x"')) == "anchor_ambiguous(2)"


def test_an_exact_match_goes_before_folded_ones() -> None:
    assert applied('"x"\n“x”\n', replace('"x"', "y")) == "y\n“x”\n"


def test_line_breaks_at_an_anchors_ends_help_to_find_it_and_stay() -> None:
    assert applied("- a b\n- a\n- c\n", replace("\n- a\n", "- z")) == "- a b\n- z\n- c\n"
    assert applied("- a\n- c", replace("- c\n", "- z")) == "- a\n- z"


@pytest.mark.parametrize(
    ("document", "edit"),
    [
        ("# A\n", replace("# A", "\ufeff# B")),
        ("", add("\n\ufeff# B")),
        ("", add("\ufeff\ufeff# B")),
    ],
)
def test_a_byte_order_mark_never_comes_with_an_edit(document: str, edit: Edit) -> None:
    assert apply_edits(document.encode(), [edit])[0] == b"# B\n"


@pytest.mark.parametrize("anchor", ["", "  ", "\n"])
def test_an_empty_anchor_names_nothing(anchor: str) -> None:
    assert answer("# A\n", delete(anchor)) == "empty"
    assert answer("# A\n", replace(anchor, "x")) == "empty"


# ── what is frozen ───────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize(
    "edit",
    [
        delete("name: a"),
        add("x", "---"),
        add("x", "name: a"),
        replace("description", "x"),
        delete("x\n---\n# A"),
    ],
)
def test_the_frontmatter_is_frozen(mark: str, edit: Edit) -> None:
    assert answer(mark + FRONTMATTER + "# A\n", edit) == "frontmatter"


def test_no_edit_makes_a_frontmatter() -> None:
    assert answer("", add("---\nname: b\n---")) == "frontmatter"
    assert answer("---\n# A\n", add("x\n---")) == "frontmatter"
    assert answer("intro\n---\nname: b\n---\n", delete("intro")) == "frontmatter"


def test_a_byte_order_mark_stays_and_hides_no_frontmatter() -> None:
    doc = "\ufeff" + FRONTMATTER + "# A\n"
    assert applied(doc, add("- x")) == doc + "\n- x\n"


@pytest.mark.parametrize("fence", ["```", "~~~", "````"])
def test_a_fence_is_frozen_inside(fence: str) -> None:
    doc = f"# A\n{fence}\nx\n{fence}\n"
    for edit in (add("y", fence), add("y", "x"), delete("x"), replace("x", "y")):
        assert answer(doc, edit) == "fence"


def test_a_whole_fence_can_be_named() -> None:
    doc = "# A\n\n```sh\nx\n```\n\nend\n"
    fence = "```sh\nx\n```"
    assert applied(doc, delete(fence)) == "# A\n\n\nend\n"
    assert applied(doc, add("more", fence)) == "# A\n\n```sh\nx\n```\nmore\n\nend\n"
    assert applied(doc, replace(fence, "~~~\ny\n~~~")) == "# A\n\n~~~\ny\n~~~\n\nend\n"


def test_fences_in_lists_nested_and_never_closed_are_fences() -> None:
    assert answer("- a\n  ```\n  x y\n  ```\n", delete("x y")) == "fence"
    assert answer("````\n```\nx y\n```\n````\n", delete("```\nx y\n```")) == "fence"
    assert answer("# A\n```\nx y\n", delete("x y")) == "fence"
    assert answer("# A\n```\nx y\n", add("- more")) == "fence"


def test_a_comment_in_code_is_no_heading() -> None:
    doc = "```sh\n# one\nx\n# two\n```\n\n# B\n\ntext\n"
    assert answer(doc, delete("# two")) == "fence"
    assert applied(doc, replace("text", "new")) == doc.replace("text", "new")


@pytest.mark.parametrize("content", ["```\nx", "~~~", "- a\n  ```\n  x", "````\nx\n```"])
def test_content_must_close_its_fences(content: str) -> None:
    assert answer("# A\ntext\n\nmore\n", add(content, "text")) == "fence"
    assert answer("# A\ntext\n\nmore\n", add(content)) == "fence"
    assert answer("# A\ntext\n\nmore\n", replace("text", content)) == "fence"


def test_content_may_hold_a_fence() -> None:
    content = "Run:\n\n```\nmake\n```"
    assert applied("# A\n", add(content)) == f"# A\n\n{content}\n"


def test_an_edit_cannot_turn_a_fence_below_into_prose() -> None:
    nested = "1.  a\n\n    ```\n    x\n    ```\n"
    assert answer(nested, replace("1.  a", "a")) == "fence"
    assert answer("# A\n\ntext\n\n```\nx\n```\n", add("<pre>", "text")) == "fence"


@pytest.mark.parametrize(
    "edit",
    [
        replace("keep\n\n<!-- SLOW_UPDATE_START -->", "x"),
        replace("guidance", "x"),
        delete("<!-- SLOW_UPDATE_END -->"),
        add("x", "<!-- SLOW_UPDATE_START -->"),
        add("x", "<!-- SLOW_UPDATE_END -->"),
        add("<!-- SLOW_UPDATE_END -->"),
        add("x\n<!-- APPENDIX_START -->\ny\n<!-- APPENDIX_END -->", "keep"),
        replace("keep", "x\n<!-- SLOW_UPDATE_START -->"),
    ],
)
def test_protected_regions_are_neither_changed_nor_made(edit: Edit) -> None:
    assert answer(f"# A\n- keep\n\n{GUIDANCE}", edit) == "protected"


def test_no_half_of_a_marker_is_made_whole() -> None:
    doc = f"# A\n\n<!-- APPENDIX_STAR -->\n\n{GUIDANCE}"
    assert answer(doc, replace("<!-- APPENDIX_STAR", "<!-- APPENDIX_START")) == "protected"


def test_markers_shown_in_a_fence_are_text() -> None:
    doc = f"# A\n\n```\n{GUIDANCE}```\n"
    assert applied(doc, add("- x")) == doc + "\n- x\n"
    assert applied("# A\n", add(f"```\n{GUIDANCE}```")) == doc


def test_a_start_without_its_end_stops_everything() -> None:
    with pytest.raises(DocumentError, match="line 2"):
        apply_edits(b"# A\n<!-- APPENDIX_START -->\nmy text\n", [add("x")])


# ── adding ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("doc", "content", "result"),
    [
        ("", "x", "x\n"),
        ("# A\n", "text", "# A\n\ntext\n"),
        ("# A\n- a\n", "- b", "# A\n- a\n- b\n"),
        ("# A\n- a\n  more\n", "- b", "# A\n- a\n  more\n- b\n"),
        ("- a\n  - deep\n", "- b", "- a\n  - deep\n- b\n"),
        ("1. a\n", "2. b", "1. a\n2. b\n"),
        ("1. a\n", "- b", "1. a\n\n- b\n"),
        ("- a\n", "text", "- a\n\ntext\n"),
        ("text\n\n\n", "- b", "text\n\n- b\n\n\n"),
        ("- a", "- b", "- a\n- b"),
        ("text\n\n    code\n", "- b", "text\n\n    code\n\n- b\n"),
        (f"# A\n- a\n\n{GUIDANCE}", "- b", f"# A\n- a\n- b\n\n{GUIDANCE}"),
        (f"# A\ntext\n{GUIDANCE}", "new", f"# A\ntext\n\nnew\n{GUIDANCE}"),
        (f"{GUIDANCE}text\n", "new", f"{GUIDANCE}text\n\nnew\n"),
        (GUIDANCE, "new", f"new\n{GUIDANCE}"),
        (FRONTMATTER, "new", f"{FRONTMATTER}\nnew\n"),
        ("# A\n", "\n\n    - kept\n      as is  \n\n", "# A\n\n    - kept\n      as is  \n"),
    ],
)
def test_content_without_anchor_goes_to_the_end(doc: str, content: str, result: str) -> None:
    assert applied(doc, add(content)) == result


@pytest.mark.parametrize(
    ("doc", "anchor", "result"),
    [
        ("# A\ntext\n", "# A", "# A\n- x\ntext\n"),
        ("- a b c\n- d\n", "b", "- a b c\n- x\n- d\n"),
        ("one\ntwo\nthree\n", "one\ntw", "one\ntwo\n- x\nthree\n"),
        ("- a", "a", "- a\n- x"),
    ],
)
def test_content_goes_after_the_line_of_its_anchor(doc: str, anchor: str, result: str) -> None:
    assert applied(doc, add("- x", anchor)) == result


# ── additions whose place is not there ───────────────────────────────────────────────────────


def placed(doc: str, edit: Edit) -> tuple[str, Outcome]:
    """The text and the outcome where a missing place is made up for."""
    data, (outcome,) = apply_edits(doc.encode(), [edit], place_missing=True)
    return data.decode(), outcome.outcome


SECTIONS = "# A\n\n## Style\n\n- short\n\n### Tone\n\nCalm.\n\n## Sources\n\n- one\n"


@pytest.mark.parametrize(
    ("doc", "anchor", "result"),
    [
        (SECTIONS, "no such line", f"{SECTIONS}- x\n"),
        (SECTIONS, "line 99", f"{SECTIONS}- x\n"),
        (SECTIONS, "style", SECTIONS.replace("Calm.\n", "Calm.\n\n- x\n")),
        (SECTIONS, "### tone ", SECTIONS.replace("Calm.\n", "Calm.\n\n- x\n")),
        (SECTIONS, "#SOURCES", f"{SECTIONS}- x\n"),
        (f"{SECTIONS}\n{GUIDANCE}", "nowhere", f"{SECTIONS}- x\n\n{GUIDANCE}"),
        (f"{SECTIONS}\n{GUIDANCE}", "SOURCES", f"{SECTIONS}- x\n\n{GUIDANCE}"),
        ("", "nowhere", "- x\n"),
        ("# A\n- same\n# B\n- same\n", "- same", "# A\n- same\n# B\n- same\n- x\n"),
        (f"{FRONTMATTER}# A\n\ntext\n", "nowhere", f"{FRONTMATTER}# A\n\ntext\n\n- x\n"),
    ],
)
def test_an_addition_without_its_place_goes_to_the_end_of_the_section_it_names_or_of_the_body(
    doc: str, anchor: str, result: str
) -> None:
    assert placed(doc, add("- x", anchor)) == (result, Outcome.PLACED_AT_END)
    assert placed(result, add("- x", anchor)) == (result, Outcome.DUPLICATE)


def test_an_addition_that_was_placed_is_recorded_without_the_anchor_that_was_not_there() -> None:
    data, (outcome,) = apply_edits(b"# A\n\n- a\n", [add("- x", "nowhere")], place_missing=True)
    assert outcome.edit == add("- x")
    assert apply_edits(b"# A\n\n- a\n", [outcome.edit])[0] == data


@pytest.mark.parametrize(
    ("edit", "outcome"),
    [
        (replace("nowhere", "x"), Outcome.ANCHOR_MISSING),
        (delete("nowhere"), Outcome.ANCHOR_MISSING),
        (replace("- same", "x"), Outcome.ANCHOR_AMBIGUOUS),
        (delete("- same"), Outcome.ANCHOR_AMBIGUOUS),
        (add("x", "name: a"), Outcome.FRONTMATTER),
        (add("x", "guidance"), Outcome.PROTECTED),
        (add("x", "code"), Outcome.FENCE),
        (add(" ", "nowhere"), Outcome.EMPTY),
        (add("x" * (MAX_CONTENT + 1), "nowhere"), Outcome.TOO_LONG),
        (add(GUIDANCE, "nowhere"), Outcome.PROTECTED),
        (add("- same", "nowhere"), Outcome.DUPLICATE),
    ],
)
def test_only_additions_are_placed_and_only_for_want_of_a_place(
    edit: Edit, outcome: Outcome
) -> None:
    doc = f"{FRONTMATTER}# A\n- same\n# B\n- same\n\n```\ncode\n```\n\n{GUIDANCE}"
    assert placed(doc, edit) == (doc, outcome)


def test_what_finds_its_place_is_applied_there_as_ever() -> None:
    doc = "# A\n- a\n- b\n"
    assert placed(doc, add("- x", "- a")) == ("# A\n- a\n- x\n- b\n", Outcome.APPLIED)
    assert placed(doc, add("- x", "-  a")) == (
        "# A\n- a\n- x\n- b\n",
        Outcome.APPLIED_NORMALIZED,
    )


@pytest.mark.parametrize("anchor", ["", "# A", "text"])
@pytest.mark.parametrize("content", ["- x", "a rule", "## B\n\ntwo\n\n- x\n- y", "```\nx\n```"])
def test_the_same_add_twice_is_a_duplicate(anchor: str, content: str) -> None:
    edit = add(content, anchor)
    _, outcomes = apply_edits(b"# A\ntext\nmore\n", [edit, edit])
    assert [o.outcome for o in outcomes] == [Outcome.APPLIED, Outcome.DUPLICATE]


@pytest.mark.parametrize(
    "doc",
    [
        "- use tabs\n",
        "# A\nuse tabs\n",
        "* use   tabs\n* more\n",
        "1. use\n   tabs\n",
        "text\n\nuse tabs",
        "- [x] use tabs\n",
        f"# A\n{GUIDANCE.replace('guidance', 'use tabs')}",
    ],
)
def test_what_is_there_as_a_block_is_a_duplicate(doc: str) -> None:
    assert answer(doc, add("- use tabs")) == "duplicate"
    assert answer(doc, add("use tabs\n")) == "duplicate"


@pytest.mark.parametrize(
    "doc",
    [
        "- never use tabs\n",
        "- use tabs in makefiles\n",
        "- never\n  use tabs\n",
        "- use tabs\n  only in makefiles\n",
        "never\nuse tabs\n",
        "## use tabs\n",
        "```\nuse tabs\n```\n",
        "---\nname: a\n# x\n\nuse tabs\n\n---\n",
        "Use Tabs\n",
        "> use tabs\n",
    ],
)
def test_a_part_of_another_rule_is_no_duplicate(doc: str) -> None:
    _, (outcome,) = apply_edits(doc.encode(), [add("- use tabs")])
    assert outcome.outcome is Outcome.APPLIED


# ── replacing and deleting ───────────────────────────────────────────────────────────────────


def test_replacing_something_by_itself_is_a_noop() -> None:
    assert answer("# A\nx\n", replace("x", "x")) == "noop"
    assert answer("# A\n“x”\n", replace('"x"', "“x”")) == "noop"


def test_a_bullet_given_for_a_bullets_words_does_not_nest() -> None:
    doc = "- run tests\n  - deep\n"
    assert applied(doc, replace("run tests", "- run pytest")) == "- run pytest\n  - deep\n"
    assert applied(doc, replace("deep", "- deeper")) == "- run tests\n  - deeper\n"
    assert applied("## Steps\n", replace("Steps", "## Steps to take")) == "## Steps to take\n"
    assert applied("run *x*\n", replace("*x*", "- y")) == "run - y\n"


@pytest.mark.parametrize(
    ("doc", "anchor", "result"),
    [
        ("- a\n- b\n- c\n", "b", "- a\n- c\n"),
        ("- a\n- b\n- c\n", "- b", "- a\n- c\n"),
        ("- a\n- b\n- c\n", "- b\n", "- a\n- c\n"),
        ("1. a\n2. b\n", "b", "1. a\n"),
        ("x\n\nb\n\ny\n", "b", "x\n\n\ny\n"),
        ("- a\n- [ ] b\n", "b", "- a\n"),
        ("# H\nb", "H", "b"),
        ("a\nb", "b", "a\n"),
        ("one two three\n", " two", "one three\n"),
        ("a\nb\nc\nd\n", "b\nc", "a\nd\n"),
        ("only", "only", ""),
    ],
)
def test_deleting_all_of_a_line_removes_the_line(doc: str, anchor: str, result: str) -> None:
    assert applied(doc, delete(anchor)) == result


def test_content_is_needed_and_has_a_limit() -> None:
    for content in ("", " \n\t", "\x00"):
        assert answer("x\n", add(content)) == "empty"
        assert answer("x\n", replace("x", content)) == "empty"
    assert answer("x\n", add("- ")) == "empty"
    assert answer("x\n", add("y" * (MAX_CONTENT + 1))) == "too_long"
    assert applied("x\n", add("y" * MAX_CONTENT)) == "x\n\n" + "y" * MAX_CONTENT + "\n"


def test_what_was_rejected_alone_is_not_tried_again() -> None:
    edit = add("- x")
    data, (outcome,) = apply_edits(
        b"# A\n", [edit], known_rejected=[edit.model_copy(update={"rationale": "why"})]
    )
    assert (data, outcome.outcome) == (b"# A\n", Outcome.KNOWN_REJECTED)


# ── bytes ────────────────────────────────────────────────────────────────────────────────────


def test_windows_lines_are_matched_and_written() -> None:
    doc = "# A\r\nline1\r\nline2\r\n"
    assert applied(doc, replace("line1\nline2", "x\ny\nz")) == "# A\r\nx\r\ny\r\nz\r\n"
    assert applied(doc, add("- b\n- c")) == doc + "\r\n- b\r\n- c\r\n"
    assert applied(doc, add("- b\r\n- c", "# A")) == "# A\r\n- b\r\n- c\r\nline1\r\nline2\r\n"


def test_mixed_line_ends_stay_mixed() -> None:
    assert applied("a\nb\r\nc\n", add("x", "b")) == "a\nb\r\nx\r\nc\n"
    assert applied("a\nb\r\nc\n", delete("b")) == "a\nc\n"


def test_blank_lines_elsewhere_stay() -> None:
    doc = "# A\n\n\n\ntext\n\n\n\nmore\n"
    assert applied(doc, replace("more", "less")) == doc.replace("more", "less")


# ── for any input ────────────────────────────────────────────────────────────────────────────

WORDS = ["a", "use tabs", "“x”", "café", "x  y", "---", "```", "~~~", "- b", "1. c", "> q", "<pre>"]
LINES = st.sampled_from(
    [
        *WORDS,
        *(
            "",
            "",
            "# H",
            "  in",
            "    code",
            "- a",
            "  ```",
            "- ```",
            "# H b",
            "***",
            "<!--",
            "-->",
        ),
        *(marker for region in Region for marker in (region.start_marker, region.end_marker)),
    ]
)
ENDS = st.sampled_from(["\n", "\n", "\r\n", "\r"])
TEXTS = st.one_of(
    st.lists(LINES, max_size=12).map("\n".join),
    st.text(max_size=12),
)


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    parts = draw(st.lists(st.tuples(LINES, ENDS), max_size=14))
    body = "".join(line + end for line, end in parts) + draw(st.sampled_from(["", "end", "- e"]))
    body = draw(st.sampled_from(["", FRONTMATTER])) + body + draw(st.sampled_from(["", GUIDANCE]))
    return (draw(st.sampled_from(["", "\ufeff"])) + body).encode()


@st.composite
def edits_for(draw: st.DrawFn, data: bytes) -> list[Edit]:
    text = data.decode()
    edits = []
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        part = text[start : start + draw(st.integers(1, 20))]
        anchor = draw(st.one_of(st.just(part), st.just(""), TEXTS))
        content = draw(TEXTS)
        edits.append(Edit(op=draw(st.sampled_from(EditOp)), anchor=anchor, content=content))
    return edits


def parsed(data: bytes) -> Document | None:
    try:
        return Document.parse(data)
    except DocumentError:
        return None


@settings(max_examples=600, deadline=None)
@given(st.data())
def test_whatever_the_edits_are_what_is_frozen_stays(draw: st.DataObject) -> None:
    data = draw.draw(documents())
    before = parsed(data)
    if before is None:
        return
    edits = draw.draw(edits_for(data))
    region = draw.draw(st.sampled_from([None, None, Region.LEARNED]))
    result, outcomes = apply_edits(data, edits, region=region)
    after = Document.parse(result)
    assert [o.edit for o in outcomes] == edits
    if not any(o.outcome.changed_text for o in outcomes):
        assert result == data
    assert after.bom == before.bom
    assert frozen_texts(after, region) == frozen_texts(before, region)
    if b"\r\n" in data and data.count(b"\r\n") == data.count(b"\n") == data.count(b"\r"):
        assert result.count(b"\r\n") == result.count(b"\n") == result.count(b"\r")


def frozen_texts(document: Document, learning: Region | None) -> list[str]:
    layout = document.layout
    return [
        document.text[: layout.frontmatter_end],
        *(document.text[s.start : s.end] for s in layout.regions if s.region is not learning),
    ]


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_second_add_changes_nothing(draw: st.DataObject) -> None:
    data = draw.draw(documents())
    if parsed(data) is None:
        return
    edit = add(draw.draw(TEXTS))
    once, (first,) = apply_edits(data, [edit])
    if first.outcome is Outcome.APPLIED:
        twice, (second,) = apply_edits(once, [edit])
        assert (twice, second.outcome) == (once, Outcome.DUPLICATE)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_only_the_lines_an_edit_names_change(draw: st.DataObject) -> None:
    data = draw.draw(documents())
    if parsed(data) is None:
        return
    (edit, *_) = draw.draw(edits_for(data))
    result, _ = apply_edits(data, [edit])
    # A byte order mark belongs to the file: it stays in front of whatever is the first line.
    old, new = (b.removeprefix(codecs.BOM_UTF8).splitlines(keepends=True) for b in (data, result))
    blocks = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    removed = sum(end - start for tag, start, end, _, _ in blocks if tag != "equal")
    unfinished = not data.endswith((b"\n", b"\r"))
    allowed = 0 if edit.op is EditOp.ADD else edit.anchor.count("\n") + edit.anchor.count("\r") + 1
    assert removed <= allowed + unfinished


def test_fifty_edits_of_a_long_document_all_fit() -> None:
    section = (
        "## Part {0}\n\n- rule {0} is here “and” it is long enough\n\n```\n# code {0}\n```\n\n"
    )
    doc = "".join(section.format(n) for n in range(2_600)).encode()
    edits = [replace(f"rule {n} is here", f"rule {n} was here") for n in range(100, 120)]
    edits += [replace(f'rule {n} is here "and"', f"rule {n}") for n in range(200, 210)]
    edits += [add(f"- new rule {n}") for n in range(20)]
    result, outcomes = apply_edits(doc, edits)
    assert len(doc) > 190_000
    assert all(o.outcome.changed_text for o in outcomes)
    assert Document.parse(result).text.count("- new rule") == 20


@pytest.mark.parametrize(
    "part",
    ["```\n## x\n", "```\n<!-- APPENDIX_START -->\n```\n", "- '\n", "<!--\n", "`", "[", "> "],
)
def test_edits_take_work_in_proportion_to_the_document(part: str) -> None:
    edits = [add("- x"), replace("“q", "y"), add("'"), delete("```")]
    assert grows_in_proportion(lambda size: apply_edits((part * size).encode(), edits), 250)


def test_line_ends_are_remembered_when_every_line_is_taken_out() -> None:
    result, _ = apply_edits(b"a\r\n", [delete("a"), add("b")])
    assert result == b"b\r\n"
