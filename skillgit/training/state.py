"""Where a run stands: what it needs, what a commit leaves it with, and how that is read back.

The loop holds nothing that this module could not read from the branch and its notes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import takewhile

from skillgit.config import Config
from skillgit.errors import UserError
from skillgit.evaluation.evaluate import Evaluation, evaluate, known_rounds
from skillgit.evaluation.rollout import Evaluator
from skillgit.gate import pool, select_gate_score
from skillgit.gate.early_stop import EarlyStopper
from skillgit.history import (
    Entry,
    Mark,
    NoteLine,
    Phase,
    RunCommit,
    RunHead,
    RunPosition,
    RunState,
    StepNote,
)
from skillgit.history.notes import MetaSkillNote
from skillgit.ports import Account, Paid, Rule, Store
from skillgit.prompting.prompts import Optimizer
from skillgit.records import Action, Edit, Measurements, Record, Score, Skill, Task
from skillgit.stages.schedule import batches_at, ends_epoch, steps_per_epoch
from skillgit.tasks import TaskSet
from skillgit.training.identity import Identity


class OriginKind(StrEnum):
    """What made a version."""

    INITIAL_SKILL = "initial_skill"
    STEP = "step"
    SLOW_UPDATE = "slow_update_epoch"


class Origin(Record):
    """What made a version, with the number of its step or epoch; `str` is its stored form."""

    kind: OriginKind
    number: int = 0

    @classmethod
    def of_step(cls, step: int) -> Origin:
        """The origin of what a step accepted."""
        return cls(kind=OriginKind.STEP, number=step)

    @classmethod
    def of_epoch(cls, epoch: int) -> Origin:
        """The origin of what an epoch's slow update wrote."""
        return cls(kind=OriginKind.SLOW_UPDATE, number=epoch)

    def __str__(self) -> str:
        if self.kind is OriginKind.INITIAL_SKILL:
            return self.kind.value
        width = 4 if self.kind is OriginKind.STEP else 2
        return f"{self.kind.value}_{self.number:0{width}d}"


INITIAL = Origin(kind=OriginKind.INITIAL_SKILL)


def parse_origin(text: str) -> Origin:
    """The origin that a stored mark names.

    Raises: UserError when it is of no known kind.
    """
    kind, _, number = text.rpartition("_")
    if text == OriginKind.INITIAL_SKILL:
        return INITIAL
    if kind in (OriginKind.STEP, OriginKind.SLOW_UPDATE) and number.isdecimal():
        return Origin(kind=OriginKind(kind), number=int(number))
    raise UserError(f"a run's commit names an origin that is not known: {text!r}")


class Version(Record):
    """A skill in a run, what made it, and what is known of it on val.

    `score` is the gate score (`None`: not measured).
    """

    skill: Skill
    origin: Origin
    step: int
    score: float | None
    measurements: Measurements

    @property
    def object_id(self) -> str:
        """The git object of the skill."""
        return self.measurements.object_id

    @property
    def mark(self) -> Mark:
        """What a commit's state says of it."""
        return Mark(score=self.score, step=self.step, origin=str(self.origin))


def version_of(mark: Mark, skill: Skill, measurements: Measurements) -> Version:
    """The version that a stored mark speaks of."""
    return Version(
        skill=skill,
        origin=parse_origin(mark.origin),
        step=mark.step,
        score=mark.score,
        measurements=measurements,
    )


