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
)
from skillgit.stages.reflect import failure_patterns
from skillgit.stages.schedule import ends_epoch, epoch_of
from skillgit.stages.step_buffer import format_step_buffer
from skillgit.training.candidate import Candidate, StepInputs, build_candidate
from skillgit.training.epoch_end import epoch_end
from skillgit.training.run_ends import baseline, run_end
from skillgit.training.state import Recorded, Training, TrainingState, Transition, load_state
from skillgit.training.step_record import result_fields, rolled_out, step_transition
from skillgit.training.validate import GateDecision, validate


def train(setup: Training) -> Iterator[Recorded]:
    """Yield one record for each commit of the run, from where its branch stands to its end.

    Raises: BlockedError, BudgetError, ConflictError; what was yielded before is committed.
    """
    state = load_state(setup)
    if state is None:
        transition = baseline(setup)
        yield _commit(setup, transition)
        state = transition.state

    while not state.ended:
        if ends_epoch(state.step, setup.steps_per_epoch) and not state.epoch_closed:
            transition = epoch_end(setup, state)
        elif state.step < setup.total_steps and can_rise(setup, state):
            transition = run_step(setup, state)
        else:
            transition = run_end(setup, state)
        yield _commit(setup, transition)
        state = transition.state
    setup.store.finish(setup.run)


def can_rise(setup: Training, state: TrainingState) -> bool:
    """Whether any candidate could still pass the gate.

    None can above a perfect score, unless current is measured again and may turn out lower.
    """
    config, score = setup.config, state.current.score
    if setup.force or not config.gate.enabled or not config.train.stop_when_perfect:
        return True
    may_fall = config.gate.refresh_every > 0 and config.target.samples
    return score is None or not is_perfect(score) or may_fall


def _commit(setup: Training, transition: Transition) -> Recorded:
    setup.evaluator.progress.begin("commit")
    return Recorded(entry=transition.entry, commit=setup.store.record(transition.entry))


def run_step(setup: Training, state: TrainingState) -> Transition:
    """One step: rollout, reflect, aggregate, learning rate, select, update, evaluate, gate."""
    config, step = setup.config, state.step + 1
    progress = setup.evaluator.progress
    progress.step, progress.total_steps = step, setup.total_steps
    account = setup.account(step)
    optimizer = setup.optimizer(account)

    # Rollout: the forward pass over this step's batches of train tasks.
    repeat = f"e{epoch_of(step, setup.steps_per_epoch)}"
    batches = [
        roll_out(
            setup.evaluator, batch, state.current.skill, account, purpose="rollout", repeat=repeat
        )
        for batch in setup.batches_of(step)
    ]
    graded = [*chain.from_iterable(batches)]
    refuse_if_nothing_came_back(graded)

    # Reflect, aggregate, learning rate, select, update: the backward pass, up to a candidate.
    proposal = build_candidate(
        StepInputs(
            config=config,
            skill=state.current.skill,
            step=step,
            total_steps=setup.total_steps,
            step_buffer=format_step_buffer(state.epoch_notes),
            meta_skill=state.meta_skill,
            rejected=setup.rejected_alone(state, step),
            optimizer=optimizer,
            progress=progress,
        ),
        batches,
    )
    candidate = proposal.candidate

    # Evaluate on val and ask the gate, unless there is nothing new to evaluate.
    validation = None
    if proposal.edited != state.current.skill:
        validation = validate(setup, state, candidate, setup.position(step), account)
        state = validation.state
    decision = validation.decision if validation else _unjudged(setup, state, proposal)
    if not (decision.action.accepted or decision.action.rejected):
        candidate = state.current.skill

    # Record: the note holds everything the next step, a resume or a reader needs.
    note = StepNote(
        run=setup.run.run_id,
        step=step,
        action=decision.action,
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
        **result_fields(state, decision, validation),
        costs=account.costs,
        prompts=optimizer.prompt_ids,
    )
    return step_transition(setup, state, note, candidate, validation, account)


# ── the parts of a step ──────────────────────────────────────────────────────────────────────


def _unjudged(setup: Training, state: TrainingState, proposal: Candidate) -> GateDecision:
    """The verdict where no edit changed the text; notes on lapses are kept all the same."""
    if proposal.candidate != state.current.skill:
        found = guard(proposal.candidate, state.current.skill, setup.tasks.tasks, setup.config)
        if not found.refusals:
            reason = "notes on lapses are kept without a gate, and measured before the next"
            return GateDecision(
                action=Action.FORCE_ACCEPT, score=None, reason=reason, warnings=found.warnings
            )
    score = state.current.score
    if proposal.outcomes:
        return GateDecision(action=Action.NOOP, score=score, reason="no edit changed the text")
    return GateDecision(action=Action.SKIP, score=score, reason="no edit was proposed")
