"""Secrets that are known by the name in front of them: `DB_PASS=…`, `"api_key": "…"`, `password: …`.

The name decides; the value may only excuse itself, as a placeholder, a type, or a piece of code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


HINTS = (
    "pass", "pwd", "secret", "token", "key", "credential", "auth", "kennwort", "contras",
    "mot_de_passe", "psw", "_pw", "pw=", "pw:",
)  # fmt: skip
"""Lower-case texts of which one occurs wherever there is a name that asks for secrecy."""


class Strength(Enum):
    """How much a name says: after a strong one, every value is taken for a secret."""

    NONE = 0
    FAINT = 1
    WEAK = 2
    STRONG = 3


_SHORTEST = {Strength.FAINT: 16, Strength.WEAK: 8}
"""How long a value has to be after a name that is not strong. Unit: characters."""


class Span(NamedTuple):
    """Where in the text a secret stands."""

    start: int
    end: int


class _Given(NamedTuple):
    named: re.Match[str]
    value: str
    start: int
    end: int
    quoted: bool


_NAMED = re.compile(
    r"(?<![\w$])(?P<key>[A-Za-z_À-ÿ][\w.\-À-ÿ]{0,80})\\{0,3}[\"'`]?\]?"
    r"(?P<op>[ \t]{0,8}(?:=>|:=|=(?!=)|:(?!:))[ \t]{0,8})(?:[bru]{1,2}(?=[\"']))?"
)
_QUOTED = re.compile(r"(?P<quote>\\{0,3}[\"'`])(?P<value>[^\n]+?)(?=(?P=quote)|\n|\Z)")
_BARE = re.compile(r"(?P<value>[^\s\"'`<>,;(){}\[\]][^\s\"'`,;(){}\[\]]{0,3999})")
_BARE_IN_SHELL = re.compile(r"(?P<value>[^\s\"'`<>(){}\[\]][^\s\"'`]{0,3999})")
_END_OF_BARE = re.compile(r"[\s\"'`]|\Z")
_BETWEEN = ";,)"
LOOKED_AT = 4_000
"""How much of a bare value is looked at to tell what it is. Unit: characters."""
_FLAG = re.compile(
    r"(?<![\w\-])--?(?P<key>[A-Za-z][\w\-]{2,40})[ \t]+(?P<value>(?!-)[^\s\"'`]{3,}|[\"'][^\n\"']{3,}[\"'])"
)
_DECLARED = re.compile(
    r"\b(?:ENV|ARG|setenv)[ \t]+(?P<key>[A-Za-z_]\w{2,60})[ \t]+(?P<value>[^\s\"'=][^\s]{2,}|[\"'][^\n\"']{3,}[\"'])"
)
_SPOKEN = re.compile(
    r"(?i)\b(?P<key>password|passphrase|passcode|passwort|api[ -]?key|secret(?:[ -]key)?|(?:access |auth )?token)\s+"
    r"(?:for \S+ )?(?:is|was|ist|lautet)\s*:?\s+[\"'`]?(?P<value>[^\s\"'`]{4,})"
)
_ELEMENT = re.compile(r"<(?P<key>[A-Za-z][\w:.\-]{0,60})>(?P<value>[^<>\n]{3,500})</")

_PARTS = re.compile(r"[A-ZÀ-Þ]+(?![a-zß-ÿ])|[A-ZÀ-Þ]?[a-zß-ÿ]+|\d+")
_PASSWORDS = _words(
    "pass password passwd passphrase passcode passwort kennwort pwd psw pw contraseña "
    "contrasena contrasenya dbpass dbpassword userpass pgpassword mysqlpwd masterpassword "
    "rootpassword smtppassword keypass storepass"
)
_SECRETS = frozenset(("secret", "secrets", "credential", "credentials", "clientsecret"))
_TOKENS = frozenset(
    ("token", "authtoken", "accesstoken", "refreshtoken", "apitoken", "bearertoken", "pat")
)
_KEYS = _words(
    "apikey accesskey secretkey privatekey authkey accountkey encryptionkey signingkey "
    "masterkey sharedaccesskey"
)
_KEY_OWNERS = _words(
    "api access secret private auth account encryption signing master shared storage service "
    "ssh consumer app application client webhook hmac jwt license deploy subscription"
)
_OPEN_KEYS = _words(
    "public primary foreign sort cache partition hash index row dict map object registry group "
    "idempotency query unique composite natural shortcut hot arrow sorting lookup join range route "
    "translation message i18n react list item state field column config answer"
)
_ABOUT = _words(
    "name names id ids path file files filename url uri arn ref type kind length len size "
    "count expires expiry expiration ttl format policy field label prefix suffix hint env var "
    "variable provider manager index limit budget usage rate reset required enabled min max "
    "strength version class algorithm header param placeholder text input error errors "
    "message"
)
_NOT_OF_ACCESS = _words(
    "next page continuation pad eos bos unk stop start end special cancellation sync cursor "
    "mask sep cls max min per num test tests"
)
_NO_VALUE = _words(
    "none null nil true false undefined yes no on off str string int integer bool boolean "
    "bytes optional any object text number secretstr password token secret key value varchar "
    "char float required missing empty unset n/a na tbd todo changeme change-me redacted "
    "hidden placeholder example dummy sample foo bar baz void self required, optional, the a "
    "an is are not in await async lambda function new return typealias"
)
_PLACEHOLDER = re.compile(
    r"(?i)^(?:[$%<{\[(*…]|\.\.\.|\\?\$|your?[_\- ]|my[_\- ](?:api|secret|token|key|pass)|x{3,}|\*{2,}|\.{3}|"
    r"\[?redacted|example|changeme|change[_-]me|placeholder|dummy|insert[_\- ]|replace[_\- ]|<|"
    r"(?:process\.env|os\.environ|os\.getenv|env|secrets|vars|config|settings|args|self|this|options|opts|props|request|req|ctx|data)[.\[(]|"
    r"(?:https?|file)://[^@]*$|/[\w./\-]*$|~/|\./)"
)
_IDENTIFIER_CHAIN = re.compile(r"[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)+")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


def assigned_secrets(text: str, lowered: str) -> Iterator[Span]:
    """Where the values of secret names stand in a text; `lowered` is the same in lower case."""
    if not [hint for hint in HINTS if hint in lowered]:
        return
    done = 0
    for named in _NAMED.finditer(text):
        strength = name_strength(named["key"])
        if strength is Strength.NONE or named.start() < done:
            continue
        given = _given(named, text)
        if given is not None and _is_secret(strength, given, text):
            done = _whole_end(given, text)
            yield Span(given.start, done)
    for pattern in (_FLAG, _DECLARED, _SPOKEN, _ELEMENT):
        for match in pattern.finditer(text):
            value = match["value"].strip("\"'")
            strong = name_strength(match["key"].replace(" ", "_"))
            if strong is Strength.NONE or _excused(match["key"], value):
                continue
            if pattern is not _SPOKEN or looks_random(value):
                yield Span(match.start("value"), match.end("value"))


def name_strength(name: str) -> Strength:
    """How strongly a variable's, field's or option's name says that its value is secret."""
    parts = [part.lower() for part in _PARTS.findall(name)]
    while parts and parts[-1].isdigit():
        parts.pop()
    if not parts or (len(parts) > 1 and parts[-1] in _ABOUT):
        return Strength.NONE
    last, before = parts[-1], parts[:-1]
    if _NOT_OF_ACCESS & set(before):
        return Strength.NONE
    if last in _PASSWORDS or last in _SECRETS or last in _KEYS or "".join(parts) in _KEYS:
        return Strength.STRONG
    if last == "key":
        return _key_strength(before)
    if last in _TOKENS:
        return Strength.STRONG if before else Strength.WEAK
    if last == "auth" or (_PASSWORDS | _SECRETS | _KEYS) & set(before) or "key" in before:
        return Strength.WEAK
    return Strength.NONE