@dataclass(frozen=True, kw_only=True)
class Validation:
    """What measuring skills on val takes, and holding one against another; handed in."""

    run: RunHead
    config: Config
    tasks: TaskSet
    evaluator: Evaluator
    store: Store
    rule: Rule

    @property
    def steps_per_epoch(self) -> int:
        """How many steps make an epoch."""
        sizes = self.config.train
        return steps_per_epoch(len(self.tasks.train), sizes.batch_size, sizes.accumulation)

    def position(self, step: int, phase: Phase = Phase.STEP) -> RunPosition:
        """A position in this run."""
        return RunPosition(run_id=self.run.run_id, step=step, phase=phase)

    def gate_score(self, score: Score | None) -> float | None:
        """The number that the gate compares, by this run's metric."""
        if score is None:
            return None
        gate = self.config.gate
        return select_gate_score(score.hard, score.soft, gate.metric, gate.mixed_weight)

    def measure(
        self,
        skill: Skill,
        position: RunPosition,
        account: Account,
        tasks: Sequence[Task] | None = None,
        *,
        again: bool = False,
        early_stopper: EarlyStopper | None = None,
    ) -> Evaluation:
        """A skill's measurements on val (or the tasks given), from the ledger or made now.

        Val is measured as often as the gate asks; with `again`, so often once more.
        """
        gate = self.config.gate
        return evaluate(
            self.evaluator,
            self.store,
            self.tasks.val if tasks is None else tasks,
            skill,
            account,
            target=self.run.target,
            position=position,
            max_unscored=gate.max_unscored,
            repeats=gate.repeats if tasks is None else 1,
            again=again,
            early_stopper=early_stopper,
        )

    def unmeasured(self, skill: Skill) -> Measurements:
        """The measurements of a skill that has none yet."""
        return Measurements(object_id=self.store.object_id(skill), scores={})

    def known(self, skill: Skill, position: RunPosition) -> tuple[Measurements, ...]:
        """What the ledger has of a skill on val, one measurement after the other."""
        return known_rounds(
            self.evaluator,
            self.store,
            self.tasks.val,
            skill,
            target=self.run.target,
            position=position,
        )


@dataclass(frozen=True, kw_only=True)
class Training(Validation):
    """Everything a run needs, handed in.

    `start_is_new` says that the start skill is not what stands at the run's base, so that step 0
    carries it. `account` opens the account of a step; `force` trains where there is nothing to
    learn.
    """

    start: Skill
    start_is_new: bool
    identity: Identity
    optimizer: Callable[[Paid], Optimizer]
    account: Callable[[int], Account]
    force: bool = False

    @property
    def total_steps(self) -> int:
        """How many steps the whole run has."""
        return self.config.train.epochs * self.steps_per_epoch

    def rejected_alone(self, state: TrainingState, step: int) -> list[Edit]:
        """The edits that were rejected alone on the text that training goes on from."""
        lines = self.store.rejections(
            state.current.object_id, self.run.target, before=self.position(step)
        )
        return [line.edits[0] for line in lines if len(line.edits) == 1]

    def batches_of(self, step: int) -> list[list[Task]]:
        """The train tasks that a step rolls out, batch by batch, in their order."""
        by_id = {task.id: task for task in self.tasks.train}
        sizes = self.config.train
        batches = batches_at(
            step,
            list(by_id),
            batch_size=sizes.batch_size,
            accumulation=sizes.accumulation,
            seed=sizes.seed,
        )
        return [[by_id[task_id] for task_id in batch] for batch in batches]


@dataclass(frozen=True)
class TrainingState:
    """Where training goes on from.

    `epoch_start` is the skill at the end of the epoch before (`None` in the first), `meta_skill`
    the optimizer's memory that was written there. `recorded` is the
    last commit's state, whose marks `current` and `best` replace.
    """

    step: int
    recorded: RunState
    current: Version
    best: Version
    epoch_start: Skill | None = None
    meta_skill: str = ""
    epoch_notes: tuple[StepNote, ...] = ()
    epoch_closed: bool = False
    ended: bool = False

    @property
    def run_state(self) -> RunState:
        """What a commit says of this state."""
        marks = {"current": self.current.mark, "best": self.best.mark}
        return self.recorded.model_copy(update=marks)


@dataclass(frozen=True)
class Transition:
    """An entry to commit, and where training stands once it is."""

    entry: Entry
    state: TrainingState


