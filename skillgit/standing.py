"""Where a run stands: what it needs, what a commit leaves it with, and how that is read back.

The loop holds nothing that this module could not read from the branch and its notes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from skillgit.config import Config
from skillgit.gate import select_gate_score
from skillgit.history import (
    Entry,
    NoteLine,
    Phase,
    Position,
    RunCommit,
    RunHead,
    RunState,
    StepNote,
)
from skillgit.identity import Identity
from skillgit.ports import Account, Paid, Rule, Store
from skillgit.prompts import Optimizer
from skillgit.records import Action, Measurements, Record, Score, Skill, Task
from skillgit.schedule import steps_per_epoch
from skillgit.stages.rollout import Bench, Evaluation, evaluate
from skillgit.tasks import TaskSet


@dataclass(frozen=True)
class Training:
    """Everything a run needs, handed in.

    `start_is_new` says that the start skill is not what stands at the run's base, so that step 0
    carries it. `account` opens the account of a step; `force` trains where there is nothing to
    learn.
    """

    run: RunHead
    config: Config
    tasks: TaskSet
    start: Skill
    start_is_new: bool
    identity: Identity
    bench: Bench
    store: Store
    rule: Rule
    optimizer: Callable[[Paid], Optimizer]
    account: Callable[[int], Account]
    force: bool = False

    @property
    def steps_per_epoch(self) -> int:
        """How many steps make an epoch."""
        return steps_per_epoch(len(self.tasks.train), self.config.train.batch_size)

    @property
    def total_steps(self) -> int:
        """How many steps the whole run has."""
        return self.config.train.epochs * self.steps_per_epoch

    def position(self, step: int, phase: Phase = Phase.STEP) -> Position:
        """A moment of this run."""
        return Position(run_id=self.run.run_id, step=step, phase=phase)

    def gate_score(self, score: Score | None) -> float | None:
        """The number that the gate compares, by this run's metric."""
        if score is None:
            return None
        gate = self.config.gate
        return select_gate_score(score.hard, score.soft, gate.metric, gate.mixed_weight)

    def measure(
        self,
        skill: Skill,
        position: Position,
        account: Account,
        tasks: Sequence[Task] | None = None,
    ) -> Evaluation:
        """A skill's measurements on val (or the tasks given), from the ledger or made now."""
        return evaluate(
            self.bench,
            self.store,
            self.tasks.val if tasks is None else tasks,
            skill,
            account,
            target=self.run.target,
            position=position,
            max_unscored=self.config.gate.max_unscored,
        )


@dataclass(frozen=True)
class Standing:
    """Where training goes on from."""

    step: int
    state: RunState
    current: Skill
    current_scores: Measurements
    best: Skill
    best_scores: Measurements
    epoch_notes: tuple[StepNote, ...] = ()
    epoch_closed: bool = False
    ended: bool = False


@dataclass(frozen=True)
class Moment:
    """An entry to commit, and where training stands once it is."""

    entry: Entry
    standing: Standing


class Recorded(Record):
    """One moment of a run, already committed: the entry, and the commit that it ends on."""

    entry: Entry
    commit: RunCommit

    @property
    def note(self) -> StepNote | None:
        """The step's own note; `None` for the baseline, an epoch's end and the run's end."""
        return next((line for line in self.entry.lines if isinstance(line, StepNote)), None)


def ledger_lines(evaluation: Evaluation) -> tuple[tuple[str, NoteLine], ...]:
    """What an evaluation adds to the ledger: nothing when all of it was known."""
    if evaluation.line is None:
        return ()
    return ((evaluation.measurements.object_id, evaluation.line),)


def read_standing(setup: Training) -> Standing | None:
    """Where the run's branch stands; `None` when it has not begun.

    Scores come from the ledger as it was before the next step, so that lines which a killed
    step left behind mislead nobody; a text whose scores are lost is measured by the next gate.
    """
    commits = iter(setup.store.history(setup.run.name))
    tip = next(commits, None)
    if tip is None:
        return None
    state = tip.state
    epoch_closed = tip.action in (Action.EPOCH, Action.END)
    epoch_notes: list[StepNote] = []
    best_commit: RunCommit | None = None
    for commit in _chain(tip, commits):
        in_epoch = not epoch_closed and commit.state.epoch == state.epoch and commit.step > 0
        if in_epoch and commit.action is not Action.REVERT:
            epoch_notes += _step_notes(setup, commit)
        if best_commit is None and _holds_best(commit, state):
            best_commit = commit
        if best_commit is not None and not in_epoch:
            break
    current = setup.store.skill_at(tip.id)
    best = setup.store.skill_at(best_commit.id) if best_commit else setup.start
    position = setup.position(tip.step + 1)
    return Standing(
        step=tip.step,
        state=state,
        current=current,
        current_scores=_known_scores(setup, current, position),
        best=best,
        best_scores=_known_scores(setup, best, position),
        epoch_notes=tuple(reversed(epoch_notes)),
        epoch_closed=epoch_closed,
        ended=tip.action is Action.END,
    )


def _chain(tip: RunCommit, older: Iterable[RunCommit]) -> Iterable[RunCommit]:
    yield tip
    yield from older


def _step_notes(setup: Training, commit: RunCommit) -> list[StepNote]:
    return [
        note
        for note in setup.store.notes_on(commit.id)
        if isinstance(note, StepNote) and note.run == setup.run.run_id and note.step == commit.step
    ]


def _holds_best(commit: RunCommit, state: RunState) -> bool:
    if commit.step != state.best.step or commit.action is Action.REVERT:
        return False
    return commit.state.best == state.best and commit.state.current.origin == state.best.origin


def _known_scores(setup: Training, skill: Skill, position: Position) -> Measurements:
    object_id = setup.store.object_id(skill)
    keys = {setup.bench.keys[task.id] for task in setup.tasks.val}
    (known,) = setup.store.measurements(object_id, setup.run.target, repeats=1, before=position)
    return Measurements(
        object_id=object_id, scores={k: s for k, s in known.scores.items() if k in keys}
    )
