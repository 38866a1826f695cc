"""What a failed call means: try again, give up on this call, or stop everything.

Every text that leaves this room is clean: no key, no password, no control characters, and short.
"""

from __future__ import annotations

import base64
import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from urllib.parse import quote

from skillgit.errors import BlockedError, CallError, ContextError

MAX_TEXT = 400
MAX_RETRY_AFTER = 60.0
SHOWN_PREFIX = 8

RETRIED_STATUSES = frozenset({408, 409, 425, 429})
BLOCKED_STATUSES = frozenset({401, 402, 403, 404, 405, 410})
BLOCKED_CODES = re.compile(
    r"insufficient_(?:quota|balance|credits)|billing|model_not_found|invalid_api_key", re.IGNORECASE
)
KEY_TROUBLE = re.compile(r"api[ _-]?key|unauthenticated|authentication", re.IGNORECASE)
ABOUT_CONTENT = re.compile(
    r"context[ _](?:length|window|size)|content[ _](?:filter|policy|management)"
    r"|moderation|flagged|too (?:long|large)",
    re.IGNORECASE,
)

OVERFLOW = re.compile(
    r"context[ _](?:length|window|size)|maximum context|prompt is too long|too many tokens",
    re.IGNORECASE,
)
OVERFLOW_HINT = (
    "give the server a longer context, or name one that has it as `base_url`; a run goes on "
    "with either, without --new"
)


class FailureKind(StrEnum):
    """What to do about a failed attempt."""

    RETRIED = "retried"
    UNREACHABLE = "unreachable"
    FAILED = "failed"
    BLOCKED = "blocked"

    @property
    def worth_a_retry(self) -> bool:
        """Whether the same call may work a little later."""
        return self in (FailureKind.RETRIED, FailureKind.UNREACHABLE)


@dataclass(frozen=True)
class Failure:
    """One failed attempt. `text` and `hint` may be shown.

    `complaint` is what the server said, where it may be about the form of the request; it is
    only searched. `is_overflow` is a request that is longer than the model's context; `unread` one
    that was sent and whose answer was not read.
    Unit: `retry_after` in seconds.
    """

    kind: FailureKind
    text: str
    hint: str = ""
    status: int | None = None
    complaint: str | None = None
    retry_after: float | None = None
    is_overflow: bool = False
    unread: bool = False

    def error(self) -> CallError | BlockedError:
        """The error that ends the call."""
        if self.kind in (FailureKind.BLOCKED, FailureKind.UNREACHABLE):
            return BlockedError(self.text, hint=self.hint)
        if self.is_overflow:
            return ContextError(f"{self.text}; {OVERFLOW_HINT}")
        return CallError(self.text)


def kind_of_status(status: int, said: str, code: str) -> FailureKind:
    """What an answer with an error status means, from the status, its text and its code."""
    if is_about_content(status, said, code):
        return FailureKind.FAILED
    if status in BLOCKED_STATUSES or 300 <= status < 400 or BLOCKED_CODES.search(code):
        return FailureKind.BLOCKED
    if status in RETRIED_STATUSES or status >= 500:
        return FailureKind.RETRIED
    if status == 400 and KEY_TROUBLE.search(said):
        return FailureKind.BLOCKED
    return FailureKind.FAILED


def is_about_content(status: int, said: str, code: str) -> bool:
    """Whether a refusal is of what was asked, its length or its subject, not of how."""
    words = f"{code} {said}"
    return status in (400, 403, 413, 422, 500) and ABOUT_CONTENT.search(words) is not None


def is_overflow(status: int, said: str, code: str) -> bool:
    """Whether a refusal says that the request is longer than the model's context."""
    return status in (400, 413, 422, 500) and OVERFLOW.search(f"{code} {said}") is not None


def retry_after(value: str | None, now: datetime) -> float | None:
    """How long a server asks to wait, from its `Retry-After` header: seconds or an HTTP date.

    Unit: seconds, at most 60. `None` when there is no such header, or nothing to wait for.
    """
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        seconds = _seconds_until(value, now)
    if math.isnan(seconds) or seconds <= 0:
        return None
    return min(seconds, MAX_RETRY_AFTER)


def _seconds_until(value: str, now: datetime) -> float:
    try:
        at = parsedate_to_datetime(value)
    except ValueError:
        return 0.0
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    return (at - now).total_seconds()


class Redactor:
    """Takes secrets out of texts, in any spelling in which a server may send them back."""

    def __init__(self, *secrets: str | None) -> None:
        self._spellings = sorted(
            {spelling for secret in secrets if secret for spelling in _spellings(secret)},
            key=len,
            reverse=True,
        )

    def __call__(self, text: str) -> str:
        """The text with every secret replaced, on one line, then cut to a readable length."""
        for spelling in self._spellings:
            text = _without(text, spelling)
        text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
        return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…"


def _spellings(secret: str) -> set[str]:
    encoded = base64.b64encode(secret.encode("utf-8")).decode("ascii").rstrip("=")
    return {secret, quote(secret, safe=""), encoded}


def _without(text: str, secret: str) -> str:
    """The text without the secret, or any start of it of at least eight characters."""
    prefix = secret[:SHOWN_PREFIX]
    parts: list[str] = []
    at = 0
    while (found := text.find(prefix, at)) >= 0:
        end = found + len(prefix)
        while end < len(text) and secret.startswith(text[found : end + 1]):
            end += 1
        parts += [text[at:found], "***"]
        at = end
    return "".join(parts) + text[at:]
