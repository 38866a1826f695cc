"""Redaction: what is a secret goes, what only looks like one stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from work import grows_in_proportion

from skillgit.errors import UserError
from skillgit.redaction import find_secrets, redact, redacted_excerpt, refuse_secrets

# Put together here, so that no line of this file is itself taken for a secret by a scanner.
BODY = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
HEX = "0123456789abcdef" * 3
SECRET = "hunter2horse"

TOKENS = [
    *(f"{prefix}_{BODY}" for prefix in ("ghp", "gho", "ghu", "ghs", "ghr", "github_pat")),
    *(f"{prefix}-{BODY}" for prefix in ("glpat", "gldt", "glrt", "glptt")),
    "npm" + "_" + BODY,
    "hf" + "_" + BODY,
    "pypi-AgE" + "IcHlwaS5vcmc" + BODY,
    *("sk-" + kind + BODY for kind in ("", "ant-api03-", "proj-", "svcacct-", "or-v1-")),
    *(f"{kind}_{mode}_{BODY[:24]}" for kind in ("sk", "rk") for mode in ("live", "test")),
    "whsec_" + BODY,
    *(f"xox{kind}-123456789012-{BODY[:24]}" for kind in "abpors"),
    "xapp-1-" + BODY,
    "AIza" + BODY,
    "ya29." + BODY,
    "GOCSPX-" + BODY[:28],
    "AKIA" + "IOSFODNN7EXAMPLE",
    "ASIA" + "IOSFODNN7EXAMPLE",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + BODY,
    "SG." + BODY[:22] + "." + BODY,
    "SK" + HEX[:32],
    "key-" + HEX[:32],
    HEX[:32] + "-us12",
    "123456789:AA" + BODY[:33],
    "shpat_" + HEX[:32],
    "dapi" + HEX[:32],
    "hvs." + BODY,
    "dp.pt." + BODY,
    "gsk_" + BODY,
    "xai-" + BODY,
    "nvapi-" + BODY,
    "r8_" + BODY,
    "pplx-" + BODY,
    "dop_v1_" + HEX,
    "dckr_pat_" + BODY[:27],
    "glsa_" + BODY,
    "lin_api_" + BODY,
    "figd_" + BODY,
    "sbp_" + HEX[:40],
    "AGE-SECRET-KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "tskey-auth-" + BODY,
]

FORMS = [
    "DB_PASS={}",
    "export DB_PASSWORD={}",
    "DB_PASS='{}'",
    'password = "{}"',
    "password: {}",
    "  db_password: {}  # production",
    '{{"password": "{}"}}',
    '{{"clientSecret":"{}"}}',
    r"{{\"api_key\": \"{}\"}}",
    "api-key: {}",
    "X-Api-Key: {}",
    "AWS_SECRET_ACCESS_KEY={}",
    "aws_secret_access_key = {}",
    "Server=db;User Id=sa;Password={};Encrypt=yes",
    "DefaultEndpointsProtocol=https;AccountKey={};",
    "//registry.npmjs.org/:_authToken={}",
    "MYSQL_PWD={} mysqldump",
    "PGPASSWORD={} psql",
    "mysql -u root -p{} shop",
    "sshpass -p {} ssh host",
    "curl -u admin:{} https://example.org",
    "curl --user admin:{} https://example.org",
    "tool --password {} --verbose",
    "tool --password={}",
    "tool --api-key {}",
    "machine example.org login me password {}",
    "<password>{}</password>",
    "https://user:{}@example.org/x",
    "postgres://u:{}@db:5432/shop",
    "postgresql+psycopg://u:{}@db/shop",
    "redis://:{}@cache:6379/0",
    "mongodb+srv://u:{}@cluster.example.org",
    "amqp://u:p@ss{}@mq",
    "Authorization: Bearer {}",
    "Authorization: {}",
    '"Authorization": "Token {}"',
    "-H 'authorization: bearer {}'",
    "Cookie: session={}; theme=dark",
    "Set-Cookie: sid={}; Path=/; HttpOnly",
    "my password is {}",
    "the api key is: {}",
    "https://example.org/x?access_token={}",
    "https://s3.example.org/x?X-Amz-Signature={}&x=1",
    "ENV SECRET_KEY_BASE {} \nSECRET_KEY_BASE={}",
    "passphrase => '{}'",
    'os.environ["API_TOKEN"] = "{}"',
    "config['password'] = '{}'",
    "password := `{}`",
    '{{"command": "export DB_PASS={}"}}',
    'run("mysql --password={} shop")',
    "sh -c 'API_TOKEN={} deploy'",
    "DB_PASSWORD_PROD={}4Xy",
    "STRIPE_KEY={}{}",
    '"auth": "{}4Xy"',
    "requirepass {}",
    "DB_PASS={};next",
]

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


@pytest.mark.parametrize("token", TOKENS)
@pytest.mark.parametrize("form", ["{}", "use {}, please", "KEY={};", '{{"a":"{}"}}', "({})"])
def test_a_token_goes_wherever_it_stands(token: str, form: str) -> None:
    clean = redact(form.format(token))
    assert token not in clean
    assert token[8:] not in clean
    assert "[redacted:" in clean


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("secret", [SECRET, "Tr0ub4dor&3xyz", BODY])
def test_what_a_name_calls_secret_goes(form: str, secret: str) -> None:
    assert secret not in redact(form.format(secret, secret))


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
