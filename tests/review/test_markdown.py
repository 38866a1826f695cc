from __future__ import annotations

import re

import pytest
from hostile import HOSTILE
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from skillgit.review.markdown import block, code, folded, table, words

RENDERER = MarkdownIt("commonmark").enable("table")


def plain_html(markdown: str) -> str:
    return RENDERER.render(f"- {markdown}\n")


@pytest.mark.parametrize("text", HOSTILE)
def test_words_render_as_words(text: str) -> None:
    html = plain_html(words(text))
    assert set(re.findall(r"<(/?\w+)", html)) <= {"ul", "li", "/ul", "/li"}
    assert "@e" not in html
    assert "://" not in html
    assert "www.e" not in html
    assert not re.search(r"#\d", html)


@pytest.mark.parametrize("text", HOSTILE)
def test_code_renders_as_code_even_in_a_table(text: str) -> None:
    html = RENDERER.render(table(("a", "b"), [(code(text), "1")]))
    body = html.partition("<tbody>")[2]
    assert body.count("<td>") == 2
    tags = set(re.findall(r"<(/?\w+)", body))
    assert tags <= {"tr", "td", "code", "/tr", "/td", "/code", "/tbody", "/table"}


@pytest.mark.parametrize("text", HOSTILE)
def test_a_block_holds_what_is_in_it(text: str) -> None:
    html = RENDERER.render(f"before\n\n{block(text)}\n\nafter\n")
    assert html.count("<pre>") == 1
    assert html.endswith("<p>after</p>\n")
    assert "<script" not in html


@given(st.text(max_size=200))
def test_no_text_makes_an_element(text: str) -> None:
    html = plain_html(words(text))
    assert set(re.findall(r"<(/?\w+)", html)) <= {"ul", "li", "/ul", "/li"}
    assert "\n" not in words(text)
    in_table = RENDERER.render(table(("a", "b"), [(code(text), "1")])).partition("<tbody>")[2]
    assert in_table.count("<td>") == 2


def test_what_is_long_is_cut() -> None:
    assert len(code("x" * 10_000, 100)) <= 102


def test_what_is_folded_shows_its_title() -> None:
    assert folded("Rejected", "- one").startswith("<details><summary>Rejected</summary>\n\n- one")


def test_an_edit_without_text_says_so() -> None:
    assert code("") == "*empty*"
