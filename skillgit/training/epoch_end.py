"""An epoch's end: the look back over it, with what is written into the skill and remembered.

One commit, on which the comparison, the slow update and the meta skill hang.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from skillgit.evaluation.rollout import refuse_if_nothing_came_back, roll_out
from skillgit.gate.guards import guard
from skillgit.history import CandidateScore, Entry, NoteLine, Phase
from skillgit.history.notes import ComparisonNote, MetaSkillNote, Renewal, SlowUpdateNote
from skillgit.ports import Account
from skillgit.prompting.prompts import Optimizer
from skillgit.records import Action, GradedRollout, Measurements, Skill
from skillgit.records.canonical import slot_seed
from skillgit.stages.comparison import (
    ComparisonPair,
    build_comparison_pairs,
    pair_scores,
    pairs_by_policy,
    sample_tasks,
)
from skillgit.stages.meta_skill import run_meta_skill
from skillgit.stages.slow_update import run_slow_update
from skillgit.stages.step_buffer import format_step_buffer
from skillgit.training.state import Origin, Training, TrainingState, Transition, Version
from skillgit.training.validate import is_new_best, validate

BEFORE, AFTER = "compare_before", "compare_after"


@dataclass(frozen=True)
class _Epoch:
    """What the end of one epoch works with. `start` is the skill at the end of the one before."""

    setup: Training
    state: TrainingState
    start: Skill
    account: Account
    optimizer: Optimizer

    @property
    def number(self) -> int:
        return self.state.recorded.epoch


@dataclass(frozen=True)
class _Outcome:
    """What one part of an epoch's end leaves: its note, ledger lines, and the state after it."""

    note: NoteLine
    state: TrainingState
    object_lines: tuple[tuple[str, NoteLine], ...] = ()


def epoch_end(setup: Training, state: TrainingState) -> Transition:
    """An epoch's end. From the second on it is compared with the one before.

    Raises: BlockedError when nothing of the comparison comes back; BudgetError.
    """
    config = setup.config
    looks_back = config.looks_back.slow_update or config.looks_back.meta_skill
    if state.epoch_start is None or not looks_back:
        return _transition(setup, state, state, [], [], None)
    account = setup.account(state.step)
    epoch = _Epoch(setup, state, state.epoch_start, account, setup.optimizer(account))
    lines: list[NoteLine] = []
    pairs: tuple[ComparisonPair, ...] = ()
    nothing = Renewal.SAME_SKILL
    if epoch.start != state.current.skill:
        comparison, pairs = _compare(epoch)
        lines.append(comparison)
        nothing = Renewal.NO_PAIRS
    outcomes: list[_Outcome] = []
    if config.looks_back.slow_update:
        outcomes.append(_update_slowly(epoch, pairs, nothing))
    if config.looks_back.meta_skill:
        outcomes.append(_remember(epoch, pairs, nothing, outcomes))
    lines += [outcome.note for outcome in outcomes]
    after = outcomes[-1].state
    object_lines = [line for outcome in outcomes for line in outcome.object_lines]
    return _transition(setup, state, after, lines, object_lines, account)


def _transition(
    setup: Training,
    before: TrainingState,
    after: TrainingState,
    lines: Sequence[NoteLine],
    object_lines: Sequence[tuple[str, NoteLine]],
    account: Account | None,
) -> Transition:
    after = after.after_spending(account.costs.tokens if account else 0)
    guidance = next((line for line in lines if isinstance(line, SlowUpdateNote)), None)
    entry = Entry(
        run=setup.run_head,
        step=before.step,
        phase=Phase.EPOCH,
        action=Action.EPOCH,
        score=CandidateScore(score=after.current.score),
        state=after.run_state,
        candidate=after.current.skill if after.current.skill != before.current.skill else None,
        lines=tuple(lines),
        object_lines=tuple(object_lines),
        finished_at=account.finished_at if account else None,
        summary=_summary(guidance),
    )
    closed = replace(after, epoch_start=after.current.skill, epoch_notes=(), epoch_closed=True)
    return Transition(entry, closed)


def _summary(guidance: SlowUpdateNote | None) -> str:
    if guidance is None:
        return ""
    if guidance.outcome is Renewal.UPDATED:
        score = guidance.score_after
        return "new guidance" + ("" if score is None else f", {score:.4f}")
    return "guidance rejected" if guidance.outcome is Renewal.REJECTED else ""


# ── the comparison ───────────────────────────────────────────────────────────────────────────


def _compare(epoch: _Epoch) -> tuple[ComparisonNote, tuple[ComparisonPair, ...]]:
    """The same train tasks with the skills of two epochs' ends; both sides meet the same luck."""
    setup, config = epoch.setup, epoch.setup.config
    tasks = sample_tasks(
        setup.tasks.train,
        config.slow_update.samples,
        slot_seed(config.train.seed, "comparison"),
    )

    def attempts(skill: Skill, purpose: str) -> tuple[GradedRollout, ...]:
        return roll_out(
            setup.evaluator, tasks, skill, epoch.account, purpose=purpose, repeat=f"c{epoch.number}"
        )

    before = attempts(epoch.start, BEFORE)
    after = attempts(epoch.state.current.skill, AFTER)
    refuse_if_nothing_came_back([*before, *after])
    pairs = build_comparison_pairs(before, after)
    paired = {pair.task_id for pair in pairs}
    note = ComparisonNote(
        run=setup.run_head.run_id,
        epoch=epoch.number,
        before=setup.store.object_id(epoch.start),
        after=setup.store.object_id(epoch.state.current.skill),
        pairs=pair_scores(pairs),
        left_out=tuple(task.id for task in tasks if task.id not in paired),
        costs=epoch.account.costs,
    )
    return note, pairs_by_policy(pairs, config.slow_update.pair_policy)


