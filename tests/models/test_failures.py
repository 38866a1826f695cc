from __future__ import annotations

import base64
from datetime import UTC, datetime
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.errors import BlockedError, CallError
from skillgit.models.failures import (
    Failure,
    FailureKind,
    Redactor,
    kind_of_status,
    retry_after,
)

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
KEYS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=8, max_size=60)


@given(KEYS, st.text(max_size=500), st.text(max_size=500))
def test_a_key_is_never_left_in_a_text(key: str, before: str, after: str) -> None:
    redact = Redactor(key)
    for spelling in (key, quote(key, safe=""), base64.b64encode(key.encode()).decode()):
        shown = redact(f"{before} {spelling} {after}")
        assert key not in shown.replace("***", "") or key in f"{before} {after}"
        assert len(shown) <= 400


@pytest.mark.parametrize("length", [8, 12, 19])
def test_the_start_of_a_key_is_as_secret_as_the_key(length: int) -> None:
    assert Redactor("sk-0123456789abcdefg")(f"<{'sk-0123456789abcdefg'[:length]}>") == "<***>"


def test_a_key_is_taken_out_before_a_text_is_cut() -> None:
    shown = Redactor("sk-0123456789abcdef")("x" * 390 + "sk-0123456789abcdef")
    assert "sk-" not in shown


def test_nothing_to_hide_hides_nothing() -> None:
    assert Redactor(None, "")("a text") == "a text"


def test_a_text_is_one_line_that_no_terminal_acts_on() -> None:
    assert Redactor()("a\n\n\tb\x1b[31m\x00c\u202e") == "a b [31m c"


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        (FailureKind.RETRIED, CallError),
        (FailureKind.FAILED, CallError),
        (FailureKind.BLOCKED, BlockedError),
        (FailureKind.UNREACHABLE, BlockedError),
    ],
)
def test_every_kind_ends_as_one_error(kind: FailureKind, error: type[Exception]) -> None:
    assert type(Failure(kind=kind, text="t").error()) is error


@pytest.mark.parametrize(
    ("status", "said", "code", "kind"),
    [
        (429, "Request too large for tokens per min", "rate_limit_exceeded", FailureKind.RETRIED),
        (500, "the context size has been exceeded", "", FailureKind.FAILED),
        (403, "your input was flagged by moderation", "", FailureKind.FAILED),
        (413, "", "", FailureKind.FAILED),
        (301, "", "", FailureKind.BLOCKED),
        (418, "", "", FailureKind.FAILED),
        (425, "", "", FailureKind.RETRIED),
    ],
)
def test_a_status_is_read_with_its_text(
    status: int, said: str, code: str, kind: FailureKind
) -> None:
    assert kind_of_status(status, said, code) is kind


@given(st.text())
def test_no_retry_after_breaks_the_reader(value: str) -> None:
    seconds = retry_after(value, NOW)
    assert seconds is None or 0 < seconds <= 60


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("2.5", 2.5),
        (" 3 ", 3.0),
        ("Sun, 01 Mar 2026 12:00:30 GMT", 30.0),
        ("Sun, 01 Mar 2026 13:00:10 +0100", 10.0),
        ("Sun, 01 Mar 2026 12:00:30 -0000", 30.0),
        (None, None),
    ],
)
def test_both_forms_of_retry_after_are_read(value: str | None, seconds: float | None) -> None:
    assert retry_after(value, NOW) == seconds
