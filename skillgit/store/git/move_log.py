"""The log of ref moves: one line for each, written before it, in the private folder.

It is what `undo` goes by, and what tells a killed move's lock from that of a living process.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
from collections.abc import Iterator
from pathlib import Path

from skillgit.ports import Clock
from skillgit.records.canonical import canonical_json
from skillgit.store.git.private import PrivateFolder

_THIS_PROCESS = secrets.token_hex(4)


class MoveLog:
    """What each move was meant to do, and which process meant it."""

    def __init__(self, private: PrivateFolder, clock: Clock, command: str) -> None:
        self._private = private
        self._clock = clock
        self._command = command

    def write(self, ref: str, old: str | None, new: str) -> None:
        """Say that a move is about to be tried."""
        line: dict[str, str | int | None] = {
            "command": self._command,
            "host": socket.gethostname(),
            "new": new,
            "old": old,
            "pid": os.getpid(),
            "process": _THIS_PROCESS,
            "ref": ref,
            "time": self._clock.now().isoformat(),
        }
        with self._private.moves.open("ab") as log:
            log.write(canonical_json(line).encode("utf-8", "replace") + b"\n")

    def age(self, file: Path) -> float:
        """How long ago a file was written, by the clock of the file system they are both in.

        Unit: seconds.
        """
        log = self._private.moves
        log.touch(mode=0o600)
        return log.stat().st_mtime - file.stat().st_mtime

    def moves(self, ref: str | None = None) -> Iterator[dict[str, object]]:
        """The moves that were tried, oldest first; those of one ref, where one is named."""
        for line in self._private.moves.read_bytes().splitlines():
            try:
                move = json.loads(line)
            except ValueError:
                continue
            if isinstance(move, dict) and ref in (None, move.get("ref")):
                yield move

    def left_behind(self, ref: str, current: str | None, lock: Path) -> bool:
        """Whether a lock is what a process of ours left when it was killed in a move of a ref.

        The move was then one from where the ref still is, and the lock holds the beginning of
        the value it was to get, as far as that was written; no living process is at the same.
        """
        try:
            content = lock.read_text(encoding="ascii")
        except (OSError, ValueError):
            return False
        fitting = [
            move
            for move in self.moves(ref)
            if move.get("old") == current and f"{move.get('new')}\n".startswith(content)
        ]
        if content and any(_is_of_another(move) and not _is_dead(move) for move in fitting):
            return False
        return any(_is_dead(move) for move in fitting)


def _is_of_another(move: dict[str, object]) -> bool:
    return move.get("process") != _THIS_PROCESS


def _is_dead(move: dict[str, object]) -> bool:
    """Whether the process that tried a move is known to have ended."""
    pid = move.get("pid")
    if not isinstance(pid, int) or move.get("host") != socket.gethostname():
        return False
    if pid == os.getpid():
        return move.get("process") != _THIS_PROCESS
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
