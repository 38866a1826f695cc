"""THE NIGHT: a run of two steps, the skill's and then the memory file's, and its end.

A generator of what has been committed, as a training is; to go on is to iterate again. A step
proposes bullets for one document's learned region, and changes no byte outside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from skillgit.evaluation.evaluate import Evaluation
from skillgit.evaluation.rollout import attempt_all, refuse_if_nothing_came_back
from skillgit.gate import beats, is_perfect
from skillgit.history import StepNote
from skillgit.history.messages import edit_lines
from skillgit.ports import Account
from skillgit.prompting.prompts import Optimizer
from skillgit.records import (
    Action,
    GradedRollout,
    Measurements,
    Skill,
)
from skillgit.sleep.memory.privacy import public_edit
from skillgit.sleep.night.candidate import Tried, try_edits
from skillgit.sleep.night.night_end import night_end
from skillgit.sleep.night.plan import MEMORY_STEP, SKILL_STEP, Night
from skillgit.stages.learning_rate import scheduled_learning_rate
from skillgit.stages.reasons import failure_patterns
from skillgit.train import run_to_end
from skillgit.training.state import Recorded, TrainingState, Transition
from skillgit.training.step_record import result_fields, rolled_out, step_transition
from skillgit.training.validate import GateDecision, ValidationResult, validate


def night(setup: Night) -> Iterator[Recorded]:
    """Yield one record for each commit of the night, from where its branch stands to its end.

    Raises: BlockedError, BudgetError, ConflictError, WaitingError; what was yielded is committed.
    """

    def next_transition(state: TrainingState) -> Transition:
        if state.step < MEMORY_STEP:
            return night_step(setup, state)
        return night_end(setup, state)

    yield from run_to_end(setup, next_transition)


def night_step(setup: Night, state: TrainingState) -> Transition:
    """One step: the train tasks under current, bullets for one document, and the gate."""
    step = state.step + 1
    progress = setup.evaluator.progress
    progress.step, progress.total_steps = step, setup.total_steps
    account = setup.account(step)
    optimizer = setup.optimizer(account)
    path = setup.document(step)
    graded: Sequence[GradedRollout] = ()
    tried = Tried(state.current.skill)
    reason = _why_skipped(setup, state, path)
    if path is not None and not reason:
        graded = _attempts(setup, state, step, account)
        reason = "no train task fails" if all(g.grade.passed for g in graded) else ""
        if not reason:
            tried = try_edits(setup, state, path, graded, optimizer, step)

    validation = None
    if tried.candidate != state.current.skill and not tried.known:
        validation = _validated(setup, state, tried.candidate, step, account)
        state = validation.state
    verdict = validation.decision if validation else _untried(state, tried, reason)
    candidate = tried.candidate if validation else state.current.skill
    note = _note(setup, state, step, graded, tried, verdict, validation, account, optimizer)
    transition = step_transition(setup, state, note, candidate, validation, account)
    return _in_public(setup, state, note, transition)


# ── rollouts ─────────────────────────────────────────────────────────────────────────────────


def _why_skipped(setup: Night, state: TrainingState, path: str | None) -> str:
    score = state.current.score
    if path is None:
        return "there is no memory file beside the skill"
    if not setup.tasks.train:
        return "there is no task to learn from"
    if score is not None and not setup.plan.unverified and is_perfect(score):
        return "every val task passes already"
    return ""


def _attempts(
    setup: Night, state: TrainingState, step: int, account: Account
) -> tuple[GradedRollout, ...]:
    """The train tasks under current, each as often as dreams ask for.

    The memory's step meets the attempts of the skill's step again if that changed nothing: they
    are in the journal under it.
    """
    if step == MEMORY_STEP and state.current.step == 0:
        account = setup.account(SKILL_STEP)
    repeats = setup.config.sleep.dream_rollouts
    attempts = [(task, f"n{k}") for task in setup.tasks.train for k in range(repeats)]
    setup.evaluator.progress.begin("rollout", len(attempts))
    graded = attempt_all(setup.evaluator, attempts, state.current.skill, account, purpose="rollout")
    refuse_if_nothing_came_back(graded)
    return graded


# ── the verdict ──────────────────────────────────────────────────────────────────────────────


def _validated(
    setup: Night, state: TrainingState, candidate: Skill, step: int, account: Account
) -> ValidationResult:
    """The gate's verdict; what it has too little to go by for is kept for a person to read."""
    if setup.plan.unverified and setup.config.gate.enabled:
        unmeasured = Measurements(object_id=setup.store.object_id(candidate), scores={})
        decision = GateDecision(
            action=Action.REJECT_UNVERIFIED,
            score=None,
            reason=setup.plan.unverified,
            needed=setup.plan.needed,
        )
        evaluation = Evaluation(measurements=unmeasured, rounds=())
        return ValidationResult(decision, evaluation, state, ())
    validation = validate(setup, state, candidate, setup.position(step), account)
    decision, before = validation.decision, validation.state.current.score
    is_better = decision.score is not None and (before is None or beats(decision.score, before))
    if decision.action is Action.REJECT and decision.needed is not None and is_better:
        unverified = decision.model_copy(update={"action": Action.REJECT_UNVERIFIED})
        return replace(validation, decision=unverified)
    return validation


def _untried(state: TrainingState, tried: Tried, reason: str) -> GateDecision:
    score = state.current.score
    if reason:
        return GateDecision(action=Action.SKIP, score=score, reason=reason)
    if not tried.outcomes:
        return GateDecision(action=Action.SKIP, score=score, reason="no edit was proposed")
    told = "this set was rejected on this very text" if tried.known else "no edit changed the text"
    return GateDecision(action=Action.NOOP, score=score, reason=told)


# ── the record ───────────────────────────────────────────────────────────────────────────────


def _note(
    setup: Night,
    state: TrainingState,
    step: int,
    graded: Sequence[GradedRollout],
    tried: Tried,
    decision: GateDecision,
    validation: ValidationResult | None,
    account: Account,
    optimizer: Optimizer,
) -> StepNote:
    rate = scheduled_learning_rate(setup.config.lr, step, setup.total_steps, len(tried.outcomes))
    return StepNote(
        run=setup.run_head.run_id,
        step=step,
        action=decision.action,
        **rolled_out(graded),
        failure_patterns=failure_patterns(tried.raw_patches, graded),
        raw_patches=tried.raw_patches,
        merge_fallback=tried.merge_fallback,
        learning_rate=rate,
        edits=tried.outcomes,
        ranking=tried.selection.reasoning if tried.selection else "",
        ranking_fallback=tried.selection is not None and tried.selection.fallback,
        **result_fields(state, decision, validation),
        costs=account.costs,
        prompts=optimizer.prompt_ids,
    )


def _in_public(
    setup: Night, state: TrainingState, note: StepNote, transition: Transition
) -> Transition:
    """The transition with a commit message in which nothing of a session stands."""
    known = state.current.skill.text
    applied = [
        o.model_copy(update={"edit": public_edit(o.edit, setup.plan.said, known)})
        for o in note.edits
        if o.outcome.changed_text
    ]
    summary = transition.entry.summary
    if note.action is Action.REJECT_UNVERIFIED:
        summary = f"unverified: {_more(note.tasks_needed)}"
    elif note.action in (Action.SKIP, Action.NOOP):
        summary = note.gate_reason
    update = {"body": edit_lines(applied), "summary": summary}
    return replace(transition, entry=transition.entry.model_copy(update=update))


def _more(needed: int | None) -> str:
    if needed is None:
        return "val is not held out"
    return f"{needed} more val task{'' if needed == 1 else 's'} needed"
