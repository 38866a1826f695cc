"""Assignments: secrets that are known by the name in front of them."""

from __future__ import annotations

import pytest
from fake_secrets import BODY, SECRET

from skillgit.redaction import redact
from skillgit.redaction.assignments import (
    Strength,
    assigned_secrets,
    looks_random,
    name_strength,
)

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


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("secret", [SECRET, "Tr0ub4dor&3xyz", BODY])
def test_what_a_name_calls_secret_goes(form: str, secret: str) -> None:
    assert secret not in redact(form.format(secret, secret))


@pytest.mark.parametrize(
    ("name", "strength"),
    [
        ("DB_PASSWORD", Strength.STRONG),
        ("clientSecret", Strength.STRONG),
        ("api-key", Strength.STRONG),
        ("password2", Strength.STRONG),
        ("GITHUB_TOKEN", Strength.STRONG),
        ("token", Strength.WEAK),
        ("auth", Strength.WEAK),
        ("STRIPE_KEY", Strength.FAINT),
        ("primary_key", Strength.NONE),
        ("next_token", Strength.NONE),
        ("password_file", Strength.NONE),
        ("bypass", Strength.NONE),
        ("", Strength.NONE),
    ],
)
def test_a_name_says_how_secret_its_value_is(name: str, strength: Strength) -> None:
    assert name_strength(name) is strength


@pytest.mark.parametrize(
    ("value", "random"),
    [("hunter2", True), ("aBcd", True), ("corr#ct", True), ("orange", False), ("a1", False)],
)
def test_a_value_that_nobody_says_aloud_looks_random(value: str, random: bool) -> None:
    assert looks_random(value) is random


def test_the_place_of_a_value_is_without_its_quotes() -> None:
    text = f'password = "{SECRET}"'
    (span,) = assigned_secrets(text, text.lower())
    assert text[span.start : span.end] == SECRET
