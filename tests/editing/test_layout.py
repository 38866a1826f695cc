from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgit.editing import layout
from skillgit.editing.layout import Region, analyse, find_frontmatter, makes_regions
from skillgit.errors import DocumentError

START, END = Region.APPENDIX.start_marker, Region.APPENDIX.end_marker


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        (["a", START, "b"], f"line 2: {START} has no {END} after it"),
        (["a", "b", END], f"line 3: {END} has no {START} before it"),
        ([START, END, START, END], f"line 3: {START} opens a second region"),
        ([START, START, END], f"line 2: {START} stands before"),
        ([START, Region.LEARNED.start_marker, END], "line 2: "),
        (["---", "a: b", "---", START], "line 4: "),
    ],
)
def test_markers_that_do_not_pair_name_their_line(lines: list[str], complaint: str) -> None:
    with pytest.raises(DocumentError) as caught:
        analyse("\n".join(lines))
    assert caught.value.message.startswith(complaint)
    assert makes_regions("\n".join(lines))


@pytest.mark.parametrize(
    "text",
    [
        f"see {START} here",
        f"```\n{START}\n```",
        f"- a\n  ~~~\n  {START}\n  ~~~",
        f"````\n```\n{START}\n````",
        f"    {START}",
        f"> {START}",
        START.lower(),
        f"---\nname: |\n{START}\n---\n",
    ],
)
def test_what_only_looks_like_a_marker_is_text(text: str) -> None:
    assert analyse(text).regions == ()


@pytest.mark.parametrize("line", [START, f"{START}  ", f"  {START}"])
def test_white_space_around_a_marker_does_not_hide_it(line: str) -> None:
    assert len(analyse(f"{line}\nx\n{END}").regions) == 1


def test_all_three_regions_are_found() -> None:
    text = "\n".join(f"{r.start_marker}\n{r.value}\n{r.end_marker}" for r in Region)
    spans = analyse(text).regions
    assert [text[s.inner_start : s.inner_end] for s in spans] == [f"{r.value}\n" for r in Region]


@pytest.mark.parametrize(
    ("text", "fences"),
    [
        ("```\nx\n```\n", [("```\nx\n```", True)]),
        ("- ```\n  x\n  ```\n", [("```\n  x\n  ```", True)]),
        ("~~~\n```\n~~~", [("~~~\n```\n~~~", True)]),
        ("a\n```\nx\n\n", [("```\nx", False)]),
        ("```", [("```", False)]),
        ("```\n", [("```", False)]),
        ("```\n\n", [("```", False)]),
        ("```\n    ```\n", [("```\n    ```", False)]),
        ("- ```\n  x\n\ny\n", [("```\n  x", False)]),
        ("    ```\n    x\n", []),
        ("``` a ` b\n", []),
        ("<pre>\n```\n</pre>\n", []),
    ],
)
def test_fences_are_found(text: str, fences: list[tuple[str, bool]]) -> None:
    found = analyse(text).fences
    assert [(text[f.start : f.end], f.closed) for f in found] == fences


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("---\na: b\n---\n# A", 12),
        ("---\n---", 7),
        ("---  \na\n---\t\nx", 12),
        ("---\na\n...\n", 9),
        ("---\na\n", 0),
        ("----\na\n---\n", 0),
        ("a\n---\nb\n---\n", 0),
    ],
)
def test_frontmatter_is_what_stands_at_the_very_start(text: str, length: int) -> None:
    assert find_frontmatter(text) == length


LINES = st.sampled_from(
    [
        "a",
        "",
        "# h",
        "## h",
        "```",
        "~~~",
        "  ```",
        "- ```",
        "    x",
        "> ```",
        "<div>",
        "<!--",
        "-->",
        "- a",
    ]
)


@settings(max_examples=500, deadline=None)
@given(st.lists(LINES, max_size=25).map("\n".join))
def test_sections_parsed_alone_have_the_fences_of_the_whole(text: str) -> None:
    whole = layout._parse_section(text).fences
    assert analyse(text).fences[-len(whole) :] == whole or not whole
    assert len(analyse(text).fences) == len(whole)
