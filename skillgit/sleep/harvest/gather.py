"""From files to a person's sessions in this project, with the reason for every one left out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path, PurePath

from skillgit.records import Record
from skillgit.redaction import redact
from skillgit.sleep.harvest.digests import Digests, Entry, Heading
from skillgit.sleep.harvest.lineage import Session, lineages, merged
from skillgit.sleep.harvest.lines import Lines
from skillgit.sleep.harvest.sessions import Damage, Kind, Transcript
from skillgit.sleep.harvest.source import Source, find_files

OWN_RUN_MARK = "<!-- skillgit: own run -->"
"""What stands in the prompt of a session that we ourselves have an agent do."""

READER_BUGS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What a file may make of a reader that is not lenient enough: it costs that file, not the night."""

_OWN_FOLDER = re.compile(
    r"^(?:/private)?(?:/tmp|/var/tmp|/var/folders/.+)/skillgit-[a-z0-9_]{8}(?:/|$)"
)


class SessionStatus(StrEnum):
    """What became of a session, and if it was left out, why."""

    TAKEN = "taken"
    COPY = "copy of another session"
    OTHER_PROJECT = "other project"
    NO_PROJECT = "names no folder"
    NOT_NEW = "not newer than the last harvest"
    NO_PERSON = "no words of a person"
    SUBAGENT = "sub-agent"
    HEADLESS = "headless run"
    OWN_RUN = "our own run"
    UNREADABLE = "could not be read"


class HarvestedSession(Record):
    """One session of one file, and what became of it."""

    source: str
    path: str
    status: SessionStatus
    why: str = ""


class Harvest(Record):
    """A person's sessions, the status of every session, and what could not be read."""

    sessions: tuple[Session, ...]
    looked_at: tuple[HarvestedSession, ...]
    damage: dict[str, Damage]
    files: int
    read_anew: int

    @property
    def status_counts(self) -> dict[SessionStatus, int]:
        """How many sessions have which status."""
        counts = Counter(session.status for session in self.looked_at)
        return {status: counts[status] for status in SessionStatus if counts[status]}


@dataclass(frozen=True)
class SourceLocation:
    """Where one source's transcripts lie."""

    name: str
    source: Source
    folders: tuple[Path, ...]


@dataclass(frozen=True)
class Wanted:
    """Which sessions are wanted: of which folders (`None` is all), from after when (UTC)."""

    projects: tuple[PurePath, ...] | None
    since: datetime | None = None


def gather(locations: Sequence[SourceLocation], wanted: Wanted, digests: Digests) -> Harvest:
    """Read what has changed since the last time, and choose.

    Nothing in a transcript makes it raise. What an agent has deleted is taken from its digest.
    """
    read_anew = _refresh(locations, digests, wanted.projects)
    here = {location.name: location for location in locations}
    entries = [entry for entry in digests.entries() if entry.source in here]
    left_out: list[HarvestedSession] = []
    chosen: list[tuple[Entry, Transcript]] = []
    for entry in entries:
        location = here[entry.source]
        statuses = [_status(heading, location.source, wanted) for heading in entry.headings]
        if entry.failure:
            left_out.append(_session(entry, SessionStatus.UNREADABLE, entry.failure))
        elif not entry.headings:
            left_out.append(_session(entry, SessionStatus.NO_PERSON))
        if SessionStatus.TAKEN not in statuses:
            left_out += [
                _session(entry, *both) for both in zip(statuses, _whys(entry), strict=True)
            ]
            continue
        transcripts = digests.transcripts(entry) or _again(
            location, entry, digests, wanted.projects
        )
        if transcripts is None or len(transcripts) != len(statuses):
            left_out.append(_session(entry, SessionStatus.UNREADABLE, "its digest is lost"))
            continue
        for transcript, status, why in zip(transcripts, statuses, _whys(entry), strict=True):
            if status is SessionStatus.TAKEN:
                chosen.append((entry, transcript))
            else:
                left_out.append(_session(entry, status, why))
    digests.close()
    sessions, taken = _merge(chosen, wanted)
    return Harvest(
        sessions=tuple(sessions),
        looked_at=(*taken, *left_out),
        damage=_damage(entries),
        files=len(entries),
        read_anew=read_anew,
    )


def transcript_damage(
    locations: Sequence[SourceLocation], wanted: Wanted, digests: Digests
) -> Mapping[str, Damage]:
    """Per source, the lines that could not be read and the record types that are not known."""
    _refresh(locations, digests, wanted.projects)
    digests.close()
    names = {location.name for location in locations}
    return _damage([entry for entry in digests.entries() if entry.source in names])


def in_project(cwd: str, projects: Sequence[PurePath]) -> bool:
    """Whether a folder is one of the projects', or inside one."""
    folder = PurePath(cwd)
    return any(folder == project or project in folder.parents for project in projects)


def is_own_run(transcript: Transcript) -> bool:
    """Whether skillgit itself started the session: by its folder, or by our mark."""
    if transcript.cwd is not None and _OWN_FOLDER.match(transcript.cwd):
        return True
    return any(OWN_RUN_MARK in turn.text for turn in transcript.turns[:8])


