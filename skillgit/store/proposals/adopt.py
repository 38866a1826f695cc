"""Bringing a proposal to the branch it is meant for, in whatever state that branch is.

Objects are built first, then the branch moves once, by git: killed at any point, the same
command finishes the work or says that it is done.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

import pygit2

from skillgit.errors import UserError
from skillgit.history import Remeasured
from skillgit.records import Record
from skillgit.store.git.git_cli import GitCli
from skillgit.store.git.names import HEADS, PROPOSALS
from skillgit.store.git.refs import Refs
from skillgit.store.git.repository import Repository
from skillgit.store.git.signing import Sign
from skillgit.store.proposals.adopted import (
    How,
    Lineage,
    Recognised,
    changed_paths,
    is_adopted,
    is_ancestor,
    read_lineage,
)
from skillgit.store.proposals.fast_forward import (
    fast_forward,
    how_to_undo,
    refuse_changed,
    work_tree_of,
)
from skillgit.store.proposals.replay import EditsOf, NotedEdits, Replayer
from skillgit.store.proposals.same_version import own_mark


class AdoptState(StrEnum):
    """What adopting a proposal came to."""

    ALREADY = "already"
    FAST_FORWARD = "fast_forward"
    REPLAYED = "replayed"
    REPLAYED_UNMEASURED = "replayed_unmeasured"
    REGATED = "regated"
    MERGED = "merged"


class Adoption(Record):
    """What happened: where the branch was and is, and the command that undoes it.

    `found` is what was measured before, where that was asked for and needed.
    """

    run: str
    onto: str
    state: AdoptState
    proposal: str
    old: str
    new: str
    commits: int = 0
    undo: str | None = None
    recognised: Recognised | None = None
    found: Remeasured | None = None

    def __str__(self) -> str:
        match self.state:
            case AdoptState.ALREADY:
                return f"{self.onto} has {self.run} already: {self._found()}"
            case AdoptState.FAST_FORWARD:
                return f"{self.onto} is at {self.run} now ({self._counted()})"
            case AdoptState.REPLAYED:
                return (
                    f"{self.run} was replayed on {self.onto} ({self._counted()}); the skill there"
                    " was the one that was measured, so the scores hold"
                )
            case AdoptState.REPLAYED_UNMEASURED:
                return (
                    f"the edits of {self.run} were applied again on {self.onto}"
                    f" ({self._counted()}); the skill there had changed, so the result is unmeasured"
                )
            case AdoptState.REGATED:
                return (
                    f"the edits of {self.run} were applied again on {self.onto}"
                    f" ({self._counted()}); measured on val: {self._scores()}"
                )
            case AdoptState.MERGED:
                return f"{self.run} was merged into {self.onto}; the result is unmeasured"

    def _counted(self) -> str:
        return "1 commit" if self.commits == 1 else f"{self.commits} commits"

    def _scores(self) -> str:
        if self.found is None:
            return "nothing"
        before = "" if self.found.before is None else f"{self.found.before:.4f} -> "
        return f"{before}{self.found.score:.4f}"

    def _found(self) -> str:
        if self.recognised is None or self.recognised.how is How.CONTAINED:
            return "its commits are in it"
        found = self.recognised.commit[:12]
        if self.recognised.how is How.SAME_BYTES:
            return f"the skill was the same bytes in {found}"
        if self.recognised.how is How.SAME_EDITS:
            return "each of its edits is there"
        return f"its steps are there, the last one in {found}"


Regate = Callable[[Lineage, str, str], Remeasured]
"""Measures the tree that a proposal comes to on a branch against the branch's tip, its commit.

