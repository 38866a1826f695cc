"""The seam between `skillgit adopt --regate` and the gate: whose skill, which tasks, what it costs."""

from __future__ import annotations

from dataclasses import dataclass

from skillgit.cli.sessions.night import night_runtime
from skillgit.cli.sessions.project import Project
from skillgit.cli.sessions.training import runtime_of
from skillgit.cli.show.progress import paying
from skillgit.errors import UserError
from skillgit.evaluation.wiring import open_evaluator
from skillgit.history import Remeasured, RunHead
from skillgit.history.run_names import is_night
from skillgit.models.paid import Meter
from skillgit.records.canonical import fingerprint
from skillgit.sleep.night.inputs import tasks_to_measure
from skillgit.sleep.night.plan import night_config
from skillgit.store.proposals.adopted import Lineage
from skillgit.training.regate import SCOPE, OneLook, Regate
from skillgit.training.wiring import rule_of


@dataclass(frozen=True)
class Regating:
    """Measures what a proposal comes to on a branch, under the skill's config as it is now.

    `onto` is that branch, `again` what to type to go on after an interruption.
    """

    project: Project
    onto: str
    again: str

    def __call__(self, lineage: Lineage, tree: str, tip: str) -> Remeasured:
        """The score of the version in a tree, and that of the branch's own text.

        Raises: UserError when the gate does not let it pass, or when nothing is held out; every
        SkillgitError that a config, a repository or a key can be the reason for.
        """
        project = self._project(lineage)
        repository = project.open_repository()
        night = is_night(lineage.run)
        store = project.open_store(
            repository, lineage.skill, command=self.again, private=night, memory=night
        )
        store.prepare()
        if night:
            tasks = tasks_to_measure(project.config, store, lineage.run)
            config = night_config(project.config, len(tasks.train))
            runtime, _ = night_runtime(project, tasks, store)
        else:
            tasks, config = project.tasks(), project.config
            runtime = runtime_of(project, tasks)
        project.require_trust(tasks)
        candidate, current = store.skill_in_tree(tree), store.skill_at(tip)
        evaluator = open_evaluator(config, tasks.val, runtime)
        head = RunHead(
            name=lineage.run,
            run_id=lineage.run_id,
            skill=lineage.skill,
            onto=self.onto,
            base=lineage.base,
            target=fingerprint(dict(evaluator.environment.fingerprint)),
            run="",
            metric=config.gate.metric,
        )
        setup = OneLook(
            run_head=head,
            config=config,
            tasks=tasks,
            evaluator=evaluator,
            store=store,
            rule=rule_of(config),
        )
        meter = Meter.within(config.budget, clock=runtime.clock)
        with project.open_journal() as journal:
            regate = Regate(setup, store, journal, runtime.clock, meter)
            with paying(
                project.invocation,
                store,
                runtime.progress,
                meter,
                scope=SCOPE,
                most=regate.most_calls(candidate, current),
                again=self.again,
            ):
                return regate.measure(candidate, current)

    def _project(self, lineage: Lineage) -> Project:
        """The project for the skill that the run trained."""
        if self.project.skills and lineage.skill not in self.project.skills:
            raise UserError(
                f"{lineage.run} is of the skill {lineage.skill}, which the config does not have",
                hint="Without --regate it is adopted unmeasured.",
            )
        return self.project.of_skill(lineage.skill)
