"""A turn as it stands in a file, before it is known whether it is kept, and as it is kept.

Only `redacted_turn` makes turns, so that what is kept is redacted.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import NamedTuple

from skillgit.records import Speaker
from skillgit.redaction import redact, redacted_excerpt
from skillgit.redaction.tokens import LONGEST_START
from skillgit.sleep.harvest.sessions import Origin, Turn, whole_characters

PERSON_CHARS = 6_000
AGENT_CHARS = 1_200
OTHER_CHARS = 240
"""How much of a turn is kept, by whose it is. Unit: characters."""

LONGEST_ID = 200
_UUID = re.compile(r"[0-9a-f\-]{0,40}")


class RawTurn(NamedTuple):
    """A turn as it stands in a file; its text may hold secrets and is never stored."""

    id: str
    time: datetime | None
    speaker: Speaker
    origin: Origin
    text: str
    failed: bool = False


def raw_turn(
    name: str,
    time: datetime | None,
    speaker: Speaker,
    origin: Origin,
    text: str,
    *,
    failed: bool = False,
) -> RawTurn:
    """A turn with as much of its text as will be looked at."""
    looked_at = text.strip()[: _limit(origin, speaker) + LONGEST_START + 1]
    return RawTurn(name, time, speaker, origin, looked_at, failed)


def redacted_turn(turn: RawTurn) -> Turn:
    """The turn as it is stored: redacted, and then cut."""
    name = whole_characters(turn.id)[:LONGEST_ID]
    text = whole_characters(turn.text).strip()
    return Turn(
        id=name if _UUID.fullmatch(name) else redact(name),
        time=turn.time,
        speaker=turn.speaker,
        origin=turn.origin,
        text=redacted_excerpt(text, _limit(turn.origin, turn.speaker)),
        failed=turn.failed,
    )


def _limit(origin: Origin, speaker: Speaker) -> int:
    if origin.is_person:
        return PERSON_CHARS
    if origin is Origin.MACHINE and speaker is Speaker.ASSISTANT:
        return AGENT_CHARS
    return OTHER_CHARS
