"""The seam between `skillgit adopt --regate` and the gate: whose skill, which tasks, what it costs."""

from __future__ import annotations

from dataclasses import dataclass

from skillgit.cli.sessions.night import night_runtime
from skillgit.cli.sessions.paying import paying
from skillgit.cli.sessions.project import Project
from skillgit.cli.sessions.training import runtime_of
from skillgit.config import Config
from skillgit.errors import UserError
from skillgit.evaluation.wiring import Runtime, open_bench
from skillgit.history import Remeasured, RunHead
from skillgit.models.journal import Journal
from skillgit.models.paid import Meter
from skillgit.records.canonical import fingerprint
from skillgit.sleep.night.inputs import tasks_to_measure
from skillgit.sleep.night.plan import night_config
from skillgit.store.git.names import is_night
from skillgit.store.git.repository import Repository
from skillgit.store.git_store import GitStore
from skillgit.store.proposals.adopted import Lineage
from skillgit.tasks import TaskSet
from skillgit.training.regate import SCOPE, OneLook, Regate
from skillgit.training.wiring import is_simulated, rule_of


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
        durable = not is_simulated(project.config)
        repository = project.open_repository(durable=durable)
        store = self._store(project, repository, lineage)
        if is_night(lineage.run):
            tasks = tasks_to_measure(project.config, store, lineage.run)
            config = night_config(project.config, len(tasks.train))
            runtime, _ = night_runtime(project, tasks, store)
        else:
            tasks, config = project.tasks(), project.config
            runtime = runtime_of(project, tasks)
        project.require_trust(tasks)
        candidate, current = store.skill_in_tree(tree), store.skill_at(tip)
        setup = self._setup(lineage, config, tasks, store, runtime)
        meter = Meter.within(config.budget, clock=runtime.clock)
        with Journal(repository.private.journal, durable=durable) as journal:
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

    def _store(self, project: Project, repository: Repository, lineage: Lineage) -> GitStore:
        night = is_night(lineage.run)
        store = project.open_store(
            repository, lineage.skill, command=self.again, private=night, memory=night
        )
        store.prepare()
        return store

    def _setup(
        self, lineage: Lineage, config: Config, tasks: TaskSet, store: GitStore, runtime: Runtime
    ) -> OneLook:
        evaluator = open_bench(config, tasks.val, runtime)
        target = fingerprint(dict(evaluator.environment.fingerprint))
        head = RunHead(
            name=lineage.run,
            run_id=lineage.run_id,
            skill=lineage.skill,
            onto=self.onto,
            base=lineage.base,
            target=target,
            run="",
            metric=config.gate.metric,
        )
        return OneLook(
            run=head,
            config=config,
            tasks=tasks,
            evaluator=evaluator,
            store=store,
            rule=rule_of(config),
        )
