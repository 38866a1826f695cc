"""Measuring a proposal again: base and head, side by side, as the base says it is done."""

from __future__ import annotations

from dataclasses import dataclass

from skillgit.evaluation.standalone import Measuring, Scores
from skillgit.evaluation.wiring import Runtime, open_bench
from skillgit.gate import mean_score, select_gate_score
from skillgit.models.journal import Journal
from skillgit.models.paid import Meter
from skillgit.records import Skill
from skillgit.review.verify.base_revision import SkillAtBase
from skillgit.review.verify.findings import Rerun
from skillgit.store.git_store import GitStore
from skillgit.tasks import TaskSet


@dataclass(frozen=True)
class Remeasuring:
    """What measuring one skill again takes; the person has trusted what it sends and runs."""

    skill: SkillAtBase
    tasks: TaskSet
    store: GitStore
    journal: Journal
    runtime: Runtime

    def compare(self, before: Skill, after: Skill) -> Rerun:
        """Both versions, measured once more on val; what the ledger has does not count.

        Raises: BlockedError, BudgetError; what `key_of` raises for a missing key.
        """
        config, tasks = self.skill.config, self.tasks.val
        evaluator = open_bench(config, tasks, self.runtime)
        measuring = Measuring(
            evaluator=evaluator,
            store=self.store,
            journal=self.journal,
            clock=self.runtime.clock,
            tasks=tasks,
            val=frozenset(evaluator.keys[task.id] for task in tasks),
            max_unscored=config.gate.max_unscored,
            meter=Meter.within(config.budget, clock=self.runtime.clock),
            again=True,
        )
        scores = measuring.measure([before, after])
        old, new = (self._latest(scores[self.store.object_id(s)]) for s in (before, after))
        return Rerun(skill=self.skill.name, before=old, after=new)

    def _latest(self, scores: Scores) -> float | None:
        """The gate score of the newest measurement of each task."""
        gate = self.skill.config.gate
        mean = mean_score(found[-1] for found in scores.tasks.values() if found)
        if mean is None:
            return None
        return select_gate_score(mean.hard, mean.soft, gate.metric, gate.mixed_weight)
