"""What a proposal is held against: configuration, tasks, prompts and judges as the base has them.

Nothing is read from the work tree or from the proposal, and no model or program is asked.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from skillgit.config import CONFIG_FILE, Config, parse_configs
from skillgit.errors import BlockedError, ConfigError, SkillgitError
from skillgit.evaluation.wiring import Runtime, open_bench
from skillgit.judges import JudgeResources, build_judge, judge_commands
from skillgit.ports import Clock
from skillgit.prompting.prompts import load_prompts
from skillgit.records import ModelReply, ModelRequest, Role
from skillgit.records.canonical import fingerprint
from skillgit.runtime.progress import Progress
from skillgit.store.git.repository import Repository
from skillgit.store.ranges import file_in, files_in
from skillgit.store.skills.skills import matches_glob, skill_in_commit
from skillgit.tasks import TaskSet, load_tasks

PROMPTS = ".skillgit/prompts"


@dataclass(frozen=True)
class SkillAtBase:
    """One skill as the base has it; `main` is the path of its main document, links followed."""

    name: str
    config: Config
    main: str
    several: bool

    def declares(self, path: str) -> bool:
        """Whether a path is that of a document of the skill."""
        folder = posixpath.dirname(self.main)
        if path == self.main or (folder and not path.startswith(f"{folder}/")):
            return path == self.main
        inside = path[len(folder) + 1 :] if folder else path
        return any(matches_glob(inside, glob) for glob in self.config.skill.files)


@dataclass(frozen=True)
class ScoreBasis:
    """By what a skill's scores are known: the target's fingerprint and the val tasks' keys."""

    target: str
    val: tuple[str, ...]


@dataclass(frozen=True)
class BaseRevision:
    """The base of a range. `skills` are by name, the default one first."""

    repository: Repository
    base: str
    skills: Mapping[str, SkillAtBase]

    @property
    def onto(self) -> str:
        """The branch that its configuration names for accepted versions."""
        return next(iter(self.skills.values())).config.repo.onto

    def read(self, path: str) -> bytes:
        """A file's bytes in the base.

        Raises: FileNotFoundError.
        """
        found = file_in(self.repository.git, self.base, path)
        if found is None:
            raise FileNotFoundError(path)
        return found.data

    def files(self, path: str) -> list[str]:
        """The files at or under a path in the base."""
        return files_in(self.repository.git, self.base, path)

    def tasks(self, skill: SkillAtBase) -> TaskSet:
        """The tasks of a skill, each with a judge that could be built.

        Raises: TaskError.
        """
        return load_tasks(
            skill.config.tasks,
            read=self.read,
            list_files=self.files,
            check=lambda task: build_judge(task, JudgeResources()),
            skill=skill.name if skill.several else None,
        )

    def prompts(self) -> dict[str, str]:
        """The prompts by name, the project's own in place of the shipped ones."""
        own = [PurePosixPath(path) for path in self.files(PROMPTS)]
        return load_prompts(
            {
                path.stem: self.read(str(path)).decode("utf-8", "replace")
                for path in own
                if path.suffix == ".md"
            }
        )

    def runs_programs(self, skill: SkillAtBase) -> bool:
        """Whether measuring a skill starts programs of the repository."""
        return bool(skill.config.target.command) or bool(judge_commands(self.tasks(skill).tasks))

    def basis(self, skill: SkillAtBase, *, clock: Clock, root: str | None) -> ScoreBasis:
        """By what the skill's scores are known; no model is built that could be asked.

        Raises: ConfigError, TaskError.
        """
        tasks = self.tasks(skill)
        commands = judge_commands(tasks.tasks)
        runtime = Runtime(
            key_of=lambda _role, _model: None,
            clock=clock,
            prompts=self.prompts(),
            progress=Progress(),
            root=root,
            may_run=lambda command: tuple(command) in commands,
            stand_ins={role: _Silent() for role in Role},
        )
        evaluator = open_bench(skill.config, tasks.tasks, runtime)
        return ScoreBasis(
            target=fingerprint(dict(evaluator.environment.fingerprint)),
            val=tuple(dict.fromkeys(evaluator.keys[task.id] for task in tasks.val)),
        )


class _Silent:
    """A model that is there to be named, and never asked."""

    def complete(self, request: ModelRequest) -> ModelReply:
        raise BlockedError(f"{request.model} was asked where only its name was wanted")


def read_base_revision(repository: Repository, base: str) -> BaseRevision:
    """The base of a range.

    Raises: ConfigError when it has no configuration, or none that can be used.
    """
    found = file_in(repository.git, base, CONFIG_FILE)
    if found is None:
        raise ConfigError(
            f"{base[:12]} has no {CONFIG_FILE}, so there is nothing to hold a proposal against",
            hint="Name a base that has it: skillgit verify main...BRANCH",
        )
    source = f"{CONFIG_FILE} in {base[:12]}"
    configs = parse_configs(found.data.decode("utf-8-sig", "replace"), source=source)
    skills = {}
    for config in configs:
        skill = skill_in_commit(repository.git, base, config.skill)
        skills[skill.name] = SkillAtBase(
            skill.name, config, skill.main.path, several=len(configs) > 1
        )
    return BaseRevision(repository=repository, base=base, skills=skills)


def attempted(read: Callable[[], ScoreBasis]) -> ScoreBasis | SkillgitError:
    """A score basis, or why there is none."""
    try:
        return read()
    except SkillgitError as error:
        return error
