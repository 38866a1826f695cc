"""A night's end: both documents measured afresh together, and taken back where that does not hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from skillgit.gate import beats, mean_score, pool
from skillgit.history import (
    CandidateScore,
    Entry,
    NightNote,
    NoteLine,
    Phase,
    RejectedLine,
    RunCommit,
    StepNote,
    TestNote,
)
from skillgit.ports import Account
from skillgit.records import Action, Measurements, Score
from skillgit.sleep.night.plan import Night
from skillgit.training.state import TrainingState, Transition, Version, ledger_lines, parse_origin

Lines = tuple[tuple[str, NoteLine], ...]


def night_end(setup: Night, state: TrainingState) -> Transition:
    """The night's end commit; what it accepted is reverted first unless it beats the baseline.

    Raises: BlockedError when too many tasks come back without a score; BudgetError.
    """
    account = setup.account(state.step)
    first = next(c for c in setup.store.history(setup.run.name) if c.action is Action.BASELINE)
    before = first.score
    accepted = [c for c in setup.store.history(setup.run.name) if c.action.accepted]
    note = NightNote(run=setup.run.run_id, baseline=before, candidate=state.current.score)
    lines: Lines = ()
    if accepted and not setup.config.gate.enabled:
        state = replace(state, best=state.current)
    elif accepted:
        note, lines = _measured_afresh(setup, state, note, account)
        state = _concluded(setup, state, note, first)
    takes_back = tuple(c.id for c in accepted) if note.taken_back else ()
    if note.taken_back:
        lines = (*lines, *_rejected(setup, state, note, accepted))
    test, test_lines = _tested(setup, state, account)
    costs = account.costs
    tokens = costs.prompt_tokens + costs.completion_tokens
    recorded = state.recorded.model_copy(update={"edits": 0, "tokens": tokens})
    state = replace(state, recorded=recorded, ended=True)
    entry = Entry(
        run=setup.run,
        step=state.step,
        phase=Phase.END,
        action=Action.END,
        score=CandidateScore(score=state.current.score),
        state=state.run_state,
        lines=(note.model_copy(update={"costs": costs}), *([test] if test else [])),
        object_lines=(*lines, *test_lines),
        finished_at=account.finished_at,
        summary=note.reason,
        takes_back=takes_back,
    )
    return Transition(entry, state)


def _measured_afresh(
    setup: Night, state: TrainingState, note: NightNote, account: Account
) -> tuple[NightNote, Lines]:
    """What current measures once more, with nothing of it known beforehand."""
    position = setup.position(state.step, Phase.END)
    setup.evaluator.progress.begin("evaluate")
    found = setup.measure(state.current.skill, position, account, again=True)
    fresh = pool(found.measurements.object_id, found.rounds[-setup.config.gate.repeats :])
    base = _pooled(setup, position.step)
    shared = [key for key in fresh.scores if fresh.scores[key] and base.scores.get(key)]
    after = _score(setup, [fresh.scores[key] for key in shared])
    before = _score(setup, [base.scores[key] for key in shared])
    holds = after is not None and before is not None and beats(after, before)
    reason = "" if holds else "taken back: no better than the baseline when measured afresh"
    update = {"candidate": after, "taken_back": not holds, "reason": reason}
    return note.model_copy(update=update), ledger_lines(found)


def _pooled(setup: Night, step: int) -> Measurements:
    """All that is known of the skill as the night found it."""
    rounds = setup.known(setup.start, setup.position(step, Phase.END))
    return pool(setup.store.object_id(setup.start), rounds)


def _score(setup: Night, scores: Sequence[Score | None]) -> float | None:
    return setup.gate_score(mean_score(s for s in scores if s is not None))


def _concluded(
    setup: Night, state: TrainingState, note: NightNote, first: RunCommit
) -> TrainingState:
    """Where the night ends: on the skill as it was found, or on current as it measured now."""
    if not note.taken_back:
        final = state.current.model_copy(update={"score": note.candidate})
    else:
        mark = first.state.current
        final = Version(
            skill=setup.start,
            origin=parse_origin(mark.origin),
            step=mark.step,
            score=mark.score,
            measurements=_pooled(setup, state.step),
        )
    return replace(state, current=final, best=final)


def _rejected(
    setup: Night, state: TrainingState, note: NightNote, accepted: Sequence[RunCommit]
) -> Lines:
    """The whole set on the object it made, as one that was tried on the night's start."""
    made = setup.store.object_id(setup.store.skill_at(accepted[0].id))
    edits = tuple(
        o.edit
        for commit in reversed(accepted)
        for line in setup.store.notes_on(commit.id)
        if isinstance(line, StepNote) and line.run == setup.run.run_id
        for o in line.edits
        if o.outcome.changed_text
    )
    line = RejectedLine(
        run=setup.run.run_id,
        step=state.step,
        phase=Phase.END,
        target=setup.run.target,
        tried_on=setup.store.object_id(setup.start),
        object=made,
        edits=edits,
        before=note.baseline,
        after=note.candidate,
    )
    return ((made, line),)


def _tested(setup: Night, state: TrainingState, account: Account) -> tuple[TestNote | None, Lines]:
    """The test split under the skill as found and as proposed; nothing if they are the same."""
    tasks = setup.tasks.test
    if not tasks or state.current.skill == setup.start:
        return None, ()
    position = setup.position(state.step, Phase.END)
    before = setup.measure(setup.start, position, account, tasks)
    after = setup.measure(state.current.skill, position, account, tasks)
    scores = (setup.gate_score(before.score), setup.gate_score(after.score))
    note = TestNote(
        run=setup.run.run_id,
        n_tasks=len(tasks),
        baseline=scores[0],
        best=scores[1],
        final=scores[1],
    )
    return note, (*ledger_lines(before), *ledger_lines(after))
