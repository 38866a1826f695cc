"""Harvest: agent transcripts on this machine become a person's sessions, redacted, with origins.

Reads transcripts and writes digests in the private folder; nothing else is read or written here.
"""

from skillgit.sleep.harvest.digests import Digests
from skillgit.sleep.harvest.gather import (
    OWN_RUN_MARK,
    Harvest,
    HarvestedSession,
    SessionStatus,
    SourceLocation,
    Wanted,
    gather,
    transcript_damage,
)
from skillgit.sleep.harvest.lineage import Session
from skillgit.sleep.harvest.sessions import Damage, Origin, Transcript, Turn
from skillgit.sleep.harvest.source import Places, Source
from skillgit.sleep.harvest.sources import SOURCES, source_named

__all__ = [
    "OWN_RUN_MARK",
    "SOURCES",
    "Damage",
    "Digests",
    "Harvest",
    "HarvestedSession",
    "Origin",
    "Places",
    "Session",
    "SessionStatus",
    "Source",
    "SourceLocation",
    "Transcript",
    "Turn",
    "Wanted",
    "gather",
    "source_named",
    "transcript_damage",
]
