"""THE NIGHT: a run of two steps, the skill's and then the memory file's, and its end.

A generator of what has been committed, as a training is; to go on is to iterate again. A step
proposes bullets for one document's learned region, and changes no byte outside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from skillgit.errors import BlockedError
from skillgit.evaluation.evaluate import Evaluation
from skillgit.evaluation.rollout import attempt_all
from skillgit.gate import TIE, beats
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
from skillgit.training.run_ends import baseline
from skillgit.training.state import Recorded, TrainingState, Transition, load_state
from skillgit.training.step_record import result_fields, rolled_out, step_moment
from skillgit.training.validate import GateDecision, ValidationResult, judge


def night(setup: Night) -> Iterator[Recorded]:
    """Yield one record for each commit of the night, from where its branch stands to its end.

    Raises: BlockedError, BudgetError, ConflictError, WaitingError; what was yielded is committed.
    """
    standing = load_state(setup)
    if standing is None:
        moment = baseline(replace(setup, force=True))
        yield _commit(setup, moment)
        standing = moment.standing
    while not standing.ended:
        if standing.step < MEMORY_STEP:
            moment = night_step(setup, standing)
        else:
            moment = night_end(setup, standing)
        yield _commit(setup, moment)
        standing = moment.standing
    setup.store.finish(setup.run)


def _commit(setup: Night, moment: Transition) -> Recorded:
    setup.evaluator.progress.begin("commit")
    return Recorded(entry=moment.entry, commit=setup.store.record(moment.entry))


def night_step(setup: Night, standing: TrainingState) -> Transition:
    """One step: the train tasks under current, bullets for one document, and the gate."""
    step = standing.step + 1
    progress = setup.evaluator.progress
    progress.step, progress.total_steps = step, setup.total_steps
    account = setup.account(step)
    optimizer = setup.optimizer(account)
    path = setup.document(step)
    graded: Sequence[GradedRollout] = ()
    tried = Tried(standing.current)
    reason = _why_skipped(setup, standing, path)
    if path is not None and not reason:
        graded = _attempts(setup, standing, step, account)
        reason = "no train task fails" if all(g.grade.passed for g in graded) else ""
        if not reason:
            tried = try_edits(setup, standing, path, graded, optimizer, step)

    validation = None
    if tried.candidate != standing.current and not tried.known:
        validation = _judged(setup, standing, tried.candidate, step, account)
        standing = validation.standing
    verdict = validation.judged if validation else _untried(standing, tried, reason)
    candidate = tried.candidate if validation else standing.current
    note = _note(setup, standing, step, graded, tried, verdict, validation, account, optimizer)
    moment = step_moment(setup, standing, note, candidate, validation, account)
    return _in_public(setup, standing, note, moment)


# ── rollouts ─────────────────────────────────────────────────────────────────────────────────


def _why_skipped(setup: Night, standing: TrainingState, path: str | None) -> str:
    score = standing.state.current.score
    if path is None:
        return "there is no memory file beside the skill"
    if not setup.tasks.train:
        return "there is no task to learn from"
    if score is not None and not setup.plan.unverified and score >= 1.0 - TIE:
        return "every val task passes already"
    return ""


def _attempts(
    setup: Night, standing: TrainingState, step: int, account: Account
) -> tuple[GradedRollout, ...]:
    """The train tasks under current, each as often as dreams ask for.

    The memory's step meets the attempts of the skill's step again if that changed nothing: they
    are in the journal under it.
    """
    if step == MEMORY_STEP and standing.state.current.step == 0:
        account = setup.account(SKILL_STEP)
    repeats = setup.config.sleep.dream_rollouts
    attempts = [(task, f"n{k}") for task in setup.tasks.train for k in range(repeats)]
    setup.evaluator.progress.begin("rollout", len(attempts))
    graded = attempt_all(setup.evaluator, attempts, standing.current, account, purpose="rollout")
    if all(g.grade.score is None for g in graded):
        first = graded[0]
        raise BlockedError(
            f"none of {len(graded)} rollouts could be scored; "
            f"the first: {first.task.id}: {first.grade.reason}",
            hint="Put right what the reason says and run the same command again.",
        )
    return graded


# ── the verdict ──────────────────────────────────────────────────────────────────────────────


def _judged(
    setup: Night, standing: TrainingState, candidate: Skill, step: int, account: Account
) -> ValidationResult:
    """The gate's verdict; what it has too little to go by for is kept for a person to read."""
    if setup.plan.unverified and setup.config.gate.enabled:
        unmeasured = Measurements(object_id=setup.store.object_id(candidate), scores={})
        judged = GateDecision(
            action=Action.REJECT_UNVERIFIED,
            score=None,
            reason=setup.plan.unverified,
            needed=setup.plan.needed,
        )
        evaluation = Evaluation(measurements=unmeasured, rounds=())
        return ValidationResult(judged, evaluation, standing, ())
    validation = judge(setup, standing, candidate, setup.position(step), account)
    judged, before = validation.judged, validation.standing.state.current.score
    is_better = judged.score is not None and (before is None or beats(judged.score, before))
    if judged.action is Action.REJECT and judged.needed is not None and is_better:
        unverified = judged.model_copy(update={"action": Action.REJECT_UNVERIFIED})
        return replace(validation, judged=unverified)
    return validation


