"""Measuring versions outside of a run: what the ledger knows is taken, the rest rolled out.

Scores go into the ledger as a run's do, under the same keys, so a training takes what was measured
here and the other way round. All lines are added at once, when everything is measured; until then
the answers are kept in the journal under the object's id, so a measurement that was stopped goes
on where it was, and repeats nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from skillgit.config import Config
from skillgit.evaluation.evaluate import evaluate
from skillgit.evaluation.rollout import Evaluator, most_calls
from skillgit.evaluation.wiring import Runtime, open_evaluator
from skillgit.gate import mean_score
from skillgit.history import Phase, RunPosition, ScoresLine
from skillgit.models.journal import Journal
from skillgit.models.paid import Meter, StepPaid
from skillgit.ports import Clock, Ledger
from skillgit.records import Record, Score, Skill, Split, Task
from skillgit.records.canonical import fingerprint

SCOPE = "eval"

Line = tuple[str, ScoresLine]


class Scores(Record):
    """What is known of one skill object on some tasks.

    Shape: `tasks` has each task's measurements by its key, in the ledger's order; none where it
    has not been scored. `measured` is how many of them were made now.
    """

    object_id: str
    tasks: dict[str, tuple[Score, ...]]
    measured: int = 0

    def mean_of(self, key: str) -> Score | None:
        """A task's mean over its measurements."""
        return mean_score(self.tasks.get(key, ()))

    @property
    def mean(self) -> Score | None:
        """The mean over the tasks that have a score, each counted once."""
        found = (self.mean_of(key) for key in self.tasks)
        return mean_score(score for score in found if score is not None)

    @property
    def scored(self) -> int:
        """How many tasks have a score."""
        return sum(1 for measurements in self.tasks.values() if measurements)


@dataclass(frozen=True)
class Measuring:
    """The tasks to measure on, and all that it takes.

    `val` are the keys of the val tasks: lines of other tasks are marked like those of a run's end,
    since no gate compares them. `again` measures every task once more often than the one measured
    most often.
    """

    evaluator: Evaluator
    store: Ledger
    journal: Journal
    clock: Clock
    tasks: Sequence[Task]
    val: frozenset[str]
    max_unscored: float
    meter: Meter
    again: bool = False

    @classmethod
    def of(
        cls,
        config: Config,
        tasks: Sequence[Task],
        runtime: Runtime,
        store: Ledger,
        journal: Journal,
        *,
        again: bool = False,
    ) -> Self:
        """What measures on tasks as a configuration says, within its budget."""
        evaluator = open_evaluator(config, tasks, runtime)
        return cls(
            evaluator=evaluator,
            store=store,
            journal=journal,
            clock=runtime.clock,
            tasks=tasks,
            val=frozenset(evaluator.keys[task.id] for task in tasks if task.split is Split.VAL),
            max_unscored=config.gate.max_unscored,
            meter=Meter.within(config.budget, clock=runtime.clock),
            again=again,
        )

    @property
    def target(self) -> str:
        """The target's fingerprint, as runs have it."""
        return fingerprint(dict(self.evaluator.environment.fingerprint))

    def known(self, object_id: str) -> dict[str, tuple[Score, ...]]:
        """Each task's measurements that the ledger has of an object."""
        rounds = self.store.measurements(object_id, self.target, repeats=None, before=None)
        return {
            key: tuple(s for measured in rounds if (s := measured.scores.get(key)) is not None)
            for key in (self.evaluator.keys[task.id] for task in self.tasks)
        }

    def most_calls(self, skills: Sequence[Skill]) -> int:
        """The largest number of paid calls that measuring these can make."""
        return sum(self._most_calls(self.known(object_id)) for object_id in self._objects(skills))

    def measure(self, skills: Sequence[Skill]) -> dict[str, Scores]:
        """Measure what is not known, note it, and return all that is known then, by object.

        Raises: BlockedError, BudgetError; nothing is noted then, and no answer is lost.
        """
        objects = self._objects(skills)
        lines: list[Line] = []
        progress = self.evaluator.progress
        progress.total_steps = len(objects)
        for number, (object_id, skill) in enumerate(objects.items(), start=1):
            progress.step = number
            lines += self._lines(object_id, skill)
        if lines:
            self.store.add_lines(SCOPE, lines, message=f"{SCOPE} {' '.join(objects)}")
        fresh = {
            object_id: sum(
                pair is not None
                for owner, line in lines
                if owner == object_id
                for pair in line.tasks.values()
            )
            for object_id in objects
        }
        return {
            object_id: Scores(
                object_id=object_id, tasks=self.known(object_id), measured=fresh[object_id]
            )
            for object_id in objects
        }

    def _objects(self, skills: Sequence[Skill]) -> dict[str, Skill]:
        """The skills by the objects that they are: equal ones are measured once."""
        return {self.store.object_id(skill): skill for skill in skills}

    def _most_calls(self, known: Mapping[str, Sequence[Score]]) -> int:
        """Calls to bring every task to the number of measurements that is asked for."""
        most = max((len(measurements) for measurements in known.values()), default=0)
        wanted = most + 1 if self.again else 1
        distinct = {self.evaluator.keys[task.id]: task for task in self.tasks}
        return sum(
            most_calls(self.evaluator, [task], max(0, wanted - len(known[key]))).total()
            for key, task in distinct.items()
        )

    def _lines(self, object_id: str, skill: Skill) -> Iterator[Line]:
        scope = f"{SCOPE}:{object_id}:{self.target}"
        paid = StepPaid(self.journal, scope, 0, meter=self.meter, clock=self.clock)
        found = evaluate(
            self.evaluator,
            self.store,
            self.tasks,
            skill,
            paid,
            target=self.target,
            position=RunPosition(run_id=SCOPE, step=0),
            max_unscored=self.max_unscored,
            again=self.again,
        )
        at = paid.finished_at or self.clock.now()
        for line in found.lines:
            for part in self._parted(named(line, object_id, self.store, at)):
                yield object_id, part

    def _parted(self, line: ScoresLine) -> Iterator[ScoresLine]:
        """The line's val tasks apart from the others."""
        for phase, is_val in ((Phase.STEP, True), (Phase.END, False)):
            own = {key: pair for key, pair in line.tasks.items() if (key in self.val) == is_val}
            if own:
                yield line.model_copy(update={"phase": phase, "tasks": own})


def named(line: ScoresLine, object_id: str, store: Ledger, at: datetime) -> ScoresLine:
    """A line of a measurement outside of a run, in a name of its own.

    The name goes by the last answer's time, which the journal keeps: made anew after a kill, the
    line is the same; made in another clone, it is another measurement.
    """
    who = store.writer()
    parts: list[str | int] = [SCOPE, object_id, line.target, line.repeat, who, at.isoformat()]
    return line.model_copy(update={"run": fingerprint(parts, digits=12)})