# ── the slow update ──────────────────────────────────────────────────────────────────────────


def _update_slowly(epoch: _Epoch, pairs: Sequence[ComparisonPair], nothing: Renewal) -> _Outcome:
    setup, state = epoch.setup, epoch.state
    note = SlowUpdateNote(run=setup.run_head.run_id, epoch=epoch.number, outcome=nothing)
    if not pairs:
        return _Outcome(note, state)
    epoch.setup.evaluator.progress.begin("slow update")
    found = run_slow_update(
        pairs,
        epoch.start,
        state.current.skill,
        epoch.optimizer,
        max_chars=setup.config.slow_update.max_chars,
    )
    note = note.model_copy(
        update={
            "outcome": Renewal.NO_CONTENT if found.skill is None else Renewal.UPDATED,
            "guidance": found.guidance,
            "reflection": found.reflection,
            "reasoning": found.reasoning,
            "failure": found.failure,
            "prompts": dict(epoch.optimizer.prompt_ids),
        }
    )
    if found.skill is None or found.skill == state.current.skill:
        return _Outcome(note, state)
    if setup.config.slow_update.gate:
        return _validated(epoch, note, found.skill)
    objections = guard(found.skill, state.current.skill, setup.tasks.tasks, setup.config)
    note = note.model_copy(update={"warnings": objections.warnings})
    if objections.refusals:
        refused = {"outcome": Renewal.REJECTED, "gate_reason": "; ".join(objections.refusals)}
        return _Outcome(note.model_copy(update=refused), state)
    return _Outcome(note, _unmeasured(epoch, found.skill))


def _unmeasured(epoch: _Epoch, skill: Skill) -> TrainingState:
    """Training goes on from the guidance; it is measured before anything is compared with it."""
    measurements = epoch.setup.unmeasured(skill)
    return replace(epoch.state, current=_version(epoch, skill, None, measurements))


def _validated(epoch: _Epoch, note: SlowUpdateNote, skill: Skill) -> _Outcome:
    """The gate's decision on the guidance, as on a step's candidate."""
    setup = epoch.setup
    position = setup.position(epoch.state.step, Phase.EPOCH)
    validation = validate(setup, epoch.state, skill, position, epoch.account)
    before, decision = validation.state, validation.decision
    note = note.model_copy(
        update={
            "outcome": Renewal.UPDATED if decision.action.accepted else Renewal.REJECTED,
            "gate_reason": decision.reason,
            "warnings": decision.warnings,
            "score_before": before.current.score,
            "score_after": decision.score,
            "score_after_is_bound": decision.is_bound,
        }
    )
    if not decision.action.accepted:
        return _Outcome(note, before, validation.object_lines)
    version = _version(epoch, skill, decision.score, validation.evaluation.measurements)
    is_best = is_new_best(decision.action, decision.score, before.best.score)
    after = replace(before, current=version, best=version if is_best else before.best)
    return _Outcome(note, after, validation.object_lines)


def _version(
    epoch: _Epoch, skill: Skill, score: float | None, measurements: Measurements
) -> Version:
    return Version(
        skill=skill,
        origin=Origin.of_epoch(epoch.number),
        step=epoch.state.step,
        score=score,
        measurements=measurements,
    )


# ── the meta skill ───────────────────────────────────────────────────────────────────────────


def _remember(
    epoch: _Epoch,
    pairs: Sequence[ComparisonPair],
    nothing: Renewal,
    earlier: Sequence[_Outcome],
) -> _Outcome:
    setup = epoch.setup
    state = earlier[-1].state if earlier else epoch.state
    previous = epoch.state.meta_skill
    note = MetaSkillNote(
        run=setup.run_head.run_id, epoch=epoch.number, outcome=nothing, text=previous
    )
    if not pairs:
        return _Outcome(note, state)
    setup.evaluator.progress.begin("meta skill")
    found = run_meta_skill(
        pairs,
        epoch.start,
        epoch.state.current.skill,
        previous,
        epoch.optimizer,
        step_buffer=format_step_buffer(epoch.state.epoch_notes),
        max_chars=setup.config.slow_update.max_chars,
    )
    note = note.model_copy(
        update={
            "outcome": Renewal.NO_CONTENT if found.failure else Renewal.UPDATED,
            "text": found.text,
            "reasoning": found.reasoning,
            "failure": found.failure,
            "prompts": dict(epoch.optimizer.prompt_ids),
        }
    )
    return _Outcome(note, replace(state, meta_skill=found.text))
