"""The proposal: the accepted versions that lead to a run's best, and nothing else, on its base.

It is worked out from the run's commits alone, so every clone gets the same commits.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import pygit2

from skillgit.errors import ConflictError, UserError
from skillgit.history import RunCommit
from skillgit.history.trailers import parse_commit
from skillgit.records import Action, Record
from skillgit.store.git.names import HEADS, proposal_ref, run_ref
from skillgit.store.git.refs import Refs
from skillgit.store.git.rewrite import commit_elsewhere
from skillgit.store.git.signing import Sign
from skillgit.store.git.trees import message_of
from skillgit.store.proposals.adopted import MAX_ON_TOP
from skillgit.store.proposals.same_version import kept_message, own_mark
from skillgit.store.runs.runs import walk


class Proposal(Record):
    """What a run proposes: a commit and its branch, or the reason why there is none.

    `goes_on` says that the run has not ended, so that better may come.
    """

    run: str
    base: str
    commit: str | None
    branch: str | None = None
    versions: int = 0
    reason: str = ""
    goes_on: bool = False


def build_proposal(git: pygit2.Repository, tip: str, *, sign: Sign | None = None) -> Proposal:
    """The proposal of a run as it stood at one of its commits. Only objects are written.

    `sign` signs each of its commits, where they are to be signed.

    Raises: RepositoryError when the commit is none of a run's.
    """
    versions = list(walk(git, tip))[::-1]
    run, base = versions[0].run, versions[0].parent
    leading = _leading_to_best(git, versions)
    if not leading:
        return Proposal(run=run, base=base, commit=None, reason=_why_nothing(versions))
    commit = base
    for version in leading:
        own = git[version.id].peel(pygit2.Commit)
        commit = commit_elsewhere(git, own, commit, message=kept_message(own))
        commit = commit if sign is None else sign(commit)
    return Proposal(run=run, base=base, commit=commit, versions=len(leading))


def propose(git: pygit2.Repository, refs: Refs, run: str, *, sign: Sign | None = None) -> Proposal:
    """Makes the proposal's branch of a run that has ended; one that is there is never moved.

    Raises: UserError for no such run; ConflictError when the branch is of something else.
    """
    tip = refs.read(run_ref(run))
    if tip is None:
        raise UserError(f"there is no run {run}", hint="git branch --list 'skillopt/run/*'")
    built = build_proposal(git, tip)
    if not has_ended(git, tip):
        return built.model_copy(update={"commit": None, "reason": f"{run} has not ended yet"})
    if built.commit is None:
        return built
    name = proposal_ref(run)
    branch = name.removeprefix(HEADS)
    there = refs.read(name)
    if there is None:
        made = built if sign is None else build_proposal(git, tip, sign=sign)
        commit = made.commit or built.commit
        refs.move(name, old=None, new=commit, message=f"skillgit: proposal of {run}")
        return made.model_copy(update={"branch": branch})
    if there != built.commit and not _is_of_run(git, there, tip):
        raise ConflictError(
            f"the branch {branch} holds something else than the proposal of {run}",
            hint=f"git branch -m {branch} <another name>",
        )
    return built.model_copy(update={"commit": there, "branch": branch})


def has_ended(git: pygit2.Repository, tip: str) -> bool:
    """Whether a commit is the end of a run."""
    trailers = parse_commit(message_of(git[tip].peel(pygit2.Commit)))
    return trailers is not None and trailers.action is Action.END


def _is_of_run(git: pygit2.Repository, branch: str, run_tip: str) -> bool:
    """Whether a branch, be it rebased or with a person's commits on top, is of the run."""
    own = {own_mark(git[commit.id].peel(pygit2.Commit)) for commit in walk(git, run_tip)}
    for commit in islice(git.walk(pygit2.Oid(hex=branch)), MAX_ON_TOP):
        mark = own_mark(commit)
        if mark is not None:
            return mark in own
    return False


def _leading_to_best(git: pygit2.Repository, versions: Sequence[RunCommit]) -> list[RunCommit]:
    """The versions to propose, oldest first; none if the best is what the run began with."""
    best = versions[-1].state.best
    leading: list[RunCommit] = []
    for version in versions:
        if version.action is Action.REVERT:
            leading = [v for v in leading if v.step != version.step or not v.action.accepted]
        elif version.action in (Action.BASELINE, Action.EPOCH) or version.action.accepted:
            if _belongs(git, version, leading):
                leading.append(version)
            if version.step > 0 and version.state.current.origin == best.origin:
                return leading
    return []


def _belongs(git: pygit2.Repository, version: RunCommit, leading: Sequence[RunCommit]) -> bool:
    """Accepted versions, and what else changes the text or stands between two that do."""
    if version.action.accepted or (version.action is Action.EPOCH and leading):
        return True
    commit = git[version.id].peel(pygit2.Commit)
    return commit.tree_id != commit.parents[0].tree_id


def _why_nothing(versions: Sequence[RunCommit]) -> str:
    run = versions[0].run
    tried = sum(version.action.rejected for version in versions)
    if any(version.action.accepted for version in versions):
        return f"no version of {run} that was kept is better than the skill it began with"
    if tried:
        counted = "1 version" if tried == 1 else f"{tried} versions"
        return f"{run} tried {counted}, and none was accepted"
    return f"{run} found nothing to try"
