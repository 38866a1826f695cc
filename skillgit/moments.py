"""The moments of a run that are no steps: its baseline, each epoch's end, and its own end."""

from __future__ import annotations

from dataclasses import replace

from skillgit.errors import UserError
from skillgit.history import (
    CandidateScore,
    ConfigNote,
    Entry,
    Mark,
    NoteLine,
    Phase,
    RunState,
    TestNote,
)
from skillgit.records import Action, Skill
from skillgit.stages.rollout import Evaluation
from skillgit.standing import Moment, Standing, Training, ledger_lines


def baseline(setup: Training) -> Moment:
    """Step 0: the skill as it was found, measured on val.

    Raises: UserError when every val task passes already and nobody insists.
    """
    account = setup.account(0)
    found = setup.measure(setup.start, setup.position(0), account)
    if found.score is not None and found.score.hard >= 1.0 and not setup.force:
        raise UserError(
            "every val task passes with the skill as it is: there is nothing left to learn",
            hint="Add harder tasks, or train all the same with --force.",
        )
    mark = Mark(score=setup.gate_score(found.score), step=0, origin="initial_skill")
    run = setup.run
    state = RunState(
        run_id=run.run_id,
        skill=run.skill,
        onto=run.onto,
        epoch=0,
        current=mark,
        best=mark,
        metric=run.metric,
        tokens=account.costs.prompt_tokens + account.costs.completion_tokens,
        target=run.target,
        run=run.run,
    )
    note = ConfigNote(
        run=run.run_id,
        identity=setup.identity,
        epochs=setup.config.train.epochs,
        tasks=dict(setup.bench.keys),
        costs=account.costs,
    )
    entry = Entry(
        run=run,
        step=0,
        phase=Phase.STEP,
        action=Action.BASELINE,
        score=CandidateScore(score=mark.score),
        state=state,
        candidate=setup.start if setup.start_is_new else None,
        lines=(note,),
        object_lines=ledger_lines(found),
        finished_at=account.finished_at,
    )
    standing = Standing(
        step=0,
        state=state,
        current=setup.start,
        current_scores=found.measurements,
        best=setup.start,
        best_scores=found.measurements,
    )
    return Moment(entry, standing)


def epoch_end(setup: Training, standing: Standing) -> Moment:
    """An epoch's end: one commit, on which everything that looks back over the epoch hangs."""
    state = standing.state.model_copy(update={"edits": 0, "tokens": 0})
    entry = Entry(
        run=setup.run,
        step=standing.step,
        phase=Phase.EPOCH,
        action=Action.EPOCH,
        score=CandidateScore(score=state.current.score),
        state=state,
    )
    return Moment(entry, replace(standing, state=state, epoch_notes=(), epoch_closed=True))


def run_end(setup: Training, standing: Standing) -> Moment:
    """The run's end: baseline, best and final skill are each scored on test, if there is one."""
    account = setup.account(standing.step)
    lines: tuple[NoteLine, ...] = ()
    object_lines: list[tuple[str, NoteLine]] = []
    if setup.tasks.test:
        position = setup.position(standing.step, Phase.END)
        measured: dict[Skill, Evaluation] = {}
        scores: dict[str, float | None] = {}
        sides = {"baseline": setup.start, "best": standing.best, "final": standing.current}
        for side, skill in sides.items():
            if skill not in measured:
                measured[skill] = setup.measure(skill, position, account, setup.tasks.test)
                object_lines += ledger_lines(measured[skill])
            scores[side] = setup.gate_score(measured[skill].score)
        lines = (TestNote(run=setup.run.run_id, n_tasks=len(setup.tasks.test), **scores),)
    tokens = account.costs.prompt_tokens + account.costs.completion_tokens
    state = standing.state.model_copy(update={"edits": 0, "tokens": tokens})
    entry = Entry(
        run=setup.run,
        step=standing.step,
        phase=Phase.END,
        action=Action.END,
        score=CandidateScore(score=state.current.score),
        state=state,
        lines=lines,
        object_lines=tuple(object_lines),
        finished_at=account.finished_at,
    )
    return Moment(entry, replace(standing, state=state, ended=True))
