from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.review.verify.texts import (
    acts_in_body,
    acts_in_message,
    added_lines,
    hidden_in,
    secrets_in,
)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("a\u202eb", "U+202E"),
        ("a\u2066b\u2069", "U+2066"),
        ("a\u200bb", "U+200B"),
        ("a\u200db", "U+200D"),
        ("a\u2060b", "U+2060"),
        ("a\u00adb", "U+00AD"),
        ("a\U000e0041b", "U+E0041"),
        ("a\ufe0fb", "U+FE0F"),
        ("a\x1b[31mb", "U+001B"),
        ("a\x00b", "U+0000"),
        ("a\ufeffb", "U+FEFF"),
        ("a\u3164b", "U+3164"),
        ("line\nthen\u200e", "line 2"),
    ],
)
def test_what_nobody_sees_is_named(text: str, named: str) -> None:
    (found,) = hidden_in("SKILL.md", text)
    assert named in found.message
    assert found.message.isprintable()


@pytest.mark.parametrize(
    "text",
    [
        "plain\ttext\r\nand more\n",
        "\ufeffwith a mark at its start",
        "naïve Ünïcode, 漢字, العربية, עברית",
        "❤️ and 👩‍👩‍👧 and 1️⃣ and 👍🏽",
        "می‌خواهم",  # a joiner where Persian wants one
        "क्‍ष",
        "non breaking",
    ],
)
def test_what_belongs_to_a_script_or_to_emoji_is_left_alone(text: str) -> None:
    assert list(hidden_in("SKILL.md", text)) == []


def test_only_new_lines_count() -> None:
    old = "was\u200bhere\n"
    assert list(hidden_in("SKILL.md", old + "new\n", old)) == []
    assert len(list(hidden_in("SKILL.md", old + old, old))) == 1


def test_many_are_counted_not_listed() -> None:
    (found,) = hidden_in("SKILL.md", "\n".join("a\u200bb" for _ in range(50)))
    assert "and 45 more" in found.message


def test_a_secret_is_told_by_line_and_kind() -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    (found,) = secrets_in("SKILL.md", f"one\nuse {token}\n")
    assert "line 2" in found.message
    assert token not in found.message
    assert list(secrets_in("SKILL.md", f"one\nuse {token}\n", f"use {token}\n")) == []


@pytest.mark.parametrize(
    "text",
    [
        "<script>x</script>",
        "before\n\n<ScRiPt src=x>",
        "in <iframe src=x> it",
        "a <svg onload=x> b",
        "<img src=x onerror=y>",
        "a <b onclick=y>b</b>",
        "[x](javascript:y)",
        "[x](\tJavaScript:y)",
        "[x](data:text/html,y)",
        "a <!-- hidden --> b",
        "<!-- hidden -->",
        "| a |\n| --- |\n| <script>x</script> |",
        "Fix it [skip ci]",
    ],
)
def test_what_a_host_acts_on_in_a_body_is_named(text: str) -> None:
    assert {finding.check for finding in acts_in_body("the text", text)} == {"text"}


@pytest.mark.parametrize(
    "text",
    [
        "Write a script that …",
        "a < b and c > d",
        "<details><summary>More</summary>\n\n- x\n\n</details>",
        "Never use `<script>` or `<!--`",
        "Never use \\<script\\> or \\<img\\>",
        "```\n<script>x</script>\n```",
        "![A screenshot](https://example.org/shot.png)",
        "see https://example.org and [this](https://example.org)",
    ],
)
def test_text_about_such_things_is_left_alone(text: str) -> None:
    assert list(acts_in_body("the text", text)) == []


@pytest.mark.parametrize("text", ["Fix it [skip ci]", "Fix it\n\nskip-checks: true"])
def test_words_that_stop_a_ci_are_named_in_a_message(text: str) -> None:
    assert [finding.check for finding in acts_in_message("the message", text)] == ["text"]


def test_a_message_is_not_rendered_and_may_speak_of_html() -> None:
    assert list(acts_in_message("the message", 'step 1\n\n- add "Never use <script>"\n')) == []


@given(st.lists(st.sampled_from(["a", "b", "c"])), st.lists(st.sampled_from(["a", "b", "c"])))
def test_added_lines_and_the_old_ones_make_the_new_ones(old: list[str], more: list[str]) -> None:
    new = "\n".join([*old, *more])
    added = [line for _, line in added_lines(new, "\n".join(old))] if old else more
    assert sorted(added) == sorted(more)
