"""THE LOOP: train a skill as a network is trained, one commit a step.

`train()` is a generator of what has been committed; to stop iterating is to stop the training,
and to start it again goes on from the branch. Nothing a step decides depends on anything but
the branch, its notes, the tasks and the seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from skillgit.canonical import slot_seed
from skillgit.config import LrMode
from skillgit.epoch_end import epoch_end
from skillgit.errors import BlockedError
from skillgit.gate import mean_score
from skillgit.history import StepNote
from skillgit.judging import Judged, judge
from skillgit.moments import baseline, run_end
from skillgit.recording import step_moment
from skillgit.records import (
    Action,
    Edit,
    EditOutcome,
    GradedRollout,
    Outcome,
    Task,
)
from skillgit.schedule import batches_at, ends_epoch, epoch_of
from skillgit.stages.aggregate import merge_patches
from skillgit.stages.learning_rate import (
    decide_autonomous_learning_rate,
    scheduled_learning_rate,
)
from skillgit.stages.reflect import failure_patterns, run_minibatch_reflect
from skillgit.stages.rollout import roll_out
from skillgit.stages.select import rank_and_select
from skillgit.stages.step_buffer import format_step_buffer
from skillgit.stages.update import target_path, update_within
from skillgit.standing import Moment, Recorded, Standing, Training, read_standing


def train(setup: Training) -> Iterator[Recorded]:
    """Yield one record for each commit of the run, from where its branch stands to its end.

    Raises: BlockedError, BudgetError, ConflictError; what was yielded before is committed.
    """
    standing = read_standing(setup)
    if standing is None:
        moment = baseline(setup)
        yield _commit(setup, moment)
        standing = moment.standing

    while not standing.ended:
        if ends_epoch(standing.step, setup.steps_per_epoch) and not standing.epoch_closed:
            moment = epoch_end(setup, standing)
        elif standing.step < setup.total_steps:
            moment = run_step(setup, standing)
        else:
            moment = run_end(setup, standing)
        yield _commit(setup, moment)
        standing = moment.standing
    setup.store.finish(setup.run)


def _commit(setup: Training, moment: Moment) -> Recorded:
    setup.bench.progress.begin("commit")
    return Recorded(entry=moment.entry, commit=setup.store.record(moment.entry))


def run_step(setup: Training, standing: Standing) -> Moment:
    """One step: rollout, reflect, aggregate, learning rate, select, update, evaluate, gate."""
    config, step = setup.config, standing.step + 1
    progress = setup.bench.progress
    progress.step, progress.total_steps = step, setup.total_steps
    account = setup.account(step)
    optimizer = setup.optimizer(account)

    # Rollout: the forward pass over this step's batch of train tasks.
    epoch = epoch_of(step, setup.steps_per_epoch)
    batch = batch_of(setup, step)
    graded = roll_out(
        setup.bench, batch, standing.current, account, purpose="rollout", repeat=f"e{epoch}"
    )
    _refuse_if_nothing_came_back(graded)

    rolled = mean_score(g.grade.score for g in graded if g.grade.score is not None)

    # Reflect: the backward pass, one optimizer call for each minibatch.
    progress.begin("reflect")
    buffer = format_step_buffer(standing.epoch_notes)
    raw_patches = run_minibatch_reflect(
        graded,
        standing.current,
        optimizer,
        edit_budget=config.lr.max,
        minibatch_size=config.train.minibatch_size,
        failure_only=config.train.failure_only,
        max_chars=config.reflect.max_chars,
        seed=slot_seed(config.train.seed, "reflect", step),
        step_buffer=buffer,
        meta_skill=standing.meta_skill,
        workers=config.train.workers,
    )

    # Aggregate: the patches of all minibatches become one list of edits.
    progress.begin("aggregate")
    merged = merge_patches(
        raw_patches,
        standing.current,
        optimizer,
        merge_batch_size=config.train.merge_batch_size,
        workers=config.train.workers,
        meta_skill=standing.meta_skill,
    )
    known, fresh = _split_known_rejected(setup, standing, merged.edits, step)

    # Learning rate and select: how many edits this step may apply, and which.
    progress.begin("select")
    if config.lr.mode is LrMode.AUTONOMOUS:
        rate = decide_autonomous_learning_rate(
            fresh,
            standing.current,
            optimizer,
            rollout_score=rolled,
            n_rollouts=len(graded),
            step_buffer=buffer,
            meta_skill=standing.meta_skill,
        )
    else:
        rate = scheduled_learning_rate(config.lr, step, setup.total_steps, len(fresh))
    selection = rank_and_select(
        fresh, rate.learning_rate, standing.current, optimizer, meta_skill=standing.meta_skill
    )

    # Update: the edits are tried on the documents, each with its outcome.
    candidate, tried = update_within(
        standing.current, selection.edits, max_tokens=config.skill.max_tokens
    )
    outcomes = (
        *tried,
        *(EditOutcome(edit=e, outcome=Outcome.OVER_BUDGET) for e in selection.over_budget),
        *(EditOutcome(edit=e, outcome=Outcome.KNOWN_REJECTED) for e in known),
    )

    # Evaluate on val and ask the gate, unless there is nothing new to evaluate.
    hearing = None
    if candidate != standing.current:
        hearing = judge(setup, standing, candidate, setup.position(step), account)
        standing = hearing.standing
    judged = hearing.judged if hearing else _untried(standing, outcomes)
    evaluation = hearing.evaluation if hearing else None

    # Record: the note holds everything the next step, a resume or a reader needs.
    note = StepNote(
        run=setup.run.run_id,
        step=step,
        action=judged.action,
        n_total=len(graded),
        n_fail=sum(g.grade.score is not None and not g.grade.passed for g in graded),
        n_unscored=sum(g.grade.score is None for g in graded),
        rollout_hard=rolled.hard if rolled else None,
        rollout_soft=rolled.soft if rolled else None,
        failure_patterns=failure_patterns(raw_patches, graded),
        raw_patches=raw_patches,
        merge_fallback=merged.fallback,
        learning_rate=rate,
        edits=outcomes,
        ranking=selection.reasoning,
        ranking_fallback=selection.fallback,
        score_before=standing.state.current.score,
        score_after=judged.score,
        score_after_is_bound=judged.is_bound,
        gate_reason=judged.reason,
        tasks_needed=judged.needed,
        refresh=hearing.refresh if hearing else None,
        warnings=judged.warnings,
        scores_from_ledger=evaluation.from_ledger if evaluation else 0,
        scores_measured=evaluation.measured if evaluation else 0,
        scores_unscored=evaluation.unscored if evaluation else 0,
        scores_not_sent=len(evaluation.not_sent) if evaluation else 0,
        costs=account.costs,
        prompts=optimizer.prompt_ids,
    )
    return step_moment(setup, standing, note, candidate, hearing, account)


# ── the parts of a step ──────────────────────────────────────────────────────────────────────


def batch_of(setup: Training, step: int) -> list[Task]:
    """The train tasks that a step rolls out, in their order."""
    by_id = {task.id: task for task in setup.tasks.train}
    sizes = setup.config.train
    batches = batches_at(step, list(by_id), batch_size=sizes.batch_size, seed=sizes.seed)
    return [by_id[task_id] for task_id in chain.from_iterable(batches)]


def _refuse_if_nothing_came_back(graded: Sequence[GradedRollout]) -> None:
    if any(g.grade.score is not None for g in graded):
        return
    first = graded[0]
    raise BlockedError(
        f"none of {len(graded)} rollouts could be scored; "
        f"the first: {first.task.id}: {first.grade.reason}",
        hint="Put right what the reason says and run the same command again.",
    )


def _split_known_rejected(
    setup: Training, standing: Standing, edits: Sequence[Edit], step: int
) -> tuple[list[Edit], list[Edit]]:
    """The edits that were rejected alone on this very text, and all others."""
    lines = setup.store.rejections(
        standing.current_scores.object_id, setup.run.target, before=setup.position(step)
    )

    def content(edit: Edit) -> tuple[str | None, ...]:
        return (edit.op, target_path(standing.current, edit), edit.anchor, edit.content)

    alone = {content(line.edits[0]) for line in lines if len(line.edits) == 1}
    known = [edit for edit in edits if content(edit) in alone]
    return known, [edit for edit in edits if content(edit) not in alone]


def _untried(standing: Standing, outcomes: Sequence[EditOutcome]) -> Judged:
    action = Action.NOOP if outcomes else Action.SKIP
    reason = "no edit changed the text" if outcomes else "no edit was proposed"
    return Judged(action=action, score=standing.state.current.score, reason=reason)
