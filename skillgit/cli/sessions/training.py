"""The seam between the command line and the loop: reads what only it may, and hands in the rest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath

from skillgit.cli.app.keys import find_key
from skillgit.cli.sessions.project import Project
from skillgit.cli.sessions.runs import Runs
from skillgit.cli.show.output import say
from skillgit.config import Config, ModelConfig
from skillgit.evaluation.wiring import Runtime
from skillgit.judges import judge_commands
from skillgit.models.journal import Journal
from skillgit.ports import Clock
from skillgit.prompting.prompts import load_prompts
from skillgit.records import Role, Skill
from skillgit.runtime.progress import Progress
from skillgit.store.git_store import GitStore
from skillgit.store.skills.skills import committed_skill
from skillgit.tasks import TaskSet
from skillgit.training.resume import Launch, OpenRun, open_run
from skillgit.training.wiring import is_simulated, open_training_context

PROMPTS = ".skillgit/prompts"


@dataclass(frozen=True)
class TrainOptions:
    """What was asked for on the command line beside the config; `None` is not asked."""

    new: bool = False
    start: str | None = None
    epochs: int | None = None
    workers: int | None = None
    force: bool = False

    def applied(self, config: Config) -> Config:
        """The config with what was asked for in place of what stands there."""
        asked = {"epochs": self.epochs, "workers": self.workers}
        given = {name: value for name, value in asked.items() if value is not None}
        return config.model_copy(update={"train": config.train.model_copy(update=given)})


@dataclass(frozen=True)
class TrainSession:
    """A run that is held and ready to be iterated, with what a display looks at."""

    opened: OpenRun
    progress: Progress
    store: GitStore
    clock: Clock


@contextmanager
def training_session(project: Project, options: TrainOptions) -> Iterator[TrainSession]:
    """The run that a `train` means, held against any other trainer while the block runs.

    Raises: every SkillgitError that a config, a repository or a key can be the reason for.
    """
    invocation, config = project.invocation, options.applied(project.config)
    tasks = project.tasks()
    project.require_trust(tasks)
    durable, clock = not is_simulated(config), invocation.clock
    repository = project.open_repository(durable=durable)
    skill = committed_skill(repository, config.skill, config.repo.onto)
    store = project.open_store(repository, skill.name, command=project.typed("train"), sign=True)
    store.prepare()
    _mention_uncommitted(store, skill, config.repo.onto)
    runs = Runs(repository, invocation, skill=project.skill)
    start = _start(runs, store, options.start)
    if options.new and start is None:
        _mention_unadopted(project, store, skill)

    runtime = runtime_of(project, tasks)
    with Journal(repository.private.journal, durable=durable) as journal, ExitStack() as held:
        context = open_training_context(config, tasks, store, journal, runtime)
        with store.naming():
            opened = open_run(context, new=options.new, start=start, force=options.force)
            if opened.launch is not Launch.ENDED:
                held.enter_context(store.hold(opened.training.run.name))
            if opened.launch is Launch.BEGIN:
                # From here on no trainer of another skill takes the same number.
                journal.begin_run(opened.training.run)
        yield TrainSession(opened, runtime.progress, store, clock)


def runtime_of(project: Project, tasks: TaskSet) -> Runtime:
    """What only the command line may read, for a bench; the tasks' judges are trusted by now."""
    invocation, trusted = project.invocation, judge_commands(tasks.tasks)

    def key_of(role: Role, model: ModelConfig) -> str | None:
        return find_key(model, role.value, invocation, project.tree)

    return Runtime(
        key_of=key_of,
        clock=invocation.clock,
        prompts=prompts_of(project),
        progress=Progress(),
        variables=invocation.environ,
        root=project.root,
        may_run=lambda command: tuple(command) in trusted,
    )


def _start(runs: Runs, store: GitStore, version: str | None) -> Skill | None:
    return None if version is None else store.skill_at(runs.commit_of(version))


def prompts_of(project: Project) -> dict[str, str]:
    """The prompts' texts by name, the project's own in place of the shipped ones."""
    files = [PurePosixPath(file) for file in project.tree.list_files(PROMPTS)]
    own = {
        file.stem: project.tree.read(str(file)).decode("utf-8", "replace")
        for file in files
        if file.suffix == ".md"
    }
    return load_prompts(own)


def _mention_uncommitted(store: GitStore, skill: Skill, onto: str) -> None:
    changed = store.repository.uncommitted(tuple(d.path for d in skill.documents))
    if changed:
        say(
            f"note: {', '.join(changed)} has changes that are not committed; they stay untouched, "
            f"and the run goes by what is committed on {onto}"
        )


def _mention_unadopted(project: Project, store: GitStore, skill: Skill) -> None:
    best = store.best()
    if best is None or store.object_id(store.skill_at(best)) == store.object_id(skill):
        return
    typed, onto = project.typed, project.config.repo.onto
    say(f"note: the best version so far is not in {onto}. Either of these goes on from it:")
    say(f"  {typed('adopt', 'best')}")
    say(f"  {typed('train', '--from', 'best')}")
