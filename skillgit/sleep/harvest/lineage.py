"""Copies of a session, resumed, forked or exported twice, are merged into one.

Two transcripts are of one lineage when a record's id stands in both, when both go by one session
id, or when one says it comes from the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from skillgit.records import Record, Speaker
from skillgit.records.canonical import fingerprint
from skillgit.sleep.harvest.sessions import Transcript, Turn
from skillgit.sleep.harvest.source import span

UNIQUE_FROM = 16
"""The length from which a record's id is taken to be unique everywhere. Unit: characters."""

_BEGINNING = datetime.min.replace(tzinfo=UTC)


class Session(Record):
    """One session of a person, from all files that hold a part of it.

    `id` and `lineage` are 16 hex digits; a lineage stays in one split. Turns after `since` are
    new, earlier ones are what they answer to.
    """

    id: str
    lineage: str
    source: str
    started: datetime | None = None
    ended: datetime | None = None
    since: datetime | None = None
    turns: tuple[Turn, ...]

    def is_new(self, turn: Turn) -> bool:
        """Whether a turn is from after the last harvest; one without a time is."""
        return self.since is None or turn.time is None or turn.time > self.since


def lineages(transcripts: Sequence[Transcript]) -> list[list[int]]:
    """The indices of transcripts of one lineage.

    Shape: a partition of `range(len(transcripts))`, groups by their first.
    """
    parent = list(range(len(transcripts)))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    holders: dict[tuple[str, str], int] = {}
    for index, transcript in enumerate(transcripts):
        for name in _names(transcript):
            left, right = root(holders.setdefault((transcript.source, name), index)), root(index)
            parent[max(left, right)] = min(left, right)
    groups: dict[int, list[int]] = {}
    for index in range(len(transcripts)):
        groups.setdefault(root(index), []).append(index)
    return list(groups.values())


def merged(transcripts: Sequence[Transcript], *, since: datetime | None = None) -> Session:
    """One session from the transcripts of a lineage: every turn once, in order of time.

    Copies with new ids are recognised by their texts: a fork begins as its parent did.
    """
    first = sorted(transcripts, key=lambda t: (t.started or _BEGINNING, t.session_ids))
    turns: list[Turn] = []
    seen: set[str] = set()
    for transcript in first:
        fresh = transcript.turns[_common_start(turns, transcript.turns) :]
        turns += [turn for turn in fresh if _identity(turn) not in seen]
        seen |= {_identity(turn) for turn in transcript.turns}
    started, ended = span([time for t in first for time in (t.started, t.ended)])
    origin = first[0]
    name = fingerprint([origin.source, origin.session_ids[0]])
    return Session(
        id=name,
        lineage=name,
        source=origin.source,
        started=started,
        ended=ended,
        since=since,
        turns=tuple(_by_time(turns) if len(first) > 1 else turns),
    )


def _names(transcript: Transcript) -> Iterator[str]:
    yield from transcript.session_ids
    yield from transcript.lineage_ids
    yield from (_identity(turn) for turn in transcript.turns if turn.speaker is Speaker.USER)


def _identity(turn: Turn) -> str:
    """What makes two turns one: an id long enough to be unique, or else its whole content."""
    if len(turn.id) >= UNIQUE_FROM:
        return turn.id
    return "\0".join((turn.id, str(turn.time), turn.text))


def _common_start(earlier: Sequence[Turn], later: Sequence[Turn]) -> int:
    """How many turns two transcripts have in common at their beginning."""
    count = 0
    for left, right in zip(earlier, later, strict=False):
        if (left.speaker, left.origin, left.text) != (right.speaker, right.origin, right.text):
            break
        count += 1
    return count


def _by_time(turns: Sequence[Turn]) -> list[Turn]:
    known, keyed = _BEGINNING, []
    for place, turn in enumerate(turns):
        known = turn.time or known
        keyed.append((known, place, turn))
    return [turn for _, _, turn in sorted(keyed, key=lambda entry: entry[:2])]
