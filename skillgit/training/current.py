"""The skill that a candidate is held against: its measurements, looked after between steps.

A target that samples gives a version that was lucky once a score it cannot keep. Measured again
now and then, with all its scores pooled, it stands where it belongs; the best version is then
worked out anew, and may be an older one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from skillgit.gate import beats, mean_score, pool
from skillgit.history import NoteLine, Phase, Refresh, RunCommit, RunPosition
from skillgit.ports import Account
from skillgit.records import Action, Measurements
from skillgit.training.state import (
    Origin,
    OriginKind,
    TrainingState,
    Validation,
    Version,
    ledger_lines,
    parse_origin,
    version_of,
)

MOST_AT_THE_END = 3
"""How many versions are measured again at a run's end, at most."""

ObjectLines = tuple[tuple[str, NoteLine], ...]


@dataclass(frozen=True)
class CurrentScores:
    """Where training stands with current's score as it is now, and its measurements one by one.

    `lines` are what was measured for it, `refresh` says what a re-measurement changed.
    """

    state: TrainingState
    rounds: tuple[Measurements, ...]
    lines: ObjectLines = ()
    refresh: Refresh | None = None


def refresh_current(
    setup: Validation, state: TrainingState, position: RunPosition, account: Account
) -> CurrentScores:
    """Current as a candidate meets it: measured if nobody has, and again where that is due.

    Raises: BlockedError when too many tasks come back without a score; BudgetError.
    """
    rounds = setup.known(state.current.skill, position)
    if state.current.score is None or not rounds:
        found = setup.measure(state.current.skill, position, account)
        measured = _with_scores(setup, state, found.measurements)
        return CurrentScores(measured, found.rounds, ledger_lines(found))
    lines: ObjectLines = ()
    due = is_refresh_due(setup, position)
    if due:
        found = setup.measure(state.current.skill, position, account, again=True)
        rounds, lines = found.rounds, ledger_lines(found)
    after = _with_scores(setup, state, pool(state.current.object_id, rounds))
    if not due and _same(state.current.score, after.current.score):
        return CurrentScores(state, rounds)
    after = _with_best(setup, after, position)
    return CurrentScores(after, rounds, lines, _difference(state, after))


def is_refresh_due(setup: Validation, position: RunPosition) -> bool:
    """Whether current is measured again before a candidate at this position is validated."""
    every = setup.config.gate.refresh_every
    is_step = position.phase is Phase.STEP
    return bool(every) and is_step and position.step % every == 0 and setup.config.target.samples


def confirm_best(
    setup: Validation, state: TrainingState, position: RunPosition, account: Account
) -> tuple[TrainingState, ObjectLines]:
    """Where training stands once the best was measured twice, where current is measured again.

    The version accepted last has the luck it was accepted for; if its score does not hold, the
    next best is looked at in the same way.
    Raises: BlockedError when too many tasks come back without a score; BudgetError.
    """
    gate = setup.config.gate
    lines: ObjectLines = ()
    if not (gate.enabled and gate.refresh_every and setup.config.target.samples):
        return state, lines
    seen: dict[Origin, Measurements] = {}
    for _ in range(MOST_AT_THE_END):
        best = state.best
        if best.origin in seen or len(setup.known(state.best.skill, position)) > gate.repeats:
            break
        found = setup.measure(state.best.skill, position, account, again=True)
        seen[best.origin] = found.measurements
        lines += ledger_lines(found)
        state = _with_best_scores(setup, state, found.measurements)
        state = _with_best(setup, state, position, seen)
    return state, lines


def measured_again(
    setup: Validation, state: TrainingState, position: RunPosition, account: Account
) -> tuple[TrainingState, ObjectLines]:
    """Where training stands with current measured: what went into it unjudged is measured here.

    Best is not touched by it.
    """
    if state.current.score is not None:
        return state, ()
    found = setup.measure(state.current.skill, position, account)
    return _with_scores(setup, state, found.measurements), ledger_lines(found)


def _measured(setup: Validation, version: Version, scores: Measurements) -> Version:
    """A version with these measurements in place of those that it had."""
    mean = mean_score(s for s in scores.scores.values() if s is not None)
    return version.model_copy(update={"score": setup.gate_score(mean), "measurements": scores})


def _with_scores(setup: Validation, state: TrainingState, scores: Measurements) -> TrainingState:
    """The state with current's measurements replaced, best's too if it is the same version."""
    current = _measured(setup, state.current, scores)
    is_best = state.best.origin == state.current.origin
    return replace(state, current=current, best=current if is_best else state.best)


def _with_best_scores(
    setup: Validation, state: TrainingState, scores: Measurements
) -> TrainingState:
    """The state with best's measurements replaced, current's too if it is the same version."""
    if state.best.origin == state.current.origin:
        return _with_scores(setup, state, scores)
    return replace(state, best=_measured(setup, state.best, scores))


def _with_best(
    setup: Validation,
    state: TrainingState,
    position: RunPosition,
    seen: Mapping[Origin, Measurements] = MappingProxyType({}),
) -> TrainingState:
    """The state with the version as best that, by all scores, now is.

    `seen` are the scores, by origin, that the ledger has not got yet.
    """
    best = state.best
    for version in _versions(setup, state, position, seen):
        score = version.score
        if score is not None and (best.score is None or beats(score, best.score)):
            best = version
    return replace(state, best=best)


def _versions(
    setup: Validation,
    state: TrainingState,
    position: RunPosition,
    seen: Mapping[Origin, Measurements],
) -> Iterator[Version]:
    """The versions that the gate once let pass, with all that is known of them now.

    Current comes first, the others oldest first.
    """
    current = state.current
    if current.origin.kind is not OriginKind.SLOW_UPDATE:
        yield current
    commits = [c for c in setup.store.history(setup.run.name) if _is_version(c)]
    for commit in reversed(commits):
        mark = commit.state.current
        origin = parse_origin(mark.origin)
        if origin in (current.origin, state.best.origin):
            continue
        skill = setup.store.skill_at(commit.id)
        scores = seen.get(origin) or pool(
            setup.store.object_id(skill), setup.known(skill, position)
        )
        yield _measured(setup, version_of(mark, skill, scores), scores)


def _is_version(commit: RunCommit) -> bool:
    if commit.action is Action.EPOCH:
        origin = parse_origin(commit.state.current.origin)
        is_new = origin.kind is OriginKind.SLOW_UPDATE
        return is_new and commit.state.best.origin == commit.state.current.origin
    return commit.action.accepted or commit.action is Action.BASELINE


def _same(score: float | None, other: float | None) -> bool:
    if score is None or other is None:
        return score is other
    return not (beats(score, other) or beats(other, score))


def _difference(before: TrainingState, after: TrainingState) -> Refresh:
    old, new = before, after
    return Refresh(
        before=old.current.score,
        after=new.current.score,
        best_before=old.best.score,
        best_after=new.best.score,
        best=str(new.best.origin) if new.best.origin != old.best.origin else None,
    )
