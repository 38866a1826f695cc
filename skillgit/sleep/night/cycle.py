"""One night from end to end: harvest, mine, replay, consolidate, and a branch for the morning.

Nothing is adopted. Killed anywhere, the same command goes on where it stopped; a night that has
nothing to do costs nothing and leaves a line in the history.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from skillgit.config import Config
from skillgit.history import RunHead
from skillgit.history.run_names import NIGHT, RunName, parse_run
from skillgit.ports import Clock
from skillgit.records import Action, Task
from skillgit.records.canonical import fingerprint
from skillgit.sleep.memory.state import NightRecord, SleepState, files_after, parse_state
from skillgit.sleep.night.inputs import NightInputs, Parts, inputs, nothing_to_do
from skillgit.sleep.night.plan import NightPlan, everything_seen
from skillgit.sleep.night.report import SleepReport
from skillgit.sleep.night.run import CycleOutcome, night_context, rehearse, run_night
from skillgit.store.git import locks
from skillgit.store.runs.sleep_ref import read_sleep, write_sleep
from skillgit.training.identity import Identity, identity_fingerprint, run_identity
from skillgit.training.wiring import TrainingContext

__all__ = ["CycleOutcome", "run_sleep_cycle"]

LOCK, COMMAND = "night", "skillgit sleep"


def run_sleep_cycle(
    config: Config,
    *,
    parts: Parts,
    seed_tasks: Sequence[Task] | None = None,
    dry_run: bool = False,
    clock: Clock | None = None,
) -> CycleOutcome:
    """One night: the one that was begun and not ended, or the next.

    `seed_tasks` stand in for harvest and mine; a `dry_run` opens no branch and writes no state;
    `clock` is the only source of time.
    Raises: BlockedError, BudgetError, ConflictError, WaitingError, TaskError, UserError.
    """
    if clock is not None:
        parts = replace(parts, runtime=replace(parts.runtime, clock=clock))
    if dry_run:
        return _cycle(config, parts, seed_tasks, dry_run=True)
    private = parts.store.repository.private
    with locks.held(private, LOCK, clock=parts.runtime.clock, command=COMMAND):
        return _cycle(config, parts, seed_tasks, dry_run=False)


def _cycle(
    config: Config, parts: Parts, seed_tasks: Sequence[Task] | None, *, dry_run: bool
) -> CycleOutcome:
    state = parse_state(read_sleep(parts.store.repository, parts.store.refs))
    begun = None if dry_run else _begun(config, parts, state, seed_tasks)
    if begun is not None:
        return run_night(config, parts, state, begun)
    seen = inputs(config, parts, state, seed_tasks)
    reason = nothing_to_do(seen, "")
    if reason:
        return _quiet(parts, state, seen, reason, identity="", dry_run=dry_run)
    context = night_context(config, parts, seen.tasks)
    identity = _identity(config, parts, context, seen.base)
    key = everything_seen(identity, seen.tasks)
    reason = nothing_to_do(seen, key)
    if reason:
        return _quiet(parts, state, seen, reason, identity=key, dry_run=dry_run)
    started = parts.runtime.clock.now()
    head = _head(parts, state, context, seen, identity, started)
    plan = NightPlan.model_validate(
        {
            "head": head,
            "started": started,
            "project": parts.project,
            "identity": identity,
            "tasks": seen.tasks,
            "n_sessions": seen.n_sessions,
            "until": seen.until,
            "archive": seen.archive,
            "memory": seen.memory,
            "slow_memory": state.slow_memory,
            "unverified": seen.unverified,
            "needed": seen.needed,
            "said": seen.said,
            **seen.prompts(),
        }
    )
    if dry_run:
        return rehearse(config, parts, plan)
    parts.plans.write(plan)
    return run_night(config, parts, state, plan)


# ── beginning ────────────────────────────────────────────────────────────────────────────────


def _begun(
    config: Config, parts: Parts, state: SleepState, seed_tasks: Sequence[Task] | None
) -> NightPlan | None:
    """The plan of a night that was begun, has not ended, and still is the same night."""
    done = {night.run_id for night in state.history}
    skill = parts.store.committed_skill(config.repo.onto).name
    for name in parts.plans.names():
        plan = parts.plans.read(name)
        gone = plan is not None and parts.store.repository.git.get(plan.head.base) is None
        if plan is None or gone or plan.head.run_id in done:
            parts.plans.remove(name)
            continue
        if plan.head.skill != skill:
            continue
        seeds = tuple(seed_tasks) if seed_tasks is not None else None
        context = night_context(config, parts, plan.tasks)
        same = _identity(config, parts, context, plan.head.base) == plan.identity
        if same and (seeds is None or plan.tasks[: len(seeds)] == seeds):
            return plan
        parts.plans.remove(name)
    return None


def _identity(config: Config, parts: Parts, context: TrainingContext, base: str) -> Identity:
    """Everything that a night's outcome depends on, beside what is said of earlier nights."""
    sleep = config.sleep
    start = parts.store.object_id(parts.store.skill_at(base))
    own = run_identity(
        context.config,
        target=dict(context.evaluator.environment.fingerprint),
        start_object=start,
        task_set_id=context.tasks.task_set_id,
    )
    keys = ("optimizer", "dream_rollouts", "dream_factor", "recall_k")
    return {**own, "sleep": {key: sleep.model_dump(mode="json")[key] for key in keys}}


