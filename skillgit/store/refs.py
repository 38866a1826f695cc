"""Moves of refs: each a compare-and-swap, logged before it is made. Only this module moves refs.

An existing ref moves by `set_target`, which libgit2 compares under the ref's lock. A new one is
made in a transaction on it alone: `references.create` looks before it locks and loses updates.
"""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pygit2

from skillgit.canonical import canonical_json
from skillgit.errors import ConflictError, RepositoryError
from skillgit.ports import Clock
from skillgit.store.private import PrivateFolder

LOCK_WAIT_S = 5.0
_RETRY_S = 0.02
_MAX_UNEXPLAINED = 25

GIT_ERRORS = (pygit2.GitError, OSError, KeyError, ValueError)
"""What pygit2 raises, with loose texts: what happened is read from the repository instead."""


class RefMovedError(ConflictError):
    """A ref is not where it was when its next value was worked out."""


class Refs:
    """The refs of a repository, read as hex ids and moved one at a time."""

    def __init__(
        self, git: pygit2.Repository, common: Path, *, clock: Clock, command: str = "skillgit"
    ) -> None:
        self._git = git
        self._common = common
        self._clock = clock
        self._log = _MoveLog(PrivateFolder(common), clock, command)

    def read(self, name: str) -> str | None:
        """The id a ref points at, or `None` when there is no such ref.

        Raises: RepositoryError for a ref whose file is broken, or that points at another ref.
        """
        try:
            target = self._git.lookup_reference(name).target
        except KeyError:
            return None
        except GIT_ERRORS as error:
            raise RepositoryError(
                f"{name} cannot be read: {error}",
                hint=f"Look at {self._common / name}; git reflog show {name} knows earlier values.",
            ) from error
        if isinstance(target, str):
            raise RepositoryError(
                f"{name} points at {target}, not at a commit", hint=f"git symbolic-ref -d {name}"
            )
        return str(target)

    def move(self, name: str, *, old: str | None, new: str, message: str) -> None:
        """Move a ref from `old` (`None`: it does not exist) to `new`, or not at all.

        Raises: RefMovedError when it is not at `old`; ConflictError when its lock is held.
        """
        if old == new:
            return
        self._log.write(name, old, new)
        attempt = _Attempt(self._lock_file(name), self._clock)
        while True:
            current = self.read(name)
            if current == new:
                return
            if current != old:
                raise _moved(name, old, current)
            try:
                self._swap(name, old, new, message)
            except GIT_ERRORS as error:
                self._after_failure(attempt, name, old, error)
            else:
                return

    def announce(self, name: str, *, old: str, new: str) -> None:
        """Log a move that the git command line is about to make."""
        self._log.write(name, old, new)

    def _swap(self, name: str, old: str | None, new: str, message: str) -> None:
        if old is not None:
            reference = self._git.lookup_reference(name)
            if str(reference.target) == old:
                reference.set_target(pygit2.Oid(hex=new), message)
            return
        with self._git.transaction() as transaction:
            transaction.lock_ref(name)
            if name in self._git.references:
                raise FileExistsError(name)
            transaction.set_target(name, new, None, message)

    def _after_failure(
        self, attempt: _Attempt, name: str, old: str | None, error: Exception
    ) -> None:
        if self.read(name) != old:
            return
        held = attempt.lock_is_held()
        if not held and attempt.unexplained > _MAX_UNEXPLAINED:
            raise RepositoryError(f"{name} cannot be written: {error}") from error
        if not held or not attempt.is_over():
            self._clock.sleep(_RETRY_S)
            return
        if attempt.lock_never_changed() and self._log.left_behind(name, attempt.lock):
            attempt.lock.unlink(missing_ok=True)
            return
        raise ConflictError(
            f"{name} is locked: {attempt.lock} is there, {attempt.lock_age()}",
            hint=f"If no git command runs in this repository: rm '{attempt.lock}'",
        ) from error

    def _lock_file(self, name: str) -> Path:
        return self._common / f"{name}.lock"


def _moved(name: str, old: str | None, current: str | None) -> RefMovedError:
    was = "not there" if old is None else f"at {old[:12]}"
    now = "is gone" if current is None else f"is at {current[:12]}"
    return RefMovedError(
        f"another writer moved {name}: it was {was} and {now} now",
        hint="Run the same command again; it goes on from where the branch is.",
    )


class _Attempt:
    """The patience one move has with a lock that another holds."""

    def __init__(self, lock: Path, clock: Clock) -> None:
        self.lock = lock
        self.unexplained = 0
        self._clock = clock
        self._deadline = clock.monotonic() + LOCK_WAIT_S
        self._first: tuple[int, int] | None = None
        self._last: tuple[int, int] | None = None

    def lock_is_held(self) -> bool:
        try:
            status = self.lock.stat()
        except OSError:
            self.unexplained += 1
            return False
        self._last = (status.st_ino, status.st_mtime_ns)
        self._first = self._first or self._last
        return True

    def lock_never_changed(self) -> bool:
        return self._first == self._last

    def is_over(self) -> bool:
        return self._clock.monotonic() >= self._deadline

    def lock_age(self) -> str:
        try:
            made = self.lock.stat().st_mtime
        except OSError:
            return "just gone"
        seconds = max(0, int(self._clock.now().timestamp() - made))
        return f"{seconds} s old" if seconds < 120 else f"{seconds // 60} min old"


class _MoveLog:
    """One line for each move: what it was meant to do, and which process meant it."""

    def __init__(self, private: PrivateFolder, clock: Clock, command: str) -> None:
        self._private = private
        self._clock = clock
        self._command = command

    def write(self, ref: str, old: str | None, new: str) -> None:
        line: dict[str, str | int | None] = {
            "command": self._command,
            "host": socket.gethostname(),
            "new": new,
            "old": old,
            "pid": os.getpid(),
            "ref": ref,
            "time": self._clock.now().isoformat(),
        }
        with self._private.moves.open("ab") as log:
            log.write(canonical_json(line).encode("utf-8", "replace") + b"\n")

    def left_behind(self, ref: str, lock: Path) -> bool:
        """Whether a lock is what a process of ours left when it was killed in the move of a ref.

        Its content is then the beginning of the value that was to be written, as far as it got.
        """
        last = self._last_move(ref)
        if last is None or last.get("host") != socket.gethostname():
            return False
        pid, new = last.get("pid"), last.get("new")
        if not isinstance(pid, int) or pid == os.getpid() or _is_alive(pid):
            return False
        try:
            content = lock.read_text(encoding="ascii")
        except (OSError, ValueError):
            return False
        return f"{new}\n".startswith(content)

    def _last_move(self, ref: str) -> dict[str, object] | None:
        """The last move of the ref that another process began."""
        found = None
        for line in self._private.moves.read_bytes().splitlines():
            try:
                move = json.loads(line)
            except ValueError:
                continue
            if isinstance(move, dict) and move.get("ref") == ref and move.get("pid") != os.getpid():
                found = move
        return found


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
