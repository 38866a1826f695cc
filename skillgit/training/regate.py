"""The gate once more: a version applied again to a changed text, measured against that text.

Its scores go into the ledger under the same keys as a run's; what was paid for is in the journal,
so that a measurement which was stopped goes on where it was.
"""

from __future__ import annotations

from dataclasses import dataclass

from skillgit.errors import UserError
from skillgit.evaluation.rollout import most_calls
from skillgit.evaluation.standalone import named
from skillgit.history import Remeasured, RunPosition, ScoresLine
from skillgit.models.journal import Journal
from skillgit.models.paid import Meter, StepPaid
from skillgit.ports import Clock
from skillgit.records import Skill
from skillgit.store.git_store import GitStore
from skillgit.training.state import INITIAL, TrainingState, Validation, Version
from skillgit.training.validate import ValidationResult, validate

SCOPE = "regate"

STEP = 1
"""The gate's first look: nothing has been compared with the text before."""


@dataclass(frozen=True)
class OneLook(Validation):
    """A validation that is no run's: one look, an epoch of its own."""

    @property
    def steps_per_epoch(self) -> int:
        """The one look."""
        return STEP


@dataclass(frozen=True)
class Regate:
    """Asks the gate about one version. `setup` has the run that the version is of.

    `meter` is what it may spend.
    """

    setup: OneLook
    store: GitStore
    journal: Journal
    clock: Clock
    meter: Meter

    def most_calls(self, candidate: Skill, current: Skill) -> int:
        """The largest number of paid calls that it can make; 0 when the ledger knows all."""
        repeats = self.setup.config.gate.repeats
        calls = 0
        for skill in {candidate, current}:
            known = [set(r.scores) for r in self.setup.known(skill, _position())[:repeats]]
            for task in self.setup.tasks.val:
                had = sum(self.setup.evaluator.keys[task.id] in round_ for round_ in known)
                calls += most_calls(self.setup.evaluator, [task], repeats - had).total()
        return calls

    def measure(self, candidate: Skill, current: Skill) -> Remeasured:
        """Both on val, as far as the ledger does not know them; the gate decides.

        Raises: UserError when the gate does not let the version pass; BlockedError, BudgetError,
        with which nothing is noted, and no answer lost.
        """
        setup = self.setup
        made, there = (self.store.object_id(skill) for skill in (candidate, current))
        scope = f"{SCOPE}:{made}:{there}:{setup.run.target}"
        paid = StepPaid(self.journal, scope, STEP, meter=self.meter, clock=self.clock)
        validation = validate(setup, self._start_state(current), candidate, _position(), paid)
        at = paid.finished_at or self.clock.now()
        lines = [
            (owner, named(line, owner, self.store, at))
            for owner, line in validation.object_lines
            if isinstance(line, ScoresLine)
        ]
        if lines:
            message = f"{setup.run.name} on {setup.run.onto}"
            self.store.add_lines(setup.run.name, lines, message=message)
        return self._passed(validation)

    def _passed(self, validation: ValidationResult) -> Remeasured:
        decision, before = validation.decision, validation.state.current.score
        run = self.setup.run
        if decision.score is None or not decision.action.accepted:
            raise UserError(
                f"the edits of {run.name}, applied again on {run.onto}, do not pass the gate there: "
                f"{decision.reason}",
                hint="Nothing was moved. Without --regate they are adopted all the same.",
            )
        return Remeasured(score=decision.score, before=before, metric=run.metric, target=run.target)

    def _start_state(self, current: Skill) -> TrainingState:
        """Where a run would stand that begins at a text which nobody has measured."""
        setup = self.setup
        start = Version(
            skill=current,
            origin=INITIAL,
            step=0,
            score=None,
            measurements=setup.unmeasured(current),
        )
        return TrainingState(
            step=0, recorded=setup.run.begun(start.mark), current=start, best=start
        )


def _position() -> RunPosition:
    """The position of the look; nothing in the ledger is of that run."""
    return RunPosition(run_id=SCOPE, step=STEP)
