"""What was read of each file, kept redacted in the private folder: agents delete their transcripts.

An index says which file, of which size and age, has which digest, so that a second harvest reads
only what has changed. Nothing here is ever committed; deleting it costs a harvest, and what the
agents have deleted since.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from pydantic import ValidationError

from skillgit.records import Record
from skillgit.sleep.harvest.sessions import Damage, Kind, Transcript

INDEX = "index.jsonl"
FORMAT = 1


class Heading(Record):
    """What decides whether a transcript is used; the rest of it is in the digest's file."""

    kind: Kind
    why: str = ""
    cwd: str | None = None
    ended: datetime | None = None
    has_person: bool


class Entry(Record):
    """A file in the index. `version` is the reader's; `failure` says why it could not be opened.

    `kept` is whether its digest is there: of other projects' sessions, only headings are kept.
    """

    path: str
    source: str
    version: int
    size: int
    mtime_ns: int
    damage: Damage = Damage()
    headings: tuple[Heading, ...] = ()
    kept: bool = False
    failure: str = ""


class _Contents(Record):
    transcripts: tuple[Transcript, ...]


class Digests:
    """The folder of digests and its index."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder = folder
        self._entries = {(entry.source, entry.path): entry for entry in self._read_index()}
        self._changed = False

    def known(self, source: str, path: str) -> Entry | None:
        """What the index says of a file."""
        return self._entries.get((source, path))

    def entries(self) -> Iterable[Entry]:
        """All of the index, also of files that are gone."""
        return self._entries.values()

    def keep(self, entry: Entry, transcripts: tuple[Transcript, ...]) -> None:
        """Write a file's digest, if there is one to keep; the index is written by `close`."""
        if entry.kept:
            data = _Contents(transcripts=transcripts).model_dump_json(exclude_defaults=True)
            self._write(self._file(entry), data)
        else:
            self._file(entry).unlink(missing_ok=True)
        self._entries[entry.source, entry.path] = entry
        self._changed = True

    def transcripts(self, entry: Entry) -> tuple[Transcript, ...] | None:
        """The digest of a file; `None` when it was not kept, is lost, or cannot be read."""
        if not entry.kept:
            return None
        try:
            data = self._file(entry).read_bytes()
            return _Contents.model_validate_json(data).transcripts
        except (OSError, ValidationError):
            return None

    def close(self) -> None:
        """Write the index, if it has changed."""
        if self._changed:
            lines = [f"{FORMAT}"]
            lines += [e.model_dump_json(exclude_defaults=True) for e in self._entries.values()]
            self._write(self._folder / INDEX, "\n".join(lines) + "\n")
            self._changed = False

    def _file(self, entry: Entry) -> Path:
        name = hashlib.sha256(f"{entry.source}\0{entry.path}".encode("utf-8", "replace"))
        return self._folder / f"{name.hexdigest()[:24]}.json"

    def _read_index(self) -> list[Entry]:
        try:
            first, *lines = (self._folder / INDEX).read_bytes().splitlines() or [b""]
        except OSError:
            return []
        if first != str(FORMAT).encode():
            return []
        entries = []
        for line in lines:
            try:
                entries.append(Entry.model_validate_json(line))
            except ValidationError:
                continue
        return entries

    def _write(self, path: Path, text: str) -> None:
        """Put a file in place whole, readable by its owner alone."""
        handle, name = tempfile.mkstemp(dir=self._folder, prefix=".new-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as out:
                out.write(text)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
