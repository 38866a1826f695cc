"""Answers that are no answer: an agent or endpoint that says it is not logged in."""

from __future__ import annotations

import re

from skillgit.errors import BlockedError

_LONGEST = 300
_MESSAGE = re.compile(
    r"(?:not (?:currently )?(?:logged|signed) in\b"
    r"|you(?:['’]re| are) not (?:logged|signed) in\b"
    r"|(?:invalid|incorrect|missing|expired|no) api key\b"
    r"|(?:oauth|access|auth(?:entication)?) token (?:has |is )?(?:been )?(?:revoked|expired|invalid)"
    r"|(?:api error: ?)?401\b.{0,200}(?:authenticat|api[ -]?key|unauthori[sz]ed)"
    r"|(?:your )?credit balance is too low)"
    r"|(?:.{0,200}\b)?(?:please )?run:? [`'\"]?(?:/login|[\w-]+(?: auth)? login)[`'\"]?(?: .{0,80})?\.?$",
    re.IGNORECASE,
)


def refuse_login_message(answer: str, *, who: str) -> None:
    """Nothing, for an answer that is one.

    Raises: BlockedError for a message that asks to log in.
    """
    text = answer.strip()
    if text and len(text) <= _LONGEST and "\n" not in text and _MESSAGE.match(text):
        raise BlockedError(
            f"{who} does not do tasks, it answers: {text}",
            hint="log in, or set the key, as the message says; then run the same command again",
        )
