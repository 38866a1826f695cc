"""A proposal's branch on a remote: its name there, and the push, with a lease and never bare.

What others have put on the branch is not overwritten: only the run's own commits, and what this
clone pushed itself, may be replaced.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, takewhile

import pygit2

from skillgit.errors import ConflictError, UserError
from skillgit.history.trailers import parse_commit
from skillgit.records import Record
from skillgit.store.git.git_cli import GitCli
from skillgit.store.git.names import HEADS, proposal_ref
from skillgit.store.git.refs import Refs
from skillgit.store.git.repository import Repository
from skillgit.store.git.trees import message_of
from skillgit.store.proposals.adopted import is_ancestor
from skillgit.store.proposals.same_version import VersionMark, own_mark
from skillgit.store.remotes.remotes import Remotes, remote_branch, unreachable

_MOST_NAMES = 100
_MOST_ON_TOP = 200


class Destination(Record):
    """Where a proposal goes on a remote, and what is there now (`None`: nothing)."""

    remote: str
    ref: str
    there: str | None

    @property
    def branch(self) -> str:
        """The branch's name."""
        return self.ref.removeprefix(HEADS)


@dataclass(frozen=True)
class Publisher:
    """Puts proposals on remotes."""

    repository: Repository
    refs: Refs
    cli: GitCli

    def destination(self, remote: str, run: str, commit: str) -> Destination:
        """The branch that a proposal gets: its own name, or the first that no other run has.

        Raises: UserError when the remote cannot be reached.
        """
        first = proposal_ref(run)
        remotes = Remotes(self.cli)
        taken = remotes.listed(remote, first, f"{first}-*")
        own = self._marks(commit)
        for n in range(1, _MOST_NAMES):
            ref = first if n == 1 else f"{first}-{n}"
            there = taken.get(ref)
            if there is None or there == commit:
                return Destination(remote=remote, ref=ref, there=there)
            if there not in self.repository.git:
                remotes.fetch(remote, f"+{ref}:{remote_branch(remote, ref)}")
            if not own.isdisjoint(self._marks(there)):
                return Destination(remote=remote, ref=ref, there=there)
        raise UserError(f"{remote} has {_MOST_NAMES} branches called {run} already")

    def push(self, to: Destination, commit: str) -> bool:
        """Make the branch stand on a commit; whether anything had to be pushed.

        Raises: ConflictError when others have commits on it, or moved it in between; UserError.
        """
        if to.there == commit:
            return False
        if to.there is not None:
            if is_ancestor(self.repository.git, commit, to.there):
                return False
            self._refuse_to_lose(to, to.there, commit)
        kept = remote_branch(to.remote, to.ref)
        remotes = Remotes(self.cli)
        self.refs.announce(kept, old=to.there, new=commit)
        result = remotes.push(to.remote, f"{commit}:{to.ref}", lease=f"{to.ref}:{to.there or ''}")
        if result.ok:
            return True
        if remotes.listed(to.remote, to.ref).get(to.ref) != to.there:
            raise ConflictError(
                f"somebody else pushed {to.branch} to {to.remote} in between",
                hint="Run the same command again, after a look at what is there now.",
            )
        raise unreachable(to.remote, result)

    def _refuse_to_lose(self, to: Destination, there: str, commit: str) -> None:
        """Refuse to overwrite what somebody else has put on the branch."""
        git = self.repository.git
        if is_ancestor(git, there, commit) or self._pushed_here(to, there):
            return
        walker = git.walk(pygit2.Oid(hex=there))
        walker.hide(pygit2.Oid(hex=commit))
        foreign = [c for c in walker if parse_commit(message_of(c)) is None]
        if foreign:
            raise ConflictError(
                f"{to.branch} on {to.remote} has commits that are not of the run and not in your"
                f" branch, the newest {foreign[0].short_id}",
                hint=f"git fetch {to.remote} {to.branch}; then rebase yours on it, or merge it.",
            )

    def _pushed_here(self, to: Destination, there: str) -> bool:
        """Whether it was this clone that put the branch where it is."""
        return there in self.refs.announced(remote_branch(to.remote, to.ref))

    def _marks(self, tip: str) -> set[VersionMark]:
        """The marks of the versions of the run that a branch's newest one is of."""
        git = self.repository.git
        walked = islice(git.walk(pygit2.Oid(hex=tip)), _MOST_ON_TOP)
        found = [mark for mark in map(own_mark, walked) if mark is not None]
        return set(takewhile(lambda mark: mark.run == found[0].run, found))
