"""Notes and run branches to and from a remote: fetched beside our own, united, never forced.

Who loses the race for a push fetches again and unites again, so nothing is lost, whatever the
order. Which refs may leave at all is for `remotes` to say.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import Field

from skillgit.errors import ConflictError, UserError
from skillgit.history.run_names import is_night, parse_run
from skillgit.ports import Clock
from skillgit.records import Record
from skillgit.store.git.git_cli import GitCli
from skillgit.store.git.names import HEADS, NOTES, RUNS, run_ref
from skillgit.store.git.refs import Refs
from skillgit.store.git.repository import Repository
from skillgit.store.git.trees import is_ancestor
from skillgit.store.notes.union import count_lines, missing_lines, take_in, tree_at
from skillgit.store.remotes.remotes import (
    Remotes,
    is_private,
    refspecs,
    remote_branch,
    remote_notes,
    unreachable,
)
from skillgit.store.runs.runs import read_commit, run_names, walk

MOST_ROUNDS = 50
_MOST_STUCK = 3
_MOST_NAMES = 100
_WAIT_S = 0.1


class SyncResult(Record):
    """What a sync came to. Lines are lines of notes.

    `runs_out` has the branch on the remote by the run's name here, `left_out` why a run stayed.
    """

    remote: str
    lines_in: int = 0
    lines_out: int = 0
    runs_in: tuple[str, ...] = ()
    runs_out: dict[str, str] = Field(default_factory=dict)
    left_out: dict[str, str] = Field(default_factory=dict)
    rounds: int = 1


@dataclass
class _Plan:
    """What one push is to bring: the runs by the branch that each gets, and all refspecs."""

    runs: dict[str, str] = field(default_factory=dict)
    specs: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)

    def add(self, commit: str, ref: str) -> None:
        """Push a commit to a ref of the remote."""
        if is_private(ref):
            raise ValueError(f"{ref} is private")
        self.specs.append(f"{commit}:{ref}")


@dataclass(frozen=True)
class Sync:
    """Exchanges with remotes. `jitter` keeps clones that collide from colliding for ever."""

    repository: Repository
    refs: Refs
    cli: GitCli
    clock: Clock
    jitter: Callable[[], float] = random.random

    def exchange(self, remote: str, chosen: Sequence[str] | None = None) -> SyncResult:
        """Fetch, unite, push; again where the remote moved in between.

        `chosen` are the runs to push; `None` is every training that stands on what the remote has.
        Raises: UserError for a remote that cannot be reached or that refuses, or for a run that
        may not leave; ConflictError when others never stop pushing.
        """
        runs, remotes = self._chosen(chosen), Remotes(self.cli)
        known = self._kept(remote)
        lines_in = lines_out = stuck = 0
        pushed: dict[str, str] = {}
        before: Mapping[str, str] = {}
        for round_ in range(1, MOST_ROUNDS + 1):
            there = remotes.listed(remote, NOTES, f"{HEADS}*")
            stuck = stuck + 1 if there == before else 0
            remotes.fetch(remote, *refspecs(remote))
            lines_in += self._unite(remote)
            plan = self._plan(remote, there, runs, asked=chosen is not None)
            lines_out = max(lines_out, self._missing_there(remote, there))
            pushed |= plan.runs
            result = remotes.push(remote, *plan.specs) if plan.specs else None
            if result is None or result.ok:
                return SyncResult(
                    remote=remote,
                    lines_in=lines_in,
                    lines_out=lines_out,
                    runs_in=self._new_runs(remote, known, {*pushed.values()}),
                    runs_out=pushed,
                    left_out=plan.left_out,
                    rounds=round_,
                )
            if stuck >= _MOST_STUCK:
                raise unreachable(remote, result)
            before = there
            self.clock.sleep(_WAIT_S * self.jitter() * min(round_, 10))
        raise ConflictError(
            f"others keep pushing to {remote}", hint="Run the same command again in a while."
        )

    def publish_tag(self, remote: str, tag: str) -> str | None:
        """Put a moving tag of ours on the remote; where it was there.

        Raises: ConflictError when the remote's tag moved in between; UserError.
        """
        remotes = Remotes(self.cli)
        ours, theirs = self.refs.read(tag), remotes.listed(remote, tag).get(tag)
        if ours is None or ours == theirs:
            return theirs
        result = remotes.push(remote, f"{ours}:{tag}", lease=f"{tag}:{theirs or ''}")
        if result.ok:
            return theirs
        if remotes.listed(remote, tag).get(tag) != theirs:
            raise ConflictError(
                f"somebody else moved {tag} on {remote} in between",
                hint="Run the same command again, after a look at what is there now.",
            )
        raise unreachable(remote, result)

    # ── notes ────────────────────────────────────────────────────────────────────────────────

    def _unite(self, remote: str) -> int:
        """Take in what the remote's notes have; how many lines were new."""
        theirs = self.refs.read(remote_notes(remote))
        if theirs is None:
            return 0
        Remotes(self.cli).complete(remote, theirs)
        who = self.repository.signature(int(self.clock.now().timestamp()))
        return take_in(self.repository.git, self.refs, NOTES, theirs, who=who)

    def _missing_there(self, remote: str, there: Mapping[str, str]) -> int:
        ours = self.refs.read(NOTES)
        theirs = self.refs.read(remote_notes(remote)) if NOTES in there else None
        if ours is None:
            return 0
        git = self.repository.git
        have = None if theirs is None else tree_at(git, theirs)
        return count_lines(missing_lines(have, tree_at(git, ours)))

    # ── runs ─────────────────────────────────────────────────────────────────────────────────

    def _chosen(self, chosen: Sequence[str] | None) -> list[str]:
        names = run_names(self.repository)
        if chosen is None:
            return [name for name in names if not is_night(name)]
        for name in chosen:
            if is_night(str(parse_run(name))):
                raise UserError(
                    f"{name} is a night: what it tried speaks of your own sessions and stays here",
                    hint=f"skillgit propose {name} shows its proposal to the others.",
                )
            if name not in names:
                raise UserError(
                    f"there is no run {name} here",
                    hint=f"There are: {', '.join(names)}." if names else "There is none yet.",
                )
        return list(chosen)

    def _plan(
        self, remote: str, there: Mapping[str, str], runs: Sequence[str], *, asked: bool
    ) -> _Plan:
        plan = _Plan()
        notes = self.refs.read(NOTES)
        if notes is not None and notes != there.get(NOTES):
            plan.add(notes, NOTES)
        for run in runs:
            if not asked and not self._base_is_there(run, there):
                plan.left_out[run] = f"it stands on commits that {remote} does not have yet"
            else:
                self._plan_run(plan, remote, there, run)
        return plan

    def _plan_run(self, plan: _Plan, remote: str, there: Mapping[str, str], run: str) -> None:
        """Find the run's own name on the remote: its name here, or the first free one after it."""
        git, tip = self.repository.git, self.refs.read(run_ref(run))
        own = None if tip is None else read_commit(git, tip)
        if tip is None or own is None:
            return
        for n in range(1, _MOST_NAMES):
            ref = run_ref(run if n == 1 else f"{run}-{n}")
            theirs = self.refs.read(remote_branch(remote, ref)) if ref in there else None
            if theirs is None:
                plan.runs[run] = ref.removeprefix(HEADS)
                plan.add(tip, ref)
                return
            other = read_commit(git, theirs)
            if other is None or other.state.run_id != own.state.run_id:
                continue
            if is_ancestor(git, tip, theirs):
                return
            if is_ancestor(git, theirs, tip):
                plan.runs[run] = ref.removeprefix(HEADS)
                plan.add(tip, ref)
            else:
                plan.left_out[run] = f"it went on in another way on {remote}"
            return

    def _base_is_there(self, run: str, there: Mapping[str, str]) -> bool:
        tip = self.refs.read(run_ref(run))
        if tip is None:
            return False
        base = list(walk(self.repository.git, tip))[-1].parent
        return not Remotes(self.cli).lacks(base, there)

    def _kept(self, remote: str) -> dict[str, str]:
        """The remote's runs as they are kept here, by their branch there."""
        prefix = remote_branch(remote, RUNS)
        git = self.repository.git
        return {
            HEADS + ref.removeprefix(f"refs/remotes/{remote}/"): str(git.references[ref].target)
            for ref in git.references
            if ref.startswith(prefix)
        }

    def _new_runs(
        self, remote: str, known: Mapping[str, str], ours: Collection[str]
    ) -> tuple[str, ...]:
        """The remote's runs that have moved here since they were `known`, without our own."""
        here = {self.refs.read(run_ref(run)) for run in run_names(self.repository)}
        return tuple(
            ref.removeprefix(RUNS)
            for ref, target in sorted(self._kept(remote).items())
            if known.get(ref) != target and target not in here
            if ref.removeprefix(HEADS) not in ours
        )
