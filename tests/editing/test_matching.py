from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.editing.matching import Match, find_anchor, find_folded, fold


def test_exact_places_hide_folded_ones() -> None:
    assert find_anchor('“x” "x"', '"x"') == [Match(4, 7, exact=True)]
    assert find_anchor("“x”", '"x"') == [Match(0, 3, exact=False)]


def test_overlapping_places_are_all_found() -> None:
    assert [m.start for m in find_anchor("aaaa", "aa")] == [0, 1, 2]


def test_an_anchor_with_its_line_breaks_is_tried_first() -> None:
    assert find_anchor("a b\na\nc", "\na\n") == [Match(4, 5, exact=True)]
    assert find_anchor("a", "a\n\n") == [Match(0, 1, exact=True)]


@pytest.mark.parametrize(
    ("text", "anchor"),
    [
        ("10²", "102"),
        ("cafe\u0301", "cafe"),
        ("\u1112\u1161\u11ab", "하"),
        ("A", "a"),
        ("…", "..."),
    ],
)
def test_what_means_something_else_is_not_found(text: str, anchor: str) -> None:
    assert find_anchor(text, anchor) == []


@given(st.text(max_size=30))
def test_a_text_is_found_in_its_other_unicode_form(text: str) -> None:
    composed = unicodedata.normalize("NFC", text)
    if fold(text):
        apart = unicodedata.normalize("NFD", text)
        assert fold(composed) == fold(apart)
        assert list(find_folded(f"[{composed}]", apart))


@given(st.text(alphabet=" \n\t\u00a0ab“”‘’—-'\"", max_size=30))
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)
