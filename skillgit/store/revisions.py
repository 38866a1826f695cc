"""Versions as people type them: `train-1@12`, `train-1@e2`, `best`, `night-7`, and git's own ways."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

import pygit2

from skillgit.errors import UserError
from skillgit.history import Phase, RunCommit
from skillgit.records import Action
from skillgit.store.git.names import HEADS, best_tag, proposal_ref, run_of_ref
from skillgit.store.git.refs import GIT_ERRORS, ref_target
from skillgit.store.git.signing import Sign
from skillgit.store.proposals.adopted import read_lineage
from skillgit.store.proposals.proposal import Proposal, build_proposal, has_ended
from skillgit.store.runs.runs import (
    here_or_remote,
    phase_of,
    read_commit,
    run_tip,
    walk,
)

_RUN = re.compile(r"[a-z]{1,20}-[1-9][0-9]{0,8}")
_MOMENT = re.compile(
    r"(?:(?P<step>[0-9]{1,9})(?P<after>\+?)|e(?P<epoch>[0-9]{1,9})|(?P<best>best))"
)
_STEPS_BACK = re.compile(r"[~^]")
_REMOTES = "refs/remotes/"
_TAGS = "refs/tags/"
_PREFIXES = (HEADS, _TAGS, _REMOTES)


def resolve(git: pygit2.Repository, typed: str, *, skill: str | None = None) -> str:
    """The id of the commit that a word names.

    A run's name alone is its proposal, or its best where there is none. Names of runs and
    `best` go before branches of these names, and branches before tags. `skill` says whose best
    is meant where there are several.

    Raises: UserError with the nearest names when there is no such version.
    """
    back = _STEPS_BACK.search(typed)
    name, steps = (typed[: back.start()], typed[back.start() :]) if back else (typed, "")
    commit = _named(git, name, skill)
    if commit is None:
        raise _unknown(git, typed)
    if not steps:
        return commit
    found = _parsed(git, commit + steps)
    if found is None:
        raise UserError(f"{name} has no {steps}", hint=f"git log --oneline {commit[:12]}")
    return found


def find_proposal(
    git: pygit2.Repository, typed: str, *, skill: str | None = None, sign: Sign | None = None
) -> Proposal:
    """The proposal that a word names: a run's, the best one's, or the branch or commit of one.

    `best` is the proposal of the run that holds the tag; while that run goes on, it is built
    from the tag's commit, and signed by `sign`.

    Raises: UserError when nothing is named, or something else than a proposal.
    """
    if typed == "best" and best_commit(git, skill) is not None:
        return _best_proposal(git, resolve(git, typed, skill=skill), sign)
    if _RUN.fullmatch(typed):
        return _runs_proposal(git, typed)
    lineage = read_lineage(git, resolve(git, typed, skill=skill))
    return Proposal(
        run=lineage.run,
        base=lineage.base,
        commit=lineage.commits[-1],
        versions=len(lineage.commits),
    )


def best_commit(git: pygit2.Repository, skill: str | None = None) -> str | None:
    """The commit that the tag on the best version is on.

    Of several skills, the one named: by its own tag, or by the default one if that is on a
    version of it.
    """
    own = None if skill is None else ref_target(git, best_tag(skill))
    tagged = own or ref_target(git, best_tag())
    if skill is None or own is not None or tagged is None:
        return tagged
    commit = read_commit(git, tagged)
    return tagged if commit is not None and commit.state.skill == skill else None


def _best_proposal(git: pygit2.Repository, tagged: str, sign: Sign | None) -> Proposal:
    commit = read_commit(git, tagged)
    if commit is None:
        raise UserError(
            "skillopt/best stands on a commit that no run made",
            hint="git tag -d skillopt/best; skillgit puts it where it belongs",
        )
    tip = run_tip(git, commit.run)
    if tip is not None and has_ended(git, tip):
        return _runs_proposal(git, commit.run)
    return build_proposal(git, tagged, sign=sign).model_copy(update={"goes_on": tip is not None})


def _runs_proposal(git: pygit2.Repository, run: str) -> Proposal:
    ref = proposal_ref(run)
    there = here_or_remote(git, ref)
    if there is not None:
        lineage = read_lineage(git, there)
        return Proposal(
            run=run,
            base=lineage.base,
            commit=there,
            branch=ref.removeprefix(HEADS),
            versions=len(lineage.commits),
        )
    tip = run_tip(git, run)
    if tip is None:
        raise _unknown(git, run)
    built = build_proposal(git, tip)
    if has_ended(git, tip):
        return built
    reason = f"{run} has not ended yet; skillgit adopt best takes what it has so far"
    return built.model_copy(update={"commit": None, "reason": reason, "goes_on": True})


# ── names ────────────────────────────────────────────────────────────────────────────────────


def _named(git: pygit2.Repository, name: str, skill: str | None) -> str | None:
    run, at, moment = name.partition("@")
    if at and _RUN.fullmatch(run) and not moment.startswith("{"):
        return _at(git, run, moment)
    if name == "best":
        tagged = best_commit(git, skill)
        if tagged is not None or skill is not None:
            return tagged
    if _RUN.fullmatch(name):
        tip = run_tip(git, name)
        proposed = here_or_remote(git, proposal_ref(name))
        if proposed is not None:
            return proposed
        if tip is not None:
            return _best_of(git, tip).id
    for prefix in _PREFIXES:
        found = ref_target(git, prefix + name)
        if found is not None:
            return found
    return _parsed(git, name)


def _parsed(git: pygit2.Repository, text: str) -> str | None:
    """What git itself makes of a text."""
    if text.startswith("-") or "\0" in text:
        return None
    try:
        return str(git.revparse_single(text).peel(pygit2.Commit).id)
    except GIT_ERRORS as error:
        if "ambiguous" in str(error).lower():
            raise UserError(
                f"{text} is the beginning of several ids", hint="Type more of it."
            ) from error
        return None


def _unknown(git: pygit2.Repository, typed: str) -> UserError:
    if typed == "best":
        return UserError("there is no best version yet", hint="skillgit train measures one.")
    near = difflib.get_close_matches(
        typed.partition("@")[0], sorted({*_known(git)}), n=3, cutoff=0.5
    )
    hint = "git branch --list 'skillopt/*' shows the runs and their proposals"
    return UserError(
        f"there is no version {typed!r}",
        hint=f"Near it: {', '.join(near)}" if near else hint,
    )


def _known(git: pygit2.Repository) -> Iterator[str]:
    for ref in git.references:
        run = run_of_ref(ref)
        if run is not None:
            yield str(run)
        elif ref == best_tag():
            yield "best"
        elif ref.startswith(_PREFIXES):
            yield ref.split("/", 2)[2]


# ── moments of a run ─────────────────────────────────────────────────────────────────────────


def _at(git: pygit2.Repository, run: str, moment: str) -> str:
    tip = run_tip(git, run)
    if tip is None:
        raise _unknown(git, f"{run}@{moment}")
    matched = _MOMENT.fullmatch(moment)
    if matched is None:
        raise UserError(
            f"{run}@{moment} names no version",
            hint=f"{run}@12 is what step 12 tried, {run}@12+ what went on from it; {run}@e2, {run}@best",
        )
    if matched["best"]:
        return _best_of(git, tip).id
    if matched["epoch"]:
        return _epoch(git, run, tip, int(matched["epoch"]))
    return _step(git, run, tip, int(matched["step"]), after=bool(matched["after"]))


def _step(git: pygit2.Repository, run: str, tip: str, step: int, *, after: bool) -> str:
    """What a step tried, or (`after`) what training went on from: its revert, if it has one."""
    found: RunCommit | None = None
    last = None
    for commit in walk(git, tip):
        last = last or commit
        if commit.step < step:
            break
        if commit.step == step and phase_of(commit.action) is Phase.STEP:
            found = commit
            if after:
                break
    if found is None:
        newest = last.step if last else 0
        raise UserError(f"{run} has no step {step}", hint=f"Its last step is {newest}.")
    return found.id


def _epoch(git: pygit2.Repository, run: str, tip: str, epoch: int) -> str:
    newest = 0
    for commit in walk(git, tip):
        if commit.action is Action.EPOCH:
            newest = max(newest, commit.state.epoch)
            if commit.state.epoch == epoch:
                return commit.id
    raise UserError(f"{run} has no end of an epoch {epoch}", hint=f"Its last one is {newest}.")


def _best_of(git: pygit2.Repository, tip: str) -> RunCommit:
    """The commit that made the best version of a run: the oldest one that stands on it."""
    newest = read_commit(git, tip)
    best: RunCommit | None = None
    for commit in walk(git, tip):
        newest = newest or commit
        if newest.state.best.step > commit.step:
            break
        if _made(commit) and commit.state.current.origin == newest.state.best.origin:
            best = commit
    return best or next(walk(git, tip))


def _made(commit: RunCommit) -> bool:
    return commit.action.accepted or commit.action in (Action.BASELINE, Action.EPOCH)