def _head(
    parts: Parts,
    state: SleepState,
    context: TrainingContext,
    seen: NightInputs,
    identity: Identity,
    started: datetime,
) -> RunHead:
    """The head of tonight's run, on the base that was chosen."""
    return parts.store.new_run(
        _next_name(parts, state),
        skill=parts.store.skill_at(seen.base).name,
        onto=context.config.repo.onto,
        target=fingerprint(dict(context.evaluator.environment.fingerprint)),
        run_fingerprint=identity_fingerprint(identity),
        metric=context.config.gate.metric,
        started=started,
        base=seen.base,
    )


def _next_name(parts: Parts, state: SleepState) -> RunName:
    """A night's name that no branch, note, journal row or state has ever had."""
    used = [parse_run(head.name) for head in parts.journal.runs()]
    if state.state.night:
        used.append(RunName(kind=NIGHT, number=state.state.night))
    return parts.store.next_name(NIGHT, used)


# ── a night that has nothing to do ────────────────────────────────────────────────────────────


def _quiet(
    parts: Parts, state: SleepState, seen: NightInputs, reason: str, *, identity: str, dry_run: bool
) -> CycleOutcome:
    """A night that has nothing to do: its number, and a line in the history, the first time."""
    now = parts.runtime.clock.now()
    skill = parts.store.skill_at(seen.base).name
    again = _same_as_last(state, skill, seen, reason, identity)
    number = again.night if again else _next_name(parts, state).number
    unverified = seen.tasks and seen.needed and not identity
    action = Action.REJECT_UNVERIFIED if unverified else Action.SKIP
    report = SleepReport(
        night=number,
        project=parts.project,
        started_at=now,
        ended_at=now,
        n_sessions=seen.n_sessions,
        n_tasks=len(seen.tasks),
        gate_action=action,
        notes=(reason,),
    )
    if dry_run or again is not None:
        return CycleOutcome(report=report)
    record = NightRecord(
        night=number,
        run_id=fingerprint([number, parts.project, now.isoformat()], digits=12),
        skill=skill,
        time=now,
        action=action,
        quiet=True,
        reason=reason,
        n_sessions=seen.n_sessions,
        n_tasks=len(seen.tasks),
        identity=identity,
    )
    files = files_after(
        state, record, project=parts.project, until=seen.until, slow_memory=state.slow_memory,
        tasks=seen.archive,
    )  # fmt: skip
    write_sleep(
        parts.store.repository, parts.store.refs, state.source, files,
        message=record.run, time=now,
    )  # fmt: skip
    return CycleOutcome(report=report)


def _same_as_last(
    state: SleepState, skill: str, seen: NightInputs, reason: str, identity: str
) -> NightRecord | None:
    """The last night, if it was as quiet as this one, for the same reason, with nothing new since."""
    nights = state.of_skill(skill)
    last = nights[-1] if nights else None
    if last is None or not last.quiet or seen.n_sessions:
        return None
    same = (last.reason, last.identity) == (reason, identity)
    return last if same and seen.archive == state.tasks else None
