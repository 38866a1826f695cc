"""The two ends of a run: its baseline, and its own end. An epoch's end has a module of its own."""

from __future__ import annotations

from dataclasses import replace

from skillgit.errors import UserError
from skillgit.evaluation.evaluate import Evaluation
from skillgit.gate import strict
from skillgit.gate.guards import text_warnings
from skillgit.history import (
    CandidateScore,
    ConfigNote,
    Entry,
    NoteLine,
    Phase,
    TestNote,
)
from skillgit.ports import Account, Trial
from skillgit.records import Action, Score, Skill
from skillgit.training.current import confirm_best, measured_again
from skillgit.training.state import (
    INITIAL,
    Training,
    TrainingState,
    Transition,
    Version,
    ledger_lines,
)


def baseline(setup: Training) -> Transition:
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
    start = Version(
        skill=setup.start,
        origin=INITIAL,
        step=0,
        score=setup.gate_score(found.score),
        measurements=found.measurements,
    )
    run = setup.run
    tokens = account.costs.prompt_tokens + account.costs.completion_tokens
    run_state = run.begun(start.mark, tokens=tokens)
    note = ConfigNote(
        run=run.run_id,
        identity=setup.identity,
        epochs=setup.config.train.epochs,
        tasks=dict(setup.evaluator.keys),
        costs=account.costs,
        warnings=(*_nothing_passes(found.score), *text_warnings(setup.start)),
    )
    entry = Entry(
        run=run,
        step=0,
        phase=Phase.STEP,
        action=Action.BASELINE,
        score=CandidateScore(score=start.score),
        state=run_state,
        candidate=setup.start if setup.start_is_new else None,
        lines=(note,),
        object_lines=ledger_lines(found),
        finished_at=account.finished_at,
    )
    state = TrainingState(step=0, recorded=run_state, current=start, best=start)
    return Transition(entry, state)


def _nothing_passes(score: Score | None) -> tuple[str, ...]:
    """A word on a val split in which nothing passes, not even in part."""
    if score is None or score.hard > 0.0 or score.soft > 0.0:
        return ()
    told = (
        "every val task fails, and no check of any passes: unless one edit makes a whole task "
        "pass, nothing will be accepted; look whether the tasks and their judges are right"
    )
    return (told,)


def run_end(setup: Training, state: TrainingState) -> Transition:
    """The run's end: the final skill becomes best if it measures better, and test is looked at.

    Baseline, best and final skill are each scored on test, if there is such a split.
    Raises: BlockedError when too many tasks come back without a score; BudgetError.
    """
    account = setup.account(state.step)
    # Val scores are of the last epoch's end: what a run's end measures is the test split.
    position = setup.position(state.step, Phase.EPOCH)
    state, object_lines = measured_again(setup, state, position, account)
    state, confirmed_lines = confirm_best(
        setup, state, setup.position(state.step, Phase.END), account
    )
    promoted = _promoted(setup, state)
    note, test_lines = _tested(setup, promoted, account)
    tokens = account.costs.prompt_tokens + account.costs.completion_tokens
    recorded = promoted.recorded.model_copy(update={"edits": 0, "tokens": tokens})
    promoted = replace(promoted, recorded=recorded, ended=True)
    entry = Entry(
        run=setup.run,
        step=state.step,
        phase=Phase.END,
        action=Action.END,
        score=CandidateScore(score=promoted.current.score),
        state=promoted.run_state,
        lines=(note,) if note else (),
        object_lines=(*object_lines, *confirmed_lines, *test_lines),
        finished_at=account.finished_at,
        summary=_test_summary(note),
    )
    return Transition(entry, promoted)


def _promoted(setup: Training, state: TrainingState) -> TrainingState:
    """Where the run ends: current has become best if it measures better, by the plain rule."""
    gate = setup.config.gate
    if state.current.mark == state.best.mark:
        return state
    ruling = strict(
        Trial(
            candidate=state.current.skill,
            current=state.best.skill,
            best=state.best.skill,
            candidate_scores=state.current.measurements,
            current_scores=state.best.measurements,
            best_scores=state.best.measurements,
            best_step=state.best.step,
            global_step=state.current.step,
            metric=gate.metric,
            mixed_weight=gate.mixed_weight,
        )
    )
    if not ruling.result.action.accepted:
        return state
    return replace(state, best=state.current)


def _tested(
    setup: Training, state: TrainingState, account: Account
) -> tuple[TestNote | None, list[tuple[str, NoteLine]]]:
    """The three skills on test, each once, with what that adds to the ledger."""
    if not setup.tasks.test:
        return None, []
    position = setup.position(state.step, Phase.END)
    lines: list[tuple[str, NoteLine]] = []
    measured: dict[Skill, Evaluation] = {}
    scores: dict[str, float | None] = {}
    sides = {"baseline": setup.start, "best": state.best.skill, "final": state.current.skill}
    for side, skill in sides.items():
        if skill not in measured:
            measured[skill] = setup.measure(skill, position, account, setup.tasks.test)
            lines += ledger_lines(measured[skill])
        scores[side] = setup.gate_score(measured[skill].score)
    note = TestNote(run=setup.run.run_id, n_tasks=len(setup.tasks.test), **scores)
    return note, lines


def _test_summary(note: TestNote | None) -> str:
    if note is None:
        return ""

    def shown(score: float | None) -> str:
        return "unscored" if score is None else f"{score:.4f}"

    final = "" if note.final == note.best else f", final {shown(note.final)}"
    return f"on test {shown(note.baseline)} to {shown(note.best)}{final}"