def _untried(standing: TrainingState, tried: Tried, reason: str) -> GateDecision:
    score = standing.state.current.score
    if reason:
        return GateDecision(action=Action.SKIP, score=score, reason=reason)
    if not tried.outcomes:
        return GateDecision(action=Action.SKIP, score=score, reason="no edit was proposed")
    told = "this set was rejected on this very text" if tried.known else "no edit changed the text"
    return GateDecision(action=Action.NOOP, score=score, reason=told)


# ── the record ───────────────────────────────────────────────────────────────────────────────


def _note(
    setup: Night,
    standing: TrainingState,
    step: int,
    graded: Sequence[GradedRollout],
    tried: Tried,
    judged: GateDecision,
    validation: ValidationResult | None,
    account: Account,
    optimizer: Optimizer,
) -> StepNote:
    rate = scheduled_learning_rate(setup.config.lr, step, setup.total_steps, len(tried.outcomes))
    return StepNote(
        run=setup.run.run_id,
        step=step,
        action=judged.action,
        **rolled_out(graded),
        failure_patterns=failure_patterns(tried.raw_patches, graded),
        raw_patches=tried.raw_patches,
        merge_fallback=tried.merge_fallback,
        learning_rate=rate,
        edits=tried.outcomes,
        ranking=tried.selection.reasoning if tried.selection else "",
        ranking_fallback=tried.selection is not None and tried.selection.fallback,
        **result_fields(standing, judged, validation),
        costs=account.costs,
        prompts=optimizer.prompt_ids,
    )


def _in_public(
    setup: Night, standing: TrainingState, note: StepNote, moment: Transition
) -> Transition:
    """The moment with a commit message in which nothing of a session stands."""
    known = "\n".join(d.data.decode("utf-8", "replace") for d in standing.current.documents)
    applied = [
        o.model_copy(update={"edit": public_edit(o.edit, setup.plan.said, known)})
        for o in note.edits
        if o.outcome.changed_text
    ]
    summary = moment.entry.summary
    if note.action is Action.REJECT_UNVERIFIED:
        summary = f"unverified: {_more(note.tasks_needed)}"
    elif note.action in (Action.SKIP, Action.NOOP):
        summary = note.gate_reason
    update = {"body": edit_lines(applied), "summary": summary}
    return replace(moment, entry=moment.entry.model_copy(update=update))


def _more(needed: int | None) -> str:
    if needed is None:
        return "val is not held out"
    return f"{needed} more val task{'' if needed == 1 else 's'} needed"
