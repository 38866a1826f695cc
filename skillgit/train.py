"""THE LOOP: train a skill as a network is trained, one commit a step.

`train()` is a generator of what has been committed; to stop iterating is to stop the training,
and to start it again goes on from the branch. Nothing a step decides depends on anything but
the branch, its notes, the tasks and the seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from skillgit.evaluation.rollout import refuse_if_nothing_came_back, roll_out
from skillgit.gate import is_perfect
from skillgit.gate.guards import guard
from skillgit.history import StepNote
from skillgit.records import (
    Action,
    Edit,
)
from skillgit.stages.reflect import failure_patterns
from skillgit.stages.schedule import ends_epoch, epoch_of
from skillgit.stages.step_buffer import format_step_buffer
from skillgit.training.candidate import Proposal, StepInputs, propose
from skillgit.training.epoch_end import epoch_end
from skillgit.training.run_ends import baseline, run_end
from skillgit.training.state import Recorded, Training, TrainingState, Transition, load_state
from skillgit.training.step_record import result_fields, rolled_out, step_moment
from skillgit.training.validate import GateDecision, judge


def train(setup: Training) -> Iterator[Recorded]:
    """Yield one record for each commit of the run, from where its branch stands to its end.

    Raises: BlockedError, BudgetError, ConflictError; what was yielded before is committed.
    """
    standing = load_state(setup)
    if standing is None:
        moment = baseline(setup)
        yield _commit(setup, moment)
        standing = moment.standing

    while not standing.ended:
        if ends_epoch(standing.step, setup.steps_per_epoch) and not standing.epoch_closed:
            moment = epoch_end(setup, standing)
        elif standing.step < setup.total_steps and can_rise(setup, standing):
            moment = run_step(setup, standing)
        else:
            moment = run_end(setup, standing)
        yield _commit(setup, moment)
        standing = moment.standing
    setup.store.finish(setup.run)


def can_rise(setup: Training, standing: TrainingState) -> bool:
    """Whether any candidate could still pass the gate.

    None can above a perfect score, unless current is measured again and may turn out lower.
    """
    config, score = setup.config, standing.state.current.score
    if setup.force or not config.gate.enabled or not config.train.stop_when_perfect:
        return True
    may_fall = config.gate.refresh_every > 0 and config.target.samples
    return score is None or not is_perfect(score) or may_fall


def _commit(setup: Training, moment: Transition) -> Recorded:
    setup.evaluator.progress.begin("commit")
    return Recorded(entry=moment.entry, commit=setup.store.record(moment.entry))


def run_step(setup: Training, standing: TrainingState) -> Transition:
    """One step: rollout, reflect, aggregate, learning rate, select, update, evaluate, gate."""
    config, step = setup.config, standing.step + 1
    progress = setup.evaluator.progress
    progress.step, progress.total_steps = step, setup.total_steps
    account = setup.account(step)
    optimizer = setup.optimizer(account)

    # Rollout: the forward pass over this step's batches of train tasks.
    repeat = f"e{epoch_of(step, setup.steps_per_epoch)}"
    batches = [
        roll_out(
            setup.evaluator, batch, standing.current, account, purpose="rollout", repeat=repeat
        )
        for batch in setup.batches_of(step)
    ]
    graded = [*chain.from_iterable(batches)]
    refuse_if_nothing_came_back(graded)

    # Reflect, aggregate, learning rate, select, update: the backward pass, up to a candidate.
    proposal = propose(
        StepInputs(
            config=config,
            skill=standing.current,
            step=step,
            total_steps=setup.total_steps,
            step_buffer=format_step_buffer(standing.epoch_notes),
            meta_skill=standing.meta_skill,
            rejected=_rejected_alone(setup, standing, step),
            optimizer=optimizer,
            progress=progress,
        ),
        batches,
    )
    candidate = proposal.candidate

    # Evaluate on val and ask the gate, unless there is nothing new to evaluate.
    validation = None
    if proposal.edited != standing.current:
        validation = judge(setup, standing, candidate, setup.position(step), account)
        standing = validation.standing
    judged = validation.judged if validation else _unjudged(setup, standing, proposal)
    if not (judged.action.accepted or judged.action.rejected):
        candidate = standing.current

    # Record: the note holds everything the next step, a resume or a reader needs.
    note = StepNote(
        run=setup.run.run_id,
        step=step,
        action=judged.action,
        **rolled_out(graded),
        failure_patterns=failure_patterns(proposal.raw_patches, graded),
        raw_patches=proposal.raw_patches,
        merge_fallback=proposal.merge_fallback,
        update_mode=config.train.update_mode.value,
        update_failures=proposal.failures,
        appendix=proposal.appendix,
        learning_rate=proposal.learning_rate,
        edits=proposal.outcomes,
        ranking=proposal.ranking,
        ranking_fallback=proposal.ranking_fallback,
        **result_fields(standing, judged, validation),
        costs=account.costs,
        prompts=optimizer.prompt_ids,
    )
    return step_moment(setup, standing, note, candidate, validation, account)


# ── the parts of a step ──────────────────────────────────────────────────────────────────────


def _rejected_alone(setup: Training, standing: TrainingState, step: int) -> list[Edit]:
    """The edits that were rejected alone on the text that training stands at."""
    lines = setup.store.rejections(
        standing.current_scores.object_id, setup.run.target, before=setup.position(step)
    )
    return [line.edits[0] for line in lines if len(line.edits) == 1]


def _unjudged(setup: Training, standing: TrainingState, proposal: Proposal) -> GateDecision:
    """The verdict where no edit changed the text; notes on lapses are kept all the same."""
    if proposal.candidate != standing.current:
        found = guard(proposal.candidate, standing.current, setup.tasks.tasks, setup.config)
        if not found.refusals:
            reason = "notes on lapses are kept without a gate, and measured before the next"
            return GateDecision(
                action=Action.FORCE_ACCEPT, score=None, reason=reason, warnings=found.warnings
            )
    score = standing.state.current.score
    if proposal.outcomes:
        return GateDecision(action=Action.NOOP, score=score, reason="no edit changed the text")
    return GateDecision(action=Action.SKIP, score=score, reason="no edit was proposed")
