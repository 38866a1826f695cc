"""A repository with its skillgit.toml and its tasks, opened for a command."""

from __future__ import annotations

from dataclasses import dataclass

from skillgit.cli.invocation import Invocation
from skillgit.cli.worktree import Worktree, worktree_at
from skillgit.config import CONFIG_FILE, Config, parse_config
from skillgit.errors import ConfigError, UserError
from skillgit.judges import JudgeResources, build_judge, judge_commands
from skillgit.processes import command_digest
from skillgit.records import Task
from skillgit.tasks import TaskSet, load_tasks
from skillgit.trust import Demand, TrustFile, untrusted


@dataclass(frozen=True)
class Project:
    """What a command works on."""

    invocation: Invocation
    tree: Worktree
    config: Config
    config_text: str

    @property
    def root(self) -> str | None:
        """The work tree that programs are run for; `None` in a bare repository."""
        return None if self.tree.bare else str(self.tree.root)

    def require_trust(self, tasks: TaskSet) -> None:
        """Nothing, when all that the config and the tasks ask trust for has been agreed to.

        Raises: UserError naming what has not.
        """
        missing = self.untrusted(tasks)
        if missing:
            asked = "; ".join(demand.line for demand in missing)
            raise UserError(
                f"{CONFIG_FILE} asks for something that you have not allowed yet: {asked}",
                hint=f"{self.invocation.typed('trust')} shows it and asks.",
            )

    def untrusted(self, tasks: TaskSet) -> list[Demand]:
        """What has to be agreed to before a key is sent or a program run."""
        return untrusted(
            self.config,
            TrustFile(self.tree.private.trust).read(),
            judge_commands(tasks.tasks),
            digest_of=lambda command: command_digest(command, self.root),
        )

    def tasks(self) -> TaskSet:
        """The tasks that the config names, each with a judge that could be built.

        Raises: TaskError.
        """
        return read_tasks(self.tree, self.config)


def open_project(invocation: Invocation) -> Project:
    """The project around the folder that the command runs in.

    Raises: RepositoryError, ConfigError.
    """
    tree = worktree_at(invocation.directory, invocation.environ)
    try:
        text = tree.read(CONFIG_FILE).decode("utf-8-sig")
    except FileNotFoundError as error:
        raise ConfigError(
            f"there is no {CONFIG_FILE} in {tree.root}",
            hint=f"{invocation.typed('init', 'SKILL', '--tasks', 'FILE')} writes one.",
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{CONFIG_FILE} cannot be read: {error}") from error
    return Project(invocation, tree, parse_config(text), text)


def read_tasks(tree: Worktree, config: Config) -> TaskSet:
    """The tasks that a config names.

    Raises: TaskError naming file, line, task and reason of everything that is wrong.
    """
    return load_tasks(config.tasks, read=tree.read, list_files=tree.list_files, check=check_task)


def check_task(task: Task) -> None:
    """Nothing, when the task's judge can be built.

    Raises: TaskError.
    """
    build_judge(task, JudgeResources())
