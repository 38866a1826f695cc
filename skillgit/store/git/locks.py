"""One trainer at a time on a run: a file lock that the kernel frees on any death."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from skillgit.errors import ConflictError
from skillgit.ports import Clock
from skillgit.records.canonical import canonical_json
from skillgit.store.git.private import PrivateFolder

WAIT_S = 60.0


@contextmanager
def held(
    private: PrivateFolder, name: str, *, clock: Clock, command: str = "skillgit"
) -> Iterator[None]:
    """Hold the lock of a run for as long as the block runs; beside it stands who holds it.

    Raises: ConflictError, naming the holder, when another process has it.
    """
    lock = FileLock(private.locks / f"{name}.lock", timeout=0)
    holder = private.locks / f"{name}.json"
    try:
        lock.acquire()
    except Timeout as error:
        raise ConflictError(
            f"{name} is already being worked on{_by_whom(holder)}",
            hint="Wait until it ends, or stop it with Ctrl-C; what it has done stays.",
        ) from error
    try:
        _write(holder, clock, command)
        yield
    finally:
        holder.unlink(missing_ok=True)
        lock.release()


@contextmanager
def waited_for(private: PrivateFolder, name: str) -> Iterator[None]:
    """Hold a lock that is never held for long, waiting for its turn.

    Raises: ConflictError when the wait is too long.
    """
    try:
        with FileLock(private.locks / f"{name}.lock", timeout=WAIT_S):
            yield
    except Timeout as error:
        raise ConflictError(
            f"another skillgit has held the lock {private.locks / name}.lock for {WAIT_S:g} s",
            hint="See whether one hangs; it can be stopped without a loss.",
        ) from error


def _write(holder: Path, clock: Clock, command: str) -> None:
    who: dict[str, str | int] = {
        "command": command,
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "since": clock.now().isoformat(timespec="seconds"),
    }
    fresh = holder.with_name(f"{holder.name}.{os.getpid()}")
    fresh.write_text(canonical_json(who) + "\n", encoding="utf-8", errors="replace")
    fresh.replace(holder)


def _by_whom(holder: Path) -> str:
    try:
        who = json.loads(holder.read_text(encoding="utf-8"))
        return f" by process {who['pid']} on {who['host']} ({who['command']}, since {who['since']})"
    except (OSError, ValueError, KeyError, TypeError):
        return ""
