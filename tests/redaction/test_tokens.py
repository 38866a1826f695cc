"""Tokens: secrets that are known by their own shape."""

from __future__ import annotations

import re

import pytest
from fake_secrets import BODY, TOKENS

from skillgit.redaction import redact
from skillgit.redaction.tokens import KINDS


@pytest.mark.parametrize("token", TOKENS)
@pytest.mark.parametrize("form", ["{}", "use {}, please", "KEY={};", '{{"a":"{}"}}', "({})"])
def test_a_token_goes_wherever_it_stands(token: str, form: str) -> None:
    clean = redact(form.format(token))
    assert token not in clean
    assert token[8:] not in clean
    assert "[redacted:" in clean


@pytest.mark.parametrize("text", ["https://user:pass@host", "postgres://u:p@db"])
def test_a_url_keeps_its_host_and_loses_its_login(text: str) -> None:
    scheme, host = text.split("://")[0], text.split("@")[1]
    assert redact(text) == f"{scheme}://[redacted:url-password]@{host}"


@pytest.mark.parametrize("kind", ["RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "DSA ", ""])
def test_a_private_key_goes_whole_even_without_its_end(kind: str) -> None:
    begin, end = f"-----BEGIN {kind}PRIVATE KEY-----", f"-----END {kind}PRIVATE KEY-----"
    assert redact(f"a\n{begin}\n{BODY}\n{BODY}\n{end}\nb") == "a\n[redacted:private-key]\nb"
    assert BODY not in redact(f"a\n{begin}\n{BODY}\n{BODY}\n")
    assert BODY not in redact(f'{{"key": "{begin}\\n{BODY}\\n{end}"}}')


def test_basic_logins_are_known_by_what_they_encode() -> None:
    assert redact("Basic dXNlcjpwYXNz") == "Basic [redacted:basic-login]"
    assert redact("Basic Authentication") == "Basic Authentication"


def test_every_kind_is_looked_for_by_a_hint_in_lower_case() -> None:
    for kind in KINDS:
        assert kind.hints, kind.name
        assert all(hint and hint == hint.lower() for hint in kind.hints), kind.name
        assert re.fullmatch(r"[a-z0-9-]+", kind.name)
