from __future__ import annotations

import pytest

from skillgit.editing.matching import ends_with_list, is_list_item


@pytest.mark.parametrize(
    "text", ["- a", "* a", "+ a", "1. a", "12) a", "  - a", "-\ta", "- a\nb", "-"]
)
def test_list_items_are_told(text: str) -> None:
    assert is_list_item(text)


@pytest.mark.parametrize(
    "text", ["a", "--no-verify", "*a*", "**a** b", "1.5 x", "* * *", "- - -", "", "a\n- b"]
)
def test_other_lines_are_no_items(text: str) -> None:
    assert not is_list_item(text)


@pytest.mark.parametrize("text", ["- a", "- a\n  b", "- a\n\n  b", "- a\n  1. b", "x\n\n- a"])
def test_a_list_at_the_end_is_seen(text: str) -> None:
    assert ends_with_list(text, "- new")


@pytest.mark.parametrize(
    "text", ["", "a", "1. a", "- a\n\nb", "a\n\n    code", "- a\n***", "- a\n# b"]
)
def test_what_ends_otherwise_is_no_list(text: str) -> None:
    assert not ends_with_list(text, "- new")
