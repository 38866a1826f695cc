"""Taking back what an adopt did to a branch: found in the log of moves, checked, and undone by git.

Only the latest move that the branch still stands at is taken back, and nothing that others may
have seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pygit2

from skillgit.errors import RepositoryError, UserError
from skillgit.records import Record
from skillgit.store.git.git_cli import GitCli
from skillgit.store.git.names import HEADS, PROPOSALS
from skillgit.store.git.refs import GIT_ERRORS, Refs
from skillgit.store.git.repository import Repository
from skillgit.store.git.trees import is_ancestor
from skillgit.store.proposals.fast_forward import work_tree_of

_REMOTES = "refs/remotes/"


class Adopted(Record):
    """A move of a person's branch, by the command that made it; `commits` is how many it brought."""

    branch: str
    old: str
    new: str
    command: str
    commits: int


@dataclass(frozen=True)
class Undoer:
    """Takes moves back in one repository."""

    repository: Repository
    refs: Refs
    cli: GitCli

    def find(self, branch: str | None = None) -> Adopted:
        """The move that would be taken back; of the one branch, where one is named.

        Raises: UserError, with what to type instead, when there is none, when commits stand on it,
        or when a remote has it.
        """
        buried: Adopted | None = None
        for move in self._moves(branch):
            here = self.refs.read(HEADS + move.branch)
            if here == move.new:
                self._refuse_shared(move)
                return move
            if here is not None and buried is None and self._brought(move.new, here):
                buried = move
        if buried is not None:
            raise self._is_buried(buried)
        where = "here" if branch is None else f"to {branch} here"
        raise UserError(
            f"there is nothing to undo: no adopt {where} stands at the end of its branch",
            hint="git reflog shows what else has moved.",
        )

    def undo(self, move: Adopted) -> None:
        """Put the branch back, and the work tree that has it checked out.

        Raises: RepositoryError with git's own words; nothing has moved then.
        """
        ref = HEADS + move.branch
        self.refs.announce(ref, old=move.new, new=move.old)
        folder = work_tree_of(self.cli, move.branch)
        if folder is None:
            result = self.cli.run("update-ref", "-m", "skillgit undo", ref, move.old, move.new)
        else:
            result = self.cli.at(folder).run("reset", "--keep", "--quiet", move.old)
        if not result.ok:
            hint = f"Nothing was changed; {move.branch} is where it was."
            raise RepositoryError(result.words, hint=hint)

    def _moves(self, branch: str | None) -> Iterator[Adopted]:
        """What the log says of people's branches, newest first, as far as its commits are here."""
        for logged in reversed(self.refs.logged()):
            ref, old, new = (logged.get(field) for field in ("ref", "old", "new"))
            if not (isinstance(ref, str) and isinstance(old, str) and isinstance(new, str)):
                continue
            name = ref.removeprefix(HEADS)
            is_own = ref.startswith(HEADS) and not ref.startswith(PROPOSALS)
            if not is_own or branch not in (None, name) or not self._brought(old, new):
                continue
            walker = self.repository.git.walk(pygit2.Oid(hex=new))
            walker.hide(pygit2.Oid(hex=old))
            command = str(logged.get("command", "skillgit adopt"))
            yield Adopted(
                branch=name, old=old, new=new, command=command, commits=sum(1 for _ in walker)
            )

    def _brought(self, older: str, newer: str) -> bool:
        """Whether a commit stands below another one; what is not here stands nowhere."""
        try:
            return older != newer and is_ancestor(self.repository.git, older, newer)
        except GIT_ERRORS:
            return False

    def _refuse_shared(self, move: Adopted) -> None:
        git = self.repository.git
        for ref in git.references:
            is_same = ref.startswith(_REMOTES) and ref.endswith(f"/{move.branch}")
            there = self.refs.read(ref) if is_same else None
            if there is not None and (there == move.new or self._brought(move.new, there)):
                remote = ref.removeprefix(_REMOTES)
                raise UserError(
                    f"{remote} has it, too: others may have taken it",
                    hint=f"{_revert(move)} takes it back for everybody.",
                )

    def _is_buried(self, move: Adopted) -> UserError:
        return UserError(
            f"there are commits on {move.branch} since {move.command}",
            hint=f"{_revert(move)} takes back what it brought, and keeps them.",
        )


def _revert(move: Adopted) -> str:
    return f"git revert --no-edit {move.old[:12]}..{move.new[:12]}"
