"""Secrets that are known by the name in front of them: `DB_PASS=…`, `"api_key": "…"`, `password: …`.

The name decides; the value may only excuse itself, as a placeholder, a type, or a piece of code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
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
    WEAK = 1
    STRONG = 2


class Span(NamedTuple):
    """Where in the text a secret stands."""

    start: int
    end: int


_ASSIGNMENT = re.compile(
    r"(?<![\w$])(?P<key>[A-Za-z_À-ÿ][\w.\-À-ÿ]{0,80})\\{0,3}[\"'`]?\]?(?P<op>[ \t]{0,8}(?:=>|:=|=(?!=)|:(?!:))[ \t]{0,8})"
    r"(?:[bru]{1,2}(?=[\"']))?"
    r"(?:(?P<quote>\\{0,3}[\"'`])(?P<quoted>[^\n]{1,2000}?)(?:(?P=quote)|(?=\n)|\Z)|(?P<bare>[^\s\"'`<>,;(){}\[\]][^\s\"'`,;(){}\[\]]{0,2000}))"
)
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
    "an is are not in"
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
    for found in _ASSIGNMENT.finditer(text):
        group = "bare" if found["bare"] is not None else "quoted"
        strength = name_strength(found["key"])
        if strength is Strength.NONE:
            continue
        value = found[group]
        end = found.end(group)
        called = group == "bare" and text[end : end + 1] == "("
        if called or not _is_secret(found["key"], value, strength, found, group, text):
            continue
        yield Span(found.start(group), end)
    for pattern in (_FLAG, _DECLARED, _SPOKEN, _ELEMENT):
        for found in pattern.finditer(text):
            value = found["value"].strip("\"'")
            strong = name_strength(found["key"].replace(" ", "_"))
            if strong is Strength.NONE or _excused(found["key"], value):
                continue
            if pattern is not _SPOKEN or looks_random(value):
                yield Span(found.start("value"), found.end("value"))


def name_strength(name: str) -> Strength:
    """How strongly a variable's, field's or option's name says that its value is secret."""
    parts = [part.lower() for part in _PARTS.findall(name)]
    while parts and parts[-1].isdigit():
        parts.pop()
    if not parts or (len(parts) > 1 and parts[-1] in _ABOUT):
        return Strength.NONE
    last, before = parts[-1], parts[:-1]
    if last in _PASSWORDS:
        return Strength.NONE if last == "pass" and _NOT_OF_ACCESS & set(before) else Strength.STRONG
    if last in _SECRETS or "".join(parts) in _KEYS or last in _KEYS:
        return Strength.STRONG
    if last == "key" and before and before[-1] in _KEY_OWNERS:
        return Strength.STRONG
    if last in _TOKENS and not _NOT_OF_ACCESS & set(before):
        return Strength.STRONG if before else Strength.WEAK
    if last in ("auth", "value", "base", "plain", "default") and before:
        return name_strength("_".join(before)) if last != "auth" else Strength.WEAK
    if last == "auth" and name.startswith("_"):
        return Strength.WEAK
    return Strength.NONE


def looks_random(value: str) -> bool:
    """Whether a value looks made up rather than said: digits or signs in it, or mixed case."""
    core = value.strip("\"'`.,;:!?")
    if len(core) < 4:
        return False
    mixed = any(c.islower() for c in core) and any(c.isupper() for c in core[1:])
    return any(c.isdigit() for c in core) or mixed or any(c in "!@#$%^&*+=~_" for c in core)


def _is_secret(
    key: str, value: str, strength: Strength, found: re.Match[str], group: str, text: str
) -> bool:
    if _excused(key, value):
        return False
    if group == "bare" and _is_code(key, value):
        return False
    if strength is Strength.WEAK:
        return len(value) >= 8 and looks_random(value)
    if group == "quoted" or ":" not in found["op"]:
        return True
    return looks_random(value) or _alone_on_its_line(found, text)


def _alone_on_its_line(found: re.Match[str], text: str) -> bool:
    """Whether the assignment is all there is on its line, as in a YAML file."""
    start = text.rfind("\n", max(0, found.start() - 40), found.start()) + 1
    before = text[max(start, found.start() - 40) : found.start()].strip(" \t-+>|\"'")
    end = text.find("\n", found.end(), found.end() + 40)
    after = text[found.end() : found.end() + 40 if end < 0 else end].strip(" \t\r,\"'")
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
        return bool(theirs) and theirs[-1] in own and value.lower() != value.upper()
    return False
