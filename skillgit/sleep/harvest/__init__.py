"""Harvest: agent transcripts on this machine become a person's sessions, redacted, with origins.

Reads transcripts and writes digests in the private folder; nothing else is read or written here.
"""

from skillgit.sleep.harvest.digests import Digests
from skillgit.sleep.harvest.gather import (
    Harvest,
    SessionStatus,
    SourceLocation,
    Wanted,
    gather,
    transcript_damage,
)
from skillgit.sleep.harvest.lineage import Session
from skillgit.sleep.harvest.sessions import Damage, Transcript, Turn, TurnOrigin
from skillgit.sleep.harvest.source import Places
from skillgit.sleep.harvest.sources import SOURCES, source_named

__all__ = [
    "SOURCES",
    "Damage",
    "Digests",
    "Harvest",
    "Places",
    "Session",
    "SessionStatus",
    "SourceLocation",
    "Transcript",
    "Turn",
    "TurnOrigin",
    "Wanted",
    "gather",
    "source_named",
    "transcript_damage",
]