class Recorded(Record):
    """One transition, already committed: the entry, and the commit that it ends on."""

    entry: Entry
    commit: RunCommit

    @property
    def note(self) -> StepNote | None:
        """The step's own note; `None` for the baseline, an epoch's end and the run's end."""
        return next((line for line in self.entry.lines if isinstance(line, StepNote)), None)


def ledger_lines(evaluation: Evaluation) -> tuple[tuple[str, NoteLine], ...]:
    """What an evaluation adds to the ledger: nothing when all of it was known."""
    return tuple((evaluation.measurements.object_id, line) for line in evaluation.lines)


def load_state(setup: Training) -> TrainingState | None:
    """Where the run's branch stands; `None` when it has not begun.

    Scores come from the ledger as it was before the next step, so that lines which a killed
    step left behind mislead nobody; a text whose scores are lost is measured by the next gate.
    """
    commits = list(setup.store.history(setup.run.name))
    if not commits:
        return None
    tip = commits[0]
    epoch_closed = tip.action in (Action.EPOCH, Action.END)
    last_epoch = next((c for c in commits if c.action is Action.EPOCH), None)
    best_commit = next((c for c in commits if _holds_best(c, tip.state)), None)
    current = setup.store.skill_at(tip.id)
    best = setup.store.skill_at(best_commit.id) if best_commit else setup.start
    position = _next_position(setup, tip)
    return TrainingState(
        step=tip.step,
        recorded=tip.state,
        current=version_of(tip.state.current, current, _known_scores(setup, current, position)),
        best=version_of(tip.state.best, best, _known_scores(setup, best, position)),
        epoch_start=setup.store.skill_at(last_epoch.id) if last_epoch else None,
        meta_skill=_meta_skill(setup, last_epoch) if last_epoch else "",
        epoch_notes=() if epoch_closed else _epoch_notes(setup, commits),
        epoch_closed=epoch_closed,
        ended=tip.action is Action.END,
    )


def _next_position(setup: Training, tip: RunCommit) -> RunPosition:
    """The position that comes after a commit: lines of this run from then on do not count."""
    if tip.action is Action.EPOCH:
        is_last = tip.step >= setup.total_steps
        return setup.position(tip.step, Phase.END) if is_last else setup.position(tip.step + 1)
    if tip.action is not Action.END and ends_epoch(tip.step, setup.steps_per_epoch):
        return setup.position(tip.step, Phase.EPOCH)
    return setup.position(tip.step + 1)


def _epoch_notes(setup: Training, commits: Sequence[RunCommit]) -> tuple[StepNote, ...]:
    """The notes of the steps since the last epoch's end, oldest first."""
    notes: list[StepNote] = []
    for commit in takewhile(lambda c: c.action is not Action.EPOCH and c.step > 0, commits):
        if commit.action is not Action.REVERT:
            notes += _step_notes(setup, commit)
    return tuple(reversed(notes))


def _meta_skill(setup: Training, epoch: RunCommit) -> str:
    """The memory that an epoch's commit holds."""
    own = (n for n in setup.store.notes_on(epoch.id) if isinstance(n, MetaSkillNote))
    return next((n.text for n in own if n.run == setup.run.run_id), "")


def _step_notes(setup: Training, commit: RunCommit) -> list[StepNote]:
    return [
        note
        for note in setup.store.notes_on(commit.id)
        if isinstance(note, StepNote) and note.run == setup.run.run_id and note.step == commit.step
    ]


def _holds_best(commit: RunCommit, state: RunState) -> bool:
    """Whether a commit has the best skill in its tree: the one that made it, or one soon after."""
    if commit.step != state.best.step or commit.action is Action.REVERT:
        return False
    return commit.state.current.origin == state.best.origin


def _known_scores(setup: Training, skill: Skill, position: RunPosition) -> Measurements:
    return pool(setup.store.object_id(skill), setup.known(skill, position))
