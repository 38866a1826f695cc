"""Moves of refs: each a compare-and-swap, logged before it is made. Only this module moves refs.

An existing ref moves by `set_target`, which libgit2 compares under the ref's lock. A new one is
made in a transaction on it alone: `references.create` looks before it locks and loses updates.
"""

from __future__ import annotations

from pathlib import Path

import pygit2

from skillgit.errors import ConflictError, RepositoryError
from skillgit.ports import Clock
from skillgit.store.git.move_log import MoveLog
from skillgit.store.git.private import PrivateFolder

LOCK_WAIT_S = 5.0
_RETRY_S = 0.02
_SETTLED_S = 1.0
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
        self._private = PrivateFolder(common)
        self._log = MoveLog(self._private, clock, command)

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
        attempt = _Attempt(self._lock_file(name), self._log, self._clock)
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

    def announce(self, name: str, *, old: str | None, new: str) -> None:
        """Log a move that the git command line is about to make."""
        self._log.write(name, old, new)

    def logged(self) -> list[dict[str, object]]:
        """The log of moves that were tried, oldest first."""
        return [*self._log.moves()] if self._private.moves.is_file() else []

    def announced(self, name: str) -> set[str]:
        """Everything that the log says a ref was to be moved to."""
        if not self._private.moves.is_file():
            return set()
        return {str(move.get("new")) for move in self._log.moves(name)}

    def _swap(self, name: str, old: str | None, new: str, message: str) -> None:
        """One try, which raises when the ref is elsewhere or its lock is held."""
        if old is not None:
            reference = self._git.lookup_reference(name)
            if str(reference.target) != old:
                raise FileExistsError(name)
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
        if held and self._takes_away(attempt, name, old):
            return
        if not held or not attempt.is_over():
            self._clock.sleep(_RETRY_S)
            return
        raise ConflictError(
            f"{name} is locked: {attempt.lock} is there, {attempt.lock_age()}",
            hint=f"If no git command runs in this repository: rm '{attempt.lock}'",
        ) from error

    def _takes_away(self, attempt: _Attempt, name: str, old: str | None) -> bool:
        """Take a dead process's lock away; one process at a time, or it might be a new one's."""
        if attempt.settled_lock() is None:
            return False
        from filelock import FileLock  # needed here alone: a command that only reads starts sooner

        with FileLock(self._private.locks / "left-behind.lock"):
            lock = attempt.settled_lock()
            stale = lock is not None and self._log.left_behind(name, old, attempt.lock)
            if stale and attempt.settled_lock() == lock:
                attempt.lock.unlink(missing_ok=True)
        return stale

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

    def __init__(self, lock: Path, log: MoveLog, clock: Clock) -> None:
        self.lock = lock
        self.unexplained = 0
        self._log = log
        self._clock = clock
        self._deadline = clock.monotonic() + LOCK_WAIT_S

    def lock_is_held(self) -> bool:
        """Whether the lock is there; if not, the failure is one of another kind."""
        held = self.lock.exists()
        self.unexplained += not held
        return held

    def settled_lock(self) -> tuple[int, int] | None:
        """Which file the lock is, once it is older than any living writer's."""
        try:
            status = self.lock.stat()
            settled = self._log.age(self.lock) >= _SETTLED_S
        except OSError:
            return None
        return (status.st_ino, status.st_mtime_ns) if settled else None

    def is_over(self) -> bool:
        """Whether the time to wait is up."""
        return self._clock.monotonic() >= self._deadline

    def lock_age(self) -> str:
        """The lock's age in words."""
        try:
            seconds = max(0, int(self._log.age(self.lock)))
        except OSError:
            return "just gone"
        return f"{seconds} s old" if seconds < 120 else f"{seconds // 60} min old"


def ref_target(git: pygit2.Repository, ref: str) -> str | None:
    """The commit that a ref comes to, if there is one."""
    try:
        return str(git.lookup_reference(ref).peel(pygit2.Commit).id)
    except GIT_ERRORS:
        return None