Raises: UserError when the gate does not let it pass.
"""


@dataclass(frozen=True)
class Adopter:
    """Adopts proposals in one repository.

    `documents` are the paths of the skill, the main one first; without them those that the
    proposal changes. `edits_of` finds the edits of a version, by default in the run's notes.
    `sign` signs the commits that are made again. With `regate`, edits that are applied again to a
    changed text are measured there first.
    """

    repository: Repository
    refs: Refs
    cli: GitCli
    documents: Sequence[str] = ()
    edits_of: EditsOf | None = None
    sign: Sign | None = None
    regate: Regate | None = None

    def adopt(
        self, proposal: str, *, onto: str, merge: bool = False, only: Sequence[str] = ()
    ) -> Adoption:
        """Brings a proposal, named by the id of its commit, to a branch.

        `only` are documents: with them, what the proposal does elsewhere stays out.
        Raises: UserError where the branch's text and the proposal do not fit; RepositoryError
        with git's own words when it will not move the branch.
        """
        git = self.repository.git
        if (HEADS + onto).startswith(PROPOSALS):
            raise UserError(
                f"{onto} is skillgit's own branch; a proposal goes to yours",
                hint="skillgit adopt RUN --into main",
            )
        lineage = read_lineage(git, proposal)
        if only:
            lineage = part_of(git, lineage, only)
        old = str(self.repository.onto_commit(onto).id)
        known = is_adopted(git, lineage, old)
        if known is not None:
            return self._adoption(lineage, onto, AdoptState.ALREADY, old, old, recognised=known)
        if is_ancestor(git, old, proposal) and not lineage.is_part:
            commits = sum(not is_ancestor(git, commit, old) for commit in lineage.commits)
            return self._move(lineage, onto, AdoptState.FAST_FORWARD, old, proposal, commits)
        if merge and lineage.is_part:
            raise UserError(
                f"git merges all of {lineage.run} or nothing, not one skill of it",
                hint="Leave out --merge, or adopt all of it.",
            )
        if merge:
            return self._merge(lineage, onto, old)
        return self._replay(lineage, onto, old, tuple(only))

    def _replay(self, lineage: Lineage, onto: str, old: str, only: tuple[str, ...]) -> Adoption:
        """The proposal's commits made again on top of the branch."""
        git = self.repository.git
        edits_of = self.edits_of or NotedEdits(git, self.refs)
        documents = tuple(self.documents) or only or lineage.paths
        replayer = Replayer(git, self.cli, edits_of, documents, sign=self.sign)
        replay = replayer.plan(lineage, old)
        if not replay.trees or replay.trees[-1] == str(git[old].peel(pygit2.Tree).id):
            known = Recognised(commit=old, how=How.SAME_EDITS)
            return self._adoption(lineage, onto, AdoptState.ALREADY, old, old, recognised=known)
        found, state = None, AdoptState.REPLAYED
        if not replay.measured:
            state = AdoptState.REPLAYED_UNMEASURED
            if self.regate is not None:
                refuse_changed(self.cli, onto, old=old, new=replay.trees[-1])
                found = self.regate(lineage, replay.trees[-1], old)
                state = AdoptState.REGATED
        new = replayer.make(lineage, replay, found)
        adoption = self._move(lineage, onto, state, old, new, len(replay.commits))
        return adoption.model_copy(update={"found": found})

    def _move(
        self, lineage: Lineage, onto: str, state: AdoptState, old: str, new: str, commits: int
    ) -> Adoption:
        undo = how_to_undo(self.cli, onto, old)
        self.refs.announce(HEADS + onto, old=old, new=new)
        fast_forward(self.cli, onto, old=old, new=new)
        return self._adoption(lineage, onto, state, old, new, commits=commits, undo=undo)

    def _merge(self, lineage: Lineage, onto: str, old: str) -> Adoption:
        """git's own merge, in the work tree that has the branch; conflicts are left there."""
        folder = work_tree_of(self.cli, onto)
        if folder is None:
            raise UserError(
                f"{onto} is checked out nowhere, and a merge needs a work tree",
                hint=f"git switch {onto}, then the same command again",
            )
        tip = lineage.commits[-1]
        undo = how_to_undo(self.cli, onto, old)
        message = f"Merge the proposal of {lineage.run}"
        signed = () if self.sign is None else ("--gpg-sign",)
        result = self.cli.at(folder).run("merge", "--no-autostash", *signed, "-m", message, tip)
        if not result.ok:
            raise UserError(
                "\n".join(dict.fromkeys((*result.words.split("\n"), *result.text.split("\n")))),
                hint="Resolve, git add and git commit; git merge --abort takes the merge back.",
            )
        new = str(self.repository.onto_commit(onto).id)
        self.refs.announce(HEADS + onto, old=old, new=new)
        return self._adoption(lineage, onto, AdoptState.MERGED, old, new, commits=1, undo=undo)

    def _adoption(
        self,
        lineage: Lineage,
        onto: str,
        state: AdoptState,
        old: str,
        new: str,
        *,
        commits: int = 0,
        undo: str | None = None,
        recognised: Recognised | None = None,
    ) -> Adoption:
        return Adoption(
            run=lineage.run,
            onto=onto,
            state=state,
            proposal=lineage.commits[-1],
            old=old,
            new=new,
            commits=commits,
            undo=undo,
            recognised=recognised,
        )


# ── A part of a proposal: what it does to some documents, one skill's say, and to nothing else.


def part_of(git: pygit2.Repository, whole: Lineage, documents: Collection[str]) -> Lineage:
    """The part of a proposal that is about some documents.

    It is a proposal like any other, but for its commits: those that change one of the documents,
    and of these only what they change there counts. All of a proposal is no part but the whole.

    Raises: UserError when the proposal changes none of the documents.
    """
    changes = {commit: _changed(git, commit) for commit in whole.commits}
    chosen = tuple(c for c, paths in changes.items() if not paths.isdisjoint(documents))
    if not chosen:
        raise UserError(
            f"{whole.run} changes none of {', '.join(sorted(documents))}",
            hint=f"It changes {', '.join(whole.paths)}." if whole.paths else "",
        )
    if all(paths <= set(documents) for paths in changes.values()):
        return whole
    marks = (own_mark(git[commit].peel(pygit2.Commit)) for commit in chosen)
    return whole.model_copy(
        update={
            "commits": chosen,
            "versions": frozenset(mark for mark in marks if mark is not None),
            "paths": tuple(path for path in whole.paths if path in documents),
            "is_part": True,
        }
    )


def _changed(git: pygit2.Repository, commit_id: str) -> set[str]:
    commit = git[commit_id].peel(pygit2.Commit)
    return set(changed_paths(commit.parents[0].tree, commit.tree))
