"""Setting a repository up: everything is checked, and then the one file is written."""

from __future__ import annotations

import tomllib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePosixPath

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.app.keys import is_loopback
from skillgit.cli.app.worktree import Worktree, worktree_at
from skillgit.cli.init.config_text import ModelChoice, batch_size_for, config_text, skill_table
from skillgit.cli.init.find_tasks import find_task_file
from skillgit.cli.sessions.project import read_tasks
from skillgit.config import CONFIG_FILE, PROVIDERS, Config, parse_config, parse_configs
from skillgit.config.trust import TrustFile, demands
from skillgit.editing.document import Document
from skillgit.errors import (
    ConfigError,
    DocumentError,
    RepositoryError,
    SkillgitError,
    TaskError,
    UsageError,
)
from skillgit.store.git.names import skill_name
from skillgit.store.git.repository import open_repository
from skillgit.tasks import TaskSet

TARGET, OPTIMIZER = PROVIDERS["openai"].default_models


@dataclass(frozen=True)
class Choices:
    """What was chosen on the command line; `None` is left to us."""

    skill: str
    tasks: str | None = None
    onto: str | None = None
    provider: str = "openai"
    model: str | None = None
    optimizer_model: str | None = None
    base_url: str | None = None
    optimizer_base_url: str | None = None
    api_key_env: str | None = None
    nights: bool = False

    def models(self) -> tuple[ModelChoice, ModelChoice]:
        """The target's and the optimizer's."""
        kind = PROVIDERS[self.provider]
        target, optimizer = kind.default_models
        if not kind.sends_away:
            return (
                ModelChoice(self.provider, self.model or target, api_key_env=""),
                ModelChoice(self.provider, self.optimizer_model or optimizer, api_key_env=""),
            )
        # On a server of one's own, the one model that was named is the one there is.
        own = self.model if self.base_url is not None else None
        return (
            self._role(self.model or target, self.base_url),
            self._role(
                self.optimizer_model or own or optimizer, self.optimizer_base_url or self.base_url
            ),
        )

    def _role(self, name: str, url: str | None) -> ModelChoice:
        local = url is not None and is_loopback(url)
        variable = self.api_key_env
        if variable is None:
            variable = "" if local else PROVIDERS[self.provider].default_key_variable or ""
        return ModelChoice(self.provider, name, base_url=url, api_key_env=variable)


@dataclass(frozen=True)
class Written:
    """What was set up."""

    tree: Worktree
    config: Config
    tasks: TaskSet
    skill: str


def set_up(invocation: Invocation, choices: Choices) -> Written:
    """Check skill and tasks, write skillgit.toml, and trust what was written.

    Raises: SkillgitError for whatever a training would stumble over; nothing is written then.
    """
    tree = worktree_at(invocation.directory, invocation.environ)
    _refuse_bare(tree)
    open_repository(tree.root)
    if (tree.root / CONFIG_FILE).exists():
        raise _already_there(tree, invocation, choices)
    skill = _skill_path(tree, invocation, choices.skill)
    name = _check_skill(tree, skill)
    if choices.nights:
        tasks = _tasks_there_or_to_come(tree, invocation, choices, skill, name)
    elif choices.tasks is not None:
        tasks = tree.relative(invocation.path(choices.tasks))
    else:
        tasks = find_task_file(tree, skill, name, invocation)
    onto = choices.onto or _branch(tree)
    target, optimizer = choices.models()

    def text_for(batch_size: int | None) -> str:
        return config_text(
            onto=onto,
            skill=skill,
            tasks=tasks,
            target=target,
            optimizer=optimizer,
            batch_size=batch_size,
        )

    if choices.nights:
        task_set, text = TaskSet(tasks=()), text_for(None)
    else:
        # The batch size depends on the tasks, and where they are stands in the config.
        task_set = read_tasks(tree, parse_config(text_for(1)))
        text = text_for(batch_size_for(len(task_set.train)))
    config = parse_config(text)
    _write(tree, text)
    TrustFile(tree.private.trust).add(demands(config))
    return Written(tree, config, task_set, name)


def _refuse_bare(tree: Worktree) -> None:
    if tree.bare:
        raise RepositoryError(
            "a bare repository has no work tree to write skillgit.toml into",
            hint="Run init in a clone, commit, and push.",
        )


def _already_there(tree: Worktree, invocation: Invocation, choices: Choices) -> ConfigError:
    """The refusal of a second init; for a further skill, with the lines that add it."""
    hint = f"Edit {tree.root / CONFIG_FILE}, or move it away first."
    with suppress(SkillgitError, OSError):
        skill = _skill_path(tree, invocation, choices.skill)
        name = _check_skill(tree, skill)
        text = tree.read(CONFIG_FILE).decode("utf-8", "replace")
        if skill not in [config.skill.path for config in parse_configs(text)]:
            tasks = _tasks_there_or_to_come(tree, invocation, choices, skill, name)
            single = isinstance(tomllib.loads(text)["skill"], dict)
            first = "write [[skill]] in place of [skill], and " if single else ""
            hint = (
                f"To train {name} as well, {first}add this to {CONFIG_FILE}:\n"
                f"{skill_table(skill=skill, tasks=tasks)}\n"
                f"Then: {invocation.typed('train', '--skill', name)}"
            )
    return ConfigError(f"{CONFIG_FILE} is already there, and init overwrites nothing", hint=hint)


def _tasks_there_or_to_come(
    tree: Worktree, invocation: Invocation, choices: Choices, skill: str, name: str
) -> str:
    if choices.tasks is not None:
        return tree.relative(invocation.path(choices.tasks))
    try:
        return find_task_file(tree, skill, name, invocation)
    except TaskError:
        return f"tasks/{name}.jsonl"


def _skill_path(tree: Worktree, invocation: Invocation, given: str) -> str:
    path = invocation.path(given)
    if path.is_dir():
        path /= "SKILL.md"
    if not path.is_file():
        raise DocumentError(
            f"there is no skill at {given}",
            hint="Name the SKILL.md, CLAUDE.md or AGENTS.md, or its folder.",
        )
    return tree.relative(path)


def _check_skill(tree: Worktree, path: str) -> str:
    """The skill's name, once its frontmatter and its markers have been read without complaint."""
    try:
        front = Document.parse((tree.root / path).read_bytes()).frontmatter
    except DocumentError as error:
        raise DocumentError(f"{path}: {error.message}", hint=error.hint) from error
    given = front.get("name")
    where = PurePosixPath(path)
    return skill_name(
        None, given if isinstance(given, str) else None, where.parent.name, where.stem
    )


def _branch(tree: Worktree) -> str:
    branch = tree.branch()
    if branch is None:
        raise UsageError(
            "HEAD is detached, so init cannot tell where accepted versions should go",
            hint="Name the branch: --onto main",
        )
    return branch


def _write(tree: Worktree, text: str) -> None:
    try:
        with (tree.root / CONFIG_FILE).open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError as error:
        raise ConfigError(f"{CONFIG_FILE} is already there, and init overwrites nothing") from error