def _key_strength(owner: Sequence[str]) -> Strength:
    if not owner or owner[-1] in _OPEN_KEYS:
        return Strength.NONE
    return Strength.STRONG if owner[-1] in _KEY_OWNERS else Strength.FAINT


def looks_random(value: str) -> bool:
    """Whether a value looks made up rather than said: digits or signs in it, or mixed case."""
    core = value.strip("\"'`.,;:!?")
    if len(core) < 4:
        return False
    mixed = any(c.islower() for c in core) and any(c.isupper() for c in core[1:])
    return any(c.isdigit() for c in core) or mixed or any(c in "!@#$%^&*+=~_" for c in core)


def _given(named: re.Match[str], text: str) -> _Given | None:
    """The value after a name; `None` where there is none."""
    match, quoted = _QUOTED.match(text, named.end()), True
    if match is None:
        quoted = False
        shell = named["op"] == "=" and named["key"].upper() == named["key"]
        match = (_BARE_IN_SHELL if shell else _BARE).match(text, named.end())
    if match is None:
        return None
    value = match["value"] if quoted else match["value"].rstrip(_BETWEEN)
    start = match.start("value")
    return _Given(named, value, start, start + len(value), quoted=quoted)


def _whole_end(given: _Given, text: str) -> int:
    """Where a value ends, also one that was too long to be looked at whole."""
    if given.quoted or given.end - given.start < LOOKED_AT:
        return given.end
    return _END_OF_BARE.search(text, given.end).start()  # type: ignore[union-attr]


def _is_secret(strength: Strength, given: _Given, text: str) -> bool:
    key, value = given.named["key"], given.value
    if _excused(key, value):
        return False
    if not given.quoted and (text[given.end : given.end + 1] == "(" or _is_code(key, value)):
        return False
    if strength is not Strength.STRONG:
        if not given.quoted and value.isidentifier() and not any(c.isdigit() for c in value):
            return False
        return len(value) >= _SHORTEST[strength] and looks_random(value)
    if given.quoted or ":" not in given.named["op"]:
        return True
    return looks_random(value) or _alone_on_its_line(given, text)


def _alone_on_its_line(given: _Given, text: str) -> bool:
    """Whether the assignment is all there is on its line, as in a YAML file."""
    began, ended = given.named.start(), given.end
    start = text.rfind("\n", max(0, began - 40), began) + 1
    before = text[max(start, began - 40) : began].strip(" \t-+>|\"'")
    end = text.find("\n", ended, ended + 40)
    after = text[ended : ended + 40 if end < 0 else end].strip(" \t\r,\"'")
    return before in ("", "export", "set") and (not after or after.startswith("#"))


def _excused(key: str, value: str) -> bool:
    """Whether a value says of itself that it is none."""
    folded = value.strip("\"'`").lower()
    if len(folded) < 2 or folded in _NO_VALUE or _PLACEHOLDER.match(folded):
        return True
    if folded.endswith(("}", ">")) and folded.startswith(("{", "<", "$")):
        return True
    return folded == key.lower()


def _is_code(key: str, value: str) -> bool:
    """Whether a bare value is an expression: a chain of names, or a name like its key's."""
    if _IDENTIFIER_CHAIN.fullmatch(value) and not any(c.isdigit() for c in value):
        return True
    if _IDENTIFIER.fullmatch(value) and not any(c.isdigit() for c in value):
        own = {part.lower() for part in _PARTS.findall(key)}
        theirs = [part.lower() for part in _PARTS.findall(value)]
        return bool(own & set(theirs))
    return False
