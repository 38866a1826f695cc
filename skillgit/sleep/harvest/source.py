"""The protocol behind which every agent's transcripts are read, and what its readers share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import IO, Protocol

from skillgit.records import Speaker
from skillgit.sleep.harvest.lines import Lines
from skillgit.sleep.harvest.raw_turns import RawTurn, redacted_turn
from skillgit.sleep.harvest.sessions import Kind, Origin, Transcript, Turn, whole_characters


@dataclass(frozen=True)
class Places:
    """Where a person's files are; the command line looks it up, nobody else."""

    home: Path
    variables: Mapping[str, str] = field(default_factory=dict)

    def variable(self, name: str) -> Path | None:
        """The folder that a variable names."""
        value = self.variables.get(name, "").strip()
        return Path(value) if value else None


class Reader(Protocol):
    """Reads one file. It raises nothing for what the file holds; OSError is the caller's."""

    def __call__(self, path: Path, stream: IO[bytes], lines: Lines) -> Sequence[Transcript]: ...


@dataclass(frozen=True)
class Source:
    """One kind of transcripts: where they are by default, which files they are, how they are read.

    `version` goes up when equal bytes would be read otherwise, so that digests are made anew.
    `tells_project` is whether its sessions say which folder they began in.
    """

    folders: Callable[[Places], Sequence[Path]]
    is_transcript: Callable[[Path], bool]
    read: Reader
    version: int
    tells_project: bool = True


def find_files(source: Source, folders: Sequence[Path]) -> Iterator[Path]:
    """The source's files in the folders, or the files themselves, in order, each once."""
    seen: set[Path] = set()
    for folder in folders:
        if folder.is_file():
            files = [folder]
        else:
            files = sorted(_files_below(folder))
        for path in files:
            if path not in seen and (path == folder or source.is_transcript(path)):
                seen.add(path)
                yield path


def _files_below(folder: Path) -> Iterator[Path]:
    """The regular files below a folder; links to folders are not followed."""
    waiting = [folder]
    while waiting:
        try:
            entries = list(waiting.pop().iterdir())
        except OSError:
            continue
        for entry in entries:
            try:
                if entry.is_dir():
                    if not entry.is_symlink():
                        waiting.append(entry)
                elif entry.is_file():
                    yield entry
            except OSError:
                continue


def named(turns: Sequence[RawTurn], session: str) -> list[RawTurn]:
    """The turns, those without an id named after their session and their place in it."""
    return [
        turn if turn.id else turn._replace(id=f"{session}:{number}")
        for number, turn in enumerate(turns, start=1)
    ]


def condensed(turns: Sequence[RawTurn]) -> tuple[Turn, ...]:
    """A person's turns, and of the agent's work between two of them the last few turns.

    Shape: in order.
    """
    out: list[RawTurn] = []
    machine: list[RawTurn] = []
    for turn in turns:
        if turn.origin is Origin.MACHINE:
            if turn.text and (turn.speaker is Speaker.ASSISTANT or turn.failed):
                machine.append(turn)
            continue
        out += _last(machine)
        machine = []
        out.append(turn)
    return tuple(map(redacted_turn, out + _last(machine)))


def _last(machine: Sequence[RawTurn]) -> list[RawTurn]:
    """The last message of a stretch of the agent's work, and the last two errors in it."""
    words = [i for i, turn in enumerate(machine) if not turn.failed][-1:]
    failed = [i for i, turn in enumerate(machine) if turn.failed][-2:]
    return [machine[i] for i in sorted(words + failed)]


def span(times: Sequence[datetime | None]) -> tuple[datetime | None, datetime | None]:
    """The earliest and the latest of some times."""
    known = [time for time in times if time is not None]
    return (min(known), max(known)) if known else (None, None)


def safe_id(value: object) -> str:
    """An id as it may be kept: whole characters, no longer than an id is."""
    return whole_characters(value)[:200] if isinstance(value, str) else ""


def kind_of(*, people: int, headless: int, sidechain: int) -> Kind:
    """Whose session it is, by counts of its user messages of each origin."""
    if people or not (headless or sidechain):
        return Kind.PERSON
    return Kind.HEADLESS if headless else Kind.SUBAGENT
