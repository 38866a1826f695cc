from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgit.editing.document import Document, Heading, region_text, replace_region
from skillgit.editing.layout import Region
from skillgit.errors import DocumentError

SLOW = Region.SLOW_UPDATE
BLOCK = f"{SLOW.start_marker}\nguidance\n{SLOW.end_marker}\n"
NEW = BLOCK.replace("guidance", "new\ntext")


def document(text: str) -> Document:
    return Document.parse(text.encode())


@settings(max_examples=300, deadline=None)
@given(st.text().filter(lambda text: "\x00" not in text))
def test_the_same_bytes_come_back(text: str) -> None:
    assert document(text).to_bytes() == text.encode()


@pytest.mark.parametrize(
    "data",
    [b"", b"\xef\xbb\xbf", b"\xef\xbb\xbf\r\n", b"a\r\r\n\nb\r", b"a\x0b\xe2\x80\xa8b\x85"[:-1]],
)
def test_odd_bytes_come_back(data: bytes) -> None:
    assert Document.parse(data).to_bytes() == data


@pytest.mark.parametrize(
    ("data", "line"),
    [(b"a\n\xff\xfe", "line 2"), (b"caf\xe9", "line 1"), (b"a\n\nb\x00", "line 3")],
)
def test_what_is_not_text_is_refused_with_its_line(data: bytes, line: str) -> None:
    with pytest.raises(DocumentError, match=line):
        Document.parse(data)


# ── frontmatter ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("start", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_frontmatter_is_read(start: str, end: str) -> None:
    text = start + end.join(["---", "name: a", "description: >", "  b", "---", "# A", ""])
    assert document(text).frontmatter == {"name": "a", "description": "b\n"}


@pytest.mark.parametrize("text", ["", "# A\n", "---\n---\n", "---\nno end\n", "\n---\na: b\n---\n"])
def test_no_frontmatter_has_no_values(text: str) -> None:
    assert document(text).frontmatter == {}


@pytest.mark.parametrize(
    ("inner", "line"),
    [
        ("name: [", "line"),
        ("a: b\nc: d: e", "line 3"),
        ("- a", "line 1"),
        ("d: 2024-99-99", "line 1"),
    ],
)
def test_a_frontmatter_that_cannot_be_read_is_an_error_only_when_asked(
    inner: str, line: str
) -> None:
    broken = document(f"---\n{inner}\n---\n")
    with pytest.raises(DocumentError, match=line):
        _ = broken.frontmatter


def test_headings_have_their_lines() -> None:
    text = "---\nname: a\n---\n# A `b`\ntext\n\nC\n===\n\n```\n# no\n```\n- ## in a list\n## D ##\n"
    assert document(text).headings == (
        Heading(1, "A `b`", 4),
        Heading(1, "C", 7),
        Heading(2, "D", 14),
    )


# ── regions ──────────────────────────────────────────────────────────────────────────────────


def test_the_text_of_a_region_is_what_stands_between_its_markers() -> None:
    assert region_text(document(f"a\n{BLOCK}b\n"), SLOW) == "guidance"
    assert region_text(document("a\n"), SLOW) is None
    assert region_text(document(f"{SLOW.start_marker}\n{SLOW.end_marker}"), SLOW) == ""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"a\n\n\n{BLOCK}b", f"a\n\n\n{NEW}b"),
        ("a\n", "a\n\n" + NEW),
        ("a\n\n", "a\n\n" + NEW),
        ("a", "a\n\n" + NEW[:-1]),
        ("", NEW),
        ("a\r\n", ("a\n\n" + NEW).replace("\n", "\r\n")),
    ],
)
def test_a_region_is_replaced_or_made_at_the_end(before: str, after: str) -> None:
    assert replace_region(document(before), SLOW, "new\ntext") == after.encode()


def test_an_empty_text_leaves_no_line() -> None:
    assert replace_region(document(BLOCK), SLOW, "") == BLOCK.replace("guidance\n", "").encode()


@pytest.mark.parametrize(
    "text",
    [
        SLOW.end_marker,
        f"x\n{SLOW.end_marker}\n{SLOW.start_marker}",
        Region.APPENDIX.start_marker,
        f"{Region.APPENDIX.start_marker}\n{Region.APPENDIX.end_marker}",
        "```\nopen",
        "<pre>",
        "nul \x00",
        "half \ud800",
    ],
)
def test_a_text_that_would_leave_its_region_is_refused(text: str) -> None:
    with pytest.raises(DocumentError):
        replace_region(document(f"# A\n{BLOCK}\n```\nx\n```\n"), SLOW, text)


def test_no_region_is_made_inside_an_open_fence() -> None:
    with pytest.raises(DocumentError):
        replace_region(document("a\n```\nx\n"), SLOW, "new")


TEXTS = st.lists(st.sampled_from(["a", "- b", "", "```", "# c", "  d", "é"]), max_size=6)


@settings(max_examples=200, deadline=None)
@given(TEXTS, TEXTS, TEXTS, st.sampled_from(["\n", "\r\n"]))
def test_a_region_gives_back_what_was_put_in(
    before: list[str], inner: list[str], after: list[str], end: str
) -> None:
    raw = end.join([*before, SLOW.start_marker, "old", SLOW.end_marker, *after])
    try:
        was = document(raw)
        changed = Document.parse(replace_region(was, SLOW, "\n".join(inner)))
    except DocumentError:
        return
    if was.layout.region(SLOW) is None:
        return
    assert region_text(changed, SLOW) == "\n".join(inner)
    assert replace_region(changed, SLOW, "old") == raw.encode()
    assert replace_region(was, SLOW, "old") == raw.encode()
