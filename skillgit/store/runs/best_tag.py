"""The moving tag on the best version, worked out from the run branches and never believed.

Among runs of one fingerprint the highest score wins, the earlier on a tie. A run of another
fingerprint takes the tag over with an accepted version that beats the tagged one as measured
under the new fingerprint's own target and tasks. Runs are as old as their numbers. Runs of a
remote that this clone syncs with count as its own do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pygit2.enums import ObjectType

from skillgit.errors import RepositoryError
from skillgit.gate import beats, pool, select_gate_score
from skillgit.history import ConfigNote, NoteLine, Phase, RunCommit, ScoresLine
from skillgit.history.trailers import parse_commit
from skillgit.records import Action, Metric, Record, Score
from skillgit.store.git.names import RUNS, best_tag, is_night, parse_run, run_of_ref
from skillgit.store.git.refs import RefMovedError, Refs
from skillgit.store.git.repository import Repository
from skillgit.store.git.trees import commit_at, message_of
from skillgit.store.notes.ledger import pooled
from skillgit.store.runs.runs import read_commit, run_refs, walk

_MAX_RACES = 20
_MIN_COVERAGE = 0.8

ObjectOf = Callable[[str], str]
LinesOn = Callable[[str], Sequence[NoteLine]]


class RunBest(Record):
    """The best that a run has, as the commit on its branch's tip tells it."""

    run: str
    tip: RunCommit

    @property
    def score(self) -> float | None:
        """The gate score of the run's best."""
        return self.tip.state.best.score

    @property
    def is_accepted(self) -> bool:
        """Whether it is a version that the run made, not the skill as it was found."""
        return self.tip.state.best.origin != "initial_skill"


class BestTag:
    """The tags on a skill's best version. `object_of` names a commit's skill object."""

    def __init__(
        self,
        repository: Repository,
        refs: Refs,
        *,
        skill: str,
        tags: Sequence[str],
        object_of: ObjectOf,
        lines_on: LinesOn,
    ) -> None:
        self._repository = repository
        self._git = repository.git
        self._refs = refs
        self._skill = skill
        self._tags = tags
        self._object_of = object_of
        self._lines_on = lines_on
        self._known: tuple[str, str] | None = None

    def repair(self) -> str | None:
        """Put the tags where the run branches say they belong; the commit, if there is one.

        Raises: RepositoryError for a tag of that name that is not skillgit's.
        """
        for tag in self._tags:
            self._refuse_foreign(tag)
        best = None
        for tag in self._tags:
            best = self._put(tag)
        return best

    def after(self, commit: RunCommit) -> None:
        """Follow a commit that a run's branch has just moved to; most steps change nothing."""
        mark = (commit.state.run_id, commit.state.best.model_dump_json())
        if mark != self._known:
            self.repair()
            self._known = mark

    def derive(self) -> str | None:
        """The commit that the branches say is best, or `None` when there is no run."""
        holder: RunBest | None = None
        holder_commit: str | None = None
        for run_best in self._run_bests():
            if holder is None or holder_commit is None:
                takes_over = run_best.score is not None
            else:
                takes_over = run_best.is_accepted and self._beats(run_best, holder_commit)
            if takes_over:
                holder, holder_commit = run_best, self._commit_of(run_best)
        return holder_commit

    def _put(self, tag: str) -> str | None:
        for _ in range(_MAX_RACES):
            old = self._refs.read(tag)
            best = self.derive()
            if best is None or best == old:
                return best or old
            try:
                self._refs.move(tag, old=old, new=best, message="best")
            except RefMovedError:
                continue
            return best
        return self._refs.read(tag)

    def _refuse_foreign(self, tag: str) -> None:
        target = self._refs.read(tag)
        if target is None:
            return
        found = self._git.get(target)
        is_commit = found is not None and found.type == ObjectType.COMMIT
        if not is_commit or parse_commit(message_of(commit_at(self._git, target))) is None:
            short = tag.removeprefix("refs/tags/")
            renamed = f"old-{short.replace('/', '-')}"
            raise RepositoryError(
                f"the tag {short} is not skillgit's: it is on no commit of a run",
                hint=f"git tag {renamed} {tag} && git tag -d {short}",
            )

    def _run_bests(self) -> Iterator[RunBest]:
        """The best run of each fingerprint, the fingerprints in the order they were begun in."""
        groups: dict[str, RunBest] = {}
        for run_best in sorted(self._contenders(), key=_by_age):
            other = groups.setdefault(run_best.tip.state.run, run_best)
            if _is_higher(run_best.score, other.score):
                groups[run_best.tip.state.run] = run_best
        yield from groups.values()

    def _contenders(self) -> Iterator[RunBest]:
        """The bests of the skill's trainings here, and of those that a colleague has shared."""
        for ref in run_refs(self._repository):
            tip = self._refs.read(ref)
            commit = None if tip is None else read_commit(self._git, tip)
            if commit is None or commit.state.skill != self._skill or is_night(commit.run):
                continue
            if run_of_ref(RUNS + commit.run) is None:
                continue
            run_best = RunBest(run=commit.run, tip=commit)
            if ref.startswith(RUNS) or self._is_whole(run_best):
                yield run_best

    def _is_whole(self, run_best: RunBest) -> bool:
        """Whether a run that was fetched, from a shallow remote perhaps, can be read to its best."""
        try:
            self._commit_of(run_best)
        except RepositoryError:
            return False
        return True

    def _commit_of(self, run_best: RunBest) -> str:
        """The commit of the run that made its best."""
        best = run_best.tip.state.best
        for commit in walk(self._git, run_best.tip.id):
            if commit.step < best.step:
                break
            if commit.step == best.step and _made(commit, best.origin):
                return commit.id
        raise RepositoryError(f"{run_best.run} has no commit of step {best.step}, its best")

    # ── a version of one fingerprint against another's ───────────────────────────────────────

    def _beats(self, run_best: RunBest, holder: str) -> bool:
        """Whether a run's best beats a commit, both measured under the run's fingerprint."""
        state = run_best.tip.state
        ours = self._lines_on(self._object_of(self._commit_of(run_best)))
        theirs = self._lines_on(self._object_of(holder))
        val = _val_tasks(ours, state.target)
        mine, other = _scores(ours, state.target), _scores(theirs, state.target)
        both = [task for task in sorted(val) if task in mine and task in other]
        if not both or len(both) < _MIN_COVERAGE * len(val):
            return False
        weight = self._mixed_weight(run_best)
        return beats(
            _mean([mine[task] for task in both], state.metric, weight),
            _mean([other[task] for task in both], state.metric, weight),
        )

    def _mixed_weight(self, run_best: RunBest) -> float:
        if run_best.tip.state.metric is not Metric.MIXED:
            return 0.5
        start = list(walk(self._git, run_best.tip.id))[-1]
        for line in self._lines_on(start.id):
            if isinstance(line, ConfigNote):
                gate = line.identity.get("gate")
                weight = gate.get("mixed_weight") if isinstance(gate, dict) else None
                if isinstance(weight, int | float):
                    return float(weight)
        return 0.5


