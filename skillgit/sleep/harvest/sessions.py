"""What a reader makes of a transcript: a neutral session, its turns with their origins, the damage.

Every text here is redacted and short. Nothing in this room raises for what a file holds.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from skillgit.records import Record, Speaker


class Origin(StrEnum):
    """Where the words of a turn come from."""

    HUMAN = "human"
    STEERING = "steering"
    COMMAND = "command"
    INJECTED = "injected"
    MACHINE = "machine"
    SUMMARY = "summary"

    @property
    def is_person(self) -> bool:
        """Whether a task or a complaint may rest on such words."""
        return self in (Origin.HUMAN, Origin.STEERING)


class Kind(StrEnum):
    """Whose session a transcript is of."""

    PERSON = "person"
    HEADLESS = "headless"
    SUBAGENT = "sub-agent"
    OWN_RUN = "own run"


class Turn(Record):
    """One turn; `failed` is a tool's error. `time` is UTC, `None` where a file does not say."""

    id: str
    time: datetime | None = None
    speaker: Speaker
    origin: Origin
    text: str = ""
    failed: bool = False


class Transcript(Record):
    """One session as one file has it.

    `session_ids` are all the names by which files call it, its own first; `lineage_ids` are
    sessions that it was forked from or goes on from. `cwd` is the folder it began in.
    """

    source: str
    session_ids: tuple[str, ...]
    lineage_ids: tuple[str, ...] = ()
    kind: Kind = Kind.PERSON
    why: str = ""
    cwd: str | None = None
    started: datetime | None = None
    ended: datetime | None = None
    turns: tuple[Turn, ...] = ()

    @property
    def has_person(self) -> bool:
        """Whether a person says anything in it."""
        return any(turn.origin.is_person for turn in self.turns)


class Damage(Record):
    """What could not be read of a file: lines by what is wrong with them, records by their type.

    `unknown` are records of types that the reader does not know; they cost nothing else.
    """

    lines: int = 0
    damaged: dict[str, int] = Field(default_factory=dict)
    unknown: dict[str, int] = Field(default_factory=dict)

    def __add__(self, other: Damage) -> Damage:
        return Damage(
            lines=self.lines + other.lines,
            damaged=_sum(self.damaged, other.damaged),
            unknown=_sum(self.unknown, other.unknown),
        )


def whole_characters(text: str) -> str:
    """The text with lone surrogates and NULs replaced by U+FFFD."""
    if text.isascii():
        return text.replace("\0", "�")
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "�")


def _sum(left: dict[str, int], right: dict[str, int]) -> dict[str, int]:
    both = dict(left)
    for name, count in right.items():
        both[name] = both.get(name, 0) + count
    return both
