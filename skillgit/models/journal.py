"""The journal of what was paid for: one SQLite file in the private folder, and its only reader.

A reply is in the file before its caller sees it, so what a killed run had learned is never paid
for again. It is not part of a run's truth: with no run unfinished it can be deleted.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, Self

from skillgit.errors import ConflictError, RepositoryError, UserError
from skillgit.history import RunHead
from skillgit.records import Usage

FORMAT = 1
SCHEMA = """
CREATE TABLE runs (
    run_id TEXT PRIMARY KEY,
    name   TEXT NOT NULL,
    head   TEXT NOT NULL
);
CREATE TABLE replies (
    run_id   TEXT    NOT NULL,
    step     INTEGER NOT NULL,
    purpose  TEXT    NOT NULL,
    slot     TEXT    NOT NULL,
    request  TEXT    NOT NULL,
    role     TEXT    NOT NULL,
    reply    TEXT    NOT NULL,
    finished TEXT    NOT NULL,
    UNIQUE (run_id, step, purpose, slot, request)
);
"""
LOCK_TIMEOUT = 5.0
BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
BROKEN = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class CallKey(NamedTuple):
    """Which paid call of one step: its purpose and slot, and the hash of what was asked."""

    purpose: str
    slot: str
    request: str


class JournaledReply(NamedTuple):
    """A reply as it stands in the journal: whose work it was, its JSON, when it was finished."""

    role: str
    reply: str
    finished: datetime


class Journal:
    """The journal's file, open. Thread-safe.

    Writers that arrive while another commits are committed together by the next of them. With
    `durable` a commit outlives the machine's power, without it only the process.
    Raises: ConflictError when another process holds the file for too long; RepositoryError when
    the file is damaged, foreign, or cannot be written.
    """

    def __init__(self, path: Path, *, durable: bool) -> None:
        self._path = path
        self._writer = threading.Lock()
        self._gathering = threading.Lock()
        self._batch = _Batch()
        with self._door():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                path, timeout=LOCK_TIMEOUT, isolation_level=None, check_same_thread=False
            )
        try:
            with self._door():
                self._prepare(durable=durable)
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file; every reply handed out is in it already."""
        with self._writer:
            self._connection.close()

    def begin_run(self, head: RunHead) -> None:
        """Keep a run's head before its first call: until its first commit only this knows it."""
        self._execute(
            "INSERT OR REPLACE INTO runs VALUES (?, ?, ?)",
            head.run_id,
            head.name,
            head.model_dump_json(),
        )

    def runs(self) -> Sequence[RunHead]:
        """The heads of all runs ever begun here, so that no number is used twice."""
        rows = self._execute("SELECT head FROM runs ORDER BY run_id")
        return [RunHead.model_validate_json(head) for (head,) in rows]

    def spent(self, run_id: str) -> int:
        """How many calls were paid for in a run so far."""
        rows = self._execute("SELECT COUNT(*) FROM replies WHERE run_id = ?", run_id)
        count: int = rows[0][0]
        return count

    def usage(self, run_id: str | None = None) -> dict[str, tuple[int, Usage]]:
        """The calls and their tokens in a run, or in all that is kept, by role."""
        rows = self._execute(
            "SELECT role, COUNT(*), "
            "TOTAL(json_extract(reply, '$.usage.prompt_tokens')), "
            "TOTAL(json_extract(reply, '$.usage.completion_tokens')) "
            "FROM replies WHERE ? = '' OR run_id = ? GROUP BY role ORDER BY role",
            run_id or "",
            run_id or "",
        )
        return {
            role: (calls, Usage(prompt_tokens=int(sent), completion_tokens=int(back)))
            for role, calls, sent, back in rows
        }

    def replies(self, run_id: str, step: int) -> dict[CallKey, JournaledReply]:
        """All that is known of one step of a run."""
        rows = self._execute(
            "SELECT purpose, slot, request, role, reply, finished FROM replies "
            "WHERE run_id = ? AND step = ?",
            run_id,
            step,
        )
        return {
            CallKey(purpose, slot, request): JournaledReply(
                role, reply, datetime.fromisoformat(finished)
            )
            for purpose, slot, request, role, reply, finished in rows
        }

    def add(self, run_id: str, step: int, key: CallKey, row: JournaledReply) -> None:
        """Write one reply; it is committed when this returns."""
        with self._gathering:
            batch = self._batch
            batch.rows.append((run_id, step, *key, row.role, row.reply, row.finished.isoformat()))
        with self._writer:
            if batch.is_written:
                return
            with self._gathering:
                if self._batch is batch:
                    self._batch = _Batch()
            with self._door():
                self._commit(batch.rows)
            batch.is_written = True

    def sizes(self) -> dict[str, tuple[int, int]]:
        """How many replies each run or other scope has, and how long they are.

        Unit: bytes.
        """
        rows = self._execute(
            "SELECT run_id, COUNT(*), SUM(LENGTH(CAST(reply AS BLOB))) "
            "FROM replies GROUP BY run_id ORDER BY run_id"
        )
        return {run_id: (replies, size) for run_id, replies, size in rows}

    def forget(self, run_id: str) -> None:
        """Drop a run's replies; its name stays."""
        self._execute("DELETE FROM replies WHERE run_id = ?", run_id)

    def compact(self) -> None:
        """Give the space of what was dropped back to the file system, its bytes overwritten."""
        self._execute("VACUUM")
        self._execute("PRAGMA wal_checkpoint(TRUNCATE)")

    # ── the file ─────────────────────────────────────────────────────────────────────────────

    def _prepare(self, *, durable: bool) -> None:
        run = self._connection.execute
        run("PRAGMA journal_mode = WAL")
        run(f"PRAGMA synchronous = {'FULL' if durable else 'OFF'}")
        version: int = run("PRAGMA user_version").fetchone()[0]
        if version > FORMAT:
            raise RepositoryError(
                f"the journal {self._path} was written by a newer skillgit (format {version})",
                hint="Upgrade skillgit; or, when no run is unfinished, move the file away.",
            )
        if version == FORMAT:
            run("SELECT 1 FROM replies LIMIT 1").fetchone()
            return
        run("BEGIN IMMEDIATE")
        try:
            if run("PRAGMA user_version").fetchone()[0] == 0:
                self._create()
            run("COMMIT")
        except BaseException:
            self._connection.rollback()
            raise

    def _create(self) -> None:
        if self._connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone():
            raise RepositoryError(
                f"{self._path} is a database of another program", hint=self._move_away()
            )
        for statement in SCHEMA.split(";"):
            self._connection.execute(statement)
        self._connection.execute(f"PRAGMA user_version = {FORMAT}")

    def _commit(self, rows: Sequence[tuple[str | int, ...]]) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            self._connection.executemany(
                "INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows
            )
            self._connection.execute("COMMIT")
        except BaseException:
            self._connection.rollback()
            raise

    def _execute(self, statement: str, *values: str | int) -> list[Any]:
        with self._writer, self._door():
            return self._connection.execute(statement, values).fetchall()

    @contextmanager
    def _door(self) -> Iterator[None]:
        """Turns what SQLite and the file system say into one clear sentence."""
        try:
            yield
        except OSError as error:
            raise RepositoryError(f"cannot write {self._path}: {error.strerror}") from error
        except sqlite3.Error as error:
            raise self._explained(error) from error

    def _explained(self, error: sqlite3.Error) -> ConflictError | UserError:
        code = getattr(error, "sqlite_errorcode", None)
        primary = None if code is None else code & 0xFF
        if primary in BUSY:
            return ConflictError(
                f"another program holds the journal {self._path}",
                hint="Wait for the other training to end, then run this again.",
            )
        if primary in BROKEN or "no such table" in str(error):
            return RepositoryError(
                f"the journal {self._path} is damaged ({error})", hint=self._move_away()
            )
        return RepositoryError(f"the journal {self._path} cannot be used: {error}")

    def _move_away(self) -> str:
        return (
            f"Move it away: mv '{self._path}' '{self._path}.broken'. "
            "An unfinished step then pays for its calls again."
        )


class _Batch:
    """Rows that are committed together."""

    def __init__(self) -> None:
        self.rows: list[tuple[str | int, ...]] = []
        self.is_written = False