def tags_of(skill: str, *, several: bool, is_default: bool) -> tuple[str, ...]:
    """The tags that a skill's best version has in a repository of one or several skills."""
    own = (best_tag(skill),) if several else ()
    return (*own, best_tag()) if is_default or not several else own


def _by_age(run_best: RunBest) -> tuple[int, str, str]:
    """The order of runs, the same in every clone."""
    name = parse_run(run_best.run)
    return (name.number, name.kind, run_best.tip.state.run_id)


def _is_higher(score: float | None, other: float | None) -> bool:
    return score is not None and (other is None or beats(score, other))


def _made(commit: RunCommit, origin: str) -> bool:
    """Whether a commit is the one that an origin speaks of."""
    if origin == "initial_skill":
        return commit.action is Action.BASELINE
    if origin.startswith("slow_update"):
        return commit.action is Action.EPOCH
    return commit.action.accepted


def _val_tasks(lines: Sequence[NoteLine], target: str) -> set[str]:
    """The tasks that steps measured: the test split is measured by a run's end alone."""
    measured = (line for line in lines if isinstance(line, ScoresLine) and line.target == target)
    return {task for line in measured if line.phase is not Phase.END for task in line.tasks}


def _scores(lines: Sequence[NoteLine], target: str) -> dict[str, Score]:
    known = pool("", pooled("", lines, target, repeats=None, before=None))
    return {task: score for task, score in known.scores.items() if score is not None}


def _mean(scores: Sequence[Score], metric: Metric, weight: float) -> float:
    hard = sum(score.hard for score in scores) / len(scores)
    soft = sum(score.soft for score in scores) / len(scores)
    return select_gate_score(hard, soft, metric, weight)