def _refresh(
    locations: Sequence[SourceLocation], digests: Digests, projects: Sequence[PurePath] | None
) -> int:
    """Read the files that are new or have changed, and return how many."""
    count = 0
    for location in locations:
        for path in find_files(location.source, location.folders):
            try:
                state = path.stat()
            except OSError:
                continue
            known = digests.known(location.name, str(path))
            now = (location.source.version, state.st_size, state.st_mtime_ns)
            if known and (known.version, known.size, known.mtime_ns) == now and not known.failure:
                continue
            count += 1
            digests.keep(*_read(location, path, now, projects))
    return count


def _again(
    location: SourceLocation, entry: Entry, digests: Digests, projects: Sequence[PurePath] | None
) -> tuple[Transcript, ...] | None:
    """The transcripts of a file whose digest is not there: it was another project's until now."""
    state = (entry.version, entry.size, entry.mtime_ns)
    fresh, transcripts = _read(location, Path(entry.path), state, projects)
    if fresh.failure:
        return None
    digests.keep(fresh, transcripts)
    return transcripts


def _read(
    location: SourceLocation,
    path: Path,
    state: tuple[int, int, int],
    projects: Sequence[PurePath] | None,
) -> tuple[Entry, tuple[Transcript, ...]]:
    version, size, mtime_ns = state
    entry = Entry(
        path=str(path), source=location.name, version=version, size=size, mtime_ns=mtime_ns
    )
    try:
        with path.open("rb") as stream:
            lines = Lines(stream)
            transcripts = tuple(location.source.read(path, stream, lines))
    except OSError as error:
        return entry.model_copy(update={"failure": error.strerror or "cannot be read"}), ()
    except READER_BUGS as error:
        return entry.model_copy(update={"failure": f"its reader met {type(error).__name__}"}), ()
    transcripts = tuple(_kept(transcript) for transcript in transcripts)
    headings = tuple(
        Heading(kind=t.kind, why=t.why, cwd=t.cwd, ended=t.ended, has_person=t.has_person)
        for t in transcripts
    )
    wanted = Wanted(None if projects is None else tuple(projects))
    kept = any(
        _status(heading, location.source, wanted) is SessionStatus.TAKEN for heading in headings
    )
    read = {"damage": lines.damage, "headings": headings, "kept": kept}
    return entry.model_copy(update=read), transcripts


def _kept(transcript: Transcript) -> Transcript:
    """A transcript as it may be kept: its ids and folder redacted, our own runs marked."""
    clean = {
        "session_ids": tuple(redact(name) for name in transcript.session_ids),
        "lineage_ids": tuple(redact(name) for name in transcript.lineage_ids),
        "cwd": None if transcript.cwd is None else redact(transcript.cwd),
    }
    kind = Kind.OWN_RUN if is_own_run(transcript) else transcript.kind
    return transcript.model_copy(update={**clean, "kind": kind})


_STATUS_OF_KIND = {
    Kind.SUBAGENT: SessionStatus.SUBAGENT,
    Kind.HEADLESS: SessionStatus.HEADLESS,
    Kind.OWN_RUN: SessionStatus.OWN_RUN,
}


def _status(heading: Heading, source: Source, wanted: Wanted) -> SessionStatus:
    if heading.kind in _STATUS_OF_KIND:
        return _STATUS_OF_KIND[heading.kind]
    if wanted.projects is not None:
        if heading.cwd is None and source.tells_project:
            return SessionStatus.NO_PROJECT
        if heading.cwd is not None and not in_project(heading.cwd, wanted.projects):
            return SessionStatus.OTHER_PROJECT
    if not heading.has_person:
        return SessionStatus.NO_PERSON
    if wanted.since is not None and heading.ended is not None and heading.ended <= wanted.since:
        return SessionStatus.NOT_NEW
    return SessionStatus.TAKEN


def _merge(
    chosen: Sequence[tuple[Entry, Transcript]], wanted: Wanted
) -> tuple[list[Session], list[HarvestedSession]]:
    sessions, listed = [], []
    for group in lineages([transcript for _, transcript in chosen]):
        members = [chosen[index] for index in group]
        members.sort(
            key=lambda member: (member[1].started is None, member[1].started, member[0].path)
        )
        sessions.append(merged([transcript for _, transcript in members], since=wanted.since))
        first = members[0][0]
        listed.append(_session(first, SessionStatus.TAKEN))
        listed += [
            _session(entry, SessionStatus.COPY, f"of {first.path}") for entry, _ in members[1:]
        ]
    return sessions, listed


def _whys(entry: Entry) -> Iterator[str]:
    return (heading.why for heading in entry.headings)


def _session(entry: Entry, status: SessionStatus, why: str = "") -> HarvestedSession:
    return HarvestedSession(source=entry.source, path=entry.path, status=status, why=why)


def _damage(entries: Sequence[Entry]) -> dict[str, Damage]:
    out: dict[str, Damage] = {}
    for entry in entries:
        out[entry.source] = out.get(entry.source, Damage()) + entry.damage
    return out
