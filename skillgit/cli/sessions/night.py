"""The seam between the command line and the nights: reads what only it may, and hands in the rest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime

from skillgit.cli.sessions.harvest import TASKS, HarvestContext, open_harvest_context
from skillgit.cli.sessions.project import Project
from skillgit.cli.sessions.training import runtime_of
from skillgit.config import Miner, NightOptimizer
from skillgit.evaluation.wiring import Runtime
from skillgit.models.journal import Journal
from skillgit.records import Role, Task
from skillgit.runtime.progress import Progress
from skillgit.sleep.harvest import gather
from skillgit.sleep.memory.archive import read_archive, with_reviewed
from skillgit.sleep.memory.state import parse_state
from skillgit.sleep.night.handoff import Handoff
from skillgit.sleep.night.inputs import Gathered, Parts
from skillgit.sleep.night.plan import PlanFile
from skillgit.store.git_store import GitStore
from skillgit.store.runs.sleep_ref import read_sleep
from skillgit.store.skills.skills import committed_skill
from skillgit.tasks import TaskSet
from skillgit.training.wiring import is_simulated


@dataclass(frozen=True)
class NightSession:
    """A project made ready for a night; `handoff` is there where somebody else is the optimizer."""

    project: Project
    parts: Parts
    progress: Progress
    handoff: Handoff | None


@contextmanager
def night_session(project: Project, seed_tasks: tuple[Task, ...] | None) -> Iterator[NightSession]:
    """Everything a night needs, open while the block runs.

    Raises: every SkillgitError that a config, a repository or a key can be the reason for.
    """
    invocation, config = project.invocation, project.config
    durable = not is_simulated(config)
    repository = project.open_repository(durable=durable)
    skill = committed_skill(repository, config.skill, config.repo.onto)
    store = project.open_store(
        repository, skill.name, command=project.typed("sleep"), private=True, memory=True, sign=True
    )
    store.prepare()
    context = open_harvest_context(invocation)
    tasks = TaskSet(tasks=seed_tasks or _known_tasks(store, _reviewed(context)))
    project.require_trust(tasks)
    runtime, handoff = night_runtime(project, tasks, store)
    with Journal(repository.private.journal, durable=durable) as journal:
        parts = Parts(
            store=store,
            journal=journal,
            runtime=runtime,
            plans=PlanFile(repository.private.nights),
            project=str(project.tree.root),
            gather=lambda since: _gathered(context, since, handoff),
        )
        yield NightSession(project, parts, runtime.progress, handoff)


def _known_tasks(store: GitStore, reviewed: str) -> tuple[Task, ...]:
    """The tasks of earlier nights and those that a person wrote: their judges may run programs."""
    state = parse_state(read_sleep(store.repository, store.refs))
    return tuple(item.task for item in read_archive(with_reviewed(state.tasks, reviewed)))


def _reviewed(context: HarvestContext) -> str:
    """The file of mined tasks, which a person looks through and marks."""
    with suppress(OSError, UnicodeDecodeError):
        return (context.folder / TASKS).read_text("utf-8-sig")
    return ""


def night_runtime(
    project: Project, tasks: TaskSet, store: GitStore
) -> tuple[Runtime, Handoff | None]:
    """What only the command line may read, for a night; its handoff where somebody else answers."""
    runtime = runtime_of(project, tasks)
    if project.config.sleep.optimizer is not NightOptimizer.HANDOFF:
        return runtime, None
    handoff = Handoff(store.repository.private.handoff)
    roles = [Role.OPTIMIZER] if project.config.judge else [Role.OPTIMIZER, Role.JUDGE]
    return replace(runtime, stand_ins=dict.fromkeys(roles, handoff)), handoff


def _gathered(context: HarvestContext, since: datetime | None, handoff: Handoff | None) -> Gathered:
    """What harvest and mine bring; where nobody is there to be asked, by the miner that asks nobody."""
    harvest = gather(context.places(), context.wanted(since), context.digests())
    miner = Miner.HEURISTIC if handoff is not None else context.config.miner
    mined = context.mine(harvest.sessions, miner, most=2 * context.config.max_tasks)
    ended = [session.ended for session in harvest.sessions if session.ended is not None]
    return Gathered(
        tasks=tuple(mined.tasks),
        agents=tuple(session.source for session in harvest.sessions),
        until=max(ended, default=None),
        reviewed=_reviewed(context),
    )
