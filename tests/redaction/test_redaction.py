"""Redaction: what is a secret goes, what only looks like one stays."""

from __future__ import annotations

import pytest
from fake_secrets import BODY, TOKENS
from hypothesis import given
from hypothesis import strategies as st
from work import grows_in_proportion

from skillgit.errors import UserError
from skillgit.redaction import find_secrets, redact, redacted_excerpt, refuse_secrets

HARMLESS = [
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "id: 123e4567-e89b-12d3-a456-426614174000",
    "password = None",
    "password: str = ''",
    "token: string;",
    "api_key=<YOUR_KEY>",
    "API_KEY=${API_KEY}",
    "export TOKEN=$GITHUB_TOKEN",
    'api_key = os.environ["OPENAI_API_KEY"]',
    "password=self.password",
    "password = get_password()",
    "token = request.token",
    "login(user, password=password)",
    "max_tokens=4096",
    "tokens: 12345678",
    "token_count: 51234567",
    "primary_key: user_id_1234",
    "cache_key = 'abc123def456'",
    "password_file: /run/secrets/db",
    "secret_name: shop/db-1",
    "api_key_env = \"OPENAI_API_KEY\"",
    "The password must have 12 characters.",
    "password: the field a person fills in",
    "Use bearer authentication with basic authentication as a fallback.",
    "all tests pass: 12 of 12",
    "bypass: true4you",
    "npm_config_registry=https://registry.npmjs.org/",
    "from huggingface_hub import hf_hub_download",
    "class sk-fading-circle-container",
    "git clone git@github.com:me/repo.git",
    "ssh://git@example.org/repo.git",
    "http://localhost:3000/@scope/package",
    "see https://example.org:8443/a@b",
    "docker run -u 1000:1000 image",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "password: ********",
    "password: [redacted:secret]",
    "the cookie: chocolate and oats",
    "public_key = 'abc123def456abc123def456'",
    "partition_key: customer_1234567890123",
    "password_reset: true",
    "secret_santa = 'Bob'",
    "auth: required",
    "def f(auth: AuthTypes | None = None, secret_value: SecretType = x) -> None: ...",
    "authorization: Optional[str] = None",
    "authorization = request.headers.get('x')",
    "api_key = await self.fetch()",
    "ENV NODE_VERSION 20.11.1",
    "set -euo pipefail",
]  # fmt: skip


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == text


@given(st.text(max_size=300))
def test_redacting_twice_is_as_once(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@given(st.integers(0, 400), st.sampled_from(TOKENS), st.integers(1, 300))
def test_an_excerpt_never_ends_inside_a_secret(before: int, token: str, limit: int) -> None:
    excerpt = redacted_excerpt("a " * (before // 2) + token + " z" * 5_000, limit)
    assert len(excerpt) <= limit
    assert token[:12] not in excerpt


@pytest.mark.parametrize("length", [10, 1_000, 5_000, 100_000])
@pytest.mark.parametrize(
    "form", ['password="{}"', "password={}", "API_KEY={}", "eyJhbGciOiJIUzI1NiJ9.{}"]
)
def test_a_secret_goes_whatever_its_length(length: int, form: str) -> None:
    secret = ("x7" * length)[:length]
    assert "x7x7x" not in redact(f"a {form.format(secret)} b")
    assert "x7x7x" not in redacted_excerpt("y " * 100 + form.format(secret), 400)


def test_an_excerpt_of_a_long_private_key_shows_none_of_it() -> None:
    text = "x " * 50 + "-----BEGIN RSA PRIVATE KEY-----\n" + (BODY + "\n") * 500
    assert BODY not in redacted_excerpt(text, 4_000)


def test_a_short_text_is_its_own_excerpt() -> None:
    assert redacted_excerpt("run the tests", 100) == "run the tests"


@pytest.mark.parametrize(
    ("start", "unit", "end"),
    [
        ("", "a://", ""),
        ("", "password=", ""),
        ("", "curl ", ""),
        ("", "-----BEGIN PRIVATE KEY-----", ""),
        ("eyJ", "a", ""),
        ("Cookie: ", "a=b;", ""),
        ("", "token", ""),
        ("", "x:", "token"),
        ("://", "a:", ""),
        ("", 'password="', ""),
        ("password=`", "password='", ""),
        ("", "password=$", ""),
        ("", "PASSWORD=$", ""),
        ("KEY=" * 1_000, "a,;)", ""),
        ("", "<a>", "secret"),
    ],
)
def test_redaction_takes_work_in_proportion_to_the_text(start: str, unit: str, end: str) -> None:
    """The time that the patterns themselves take is in `benchmarks/scaling.py`."""
    assert grows_in_proportion(lambda size: redact(start + unit * size + end), 1_000)


def test_a_finding_names_line_and_kind() -> None:
    (found,) = find_secrets(f"# A\n\n- use ghp_{BODY} here\n")
    assert (found.kind, found.line) == ("github-token", 3)


def test_a_blob_with_a_secret_is_refused_without_showing_it() -> None:
    with pytest.raises(
        UserError, match=r"SKILL\.md is not committed.*line 2 \(github-token\)"
    ) as e:
        refuse_secrets("SKILL.md", f"# A\nghp_{BODY}\n".encode())
    assert BODY[:6] not in e.value.message + e.value.hint


def test_a_blob_without_or_with_none_but_old_secrets_is_let_through() -> None:
    refuse_secrets("SKILL.md", b"# A\n- password: <PASSWORD>\n\xff\xfe")
    refuse_secrets("README.md", b"connect to https://user:password@host or postgres://u:p@db")
    old = f"ghp_{BODY}".encode()
    with pytest.raises(UserError, match="url-password"):
        refuse_secrets("README.md", b"https://ada:hunter2horse@host")
    refuse_secrets("SKILL.md", b"# A\n" + old, before=old)
    with pytest.raises(UserError):
        refuse_secrets("SKILL.md", b"# A\n" + old + b" ghp_zzzzzzzzzzzzzzzz", before=old)
