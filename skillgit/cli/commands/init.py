"""`skillgit init`: write skillgit.toml, after everything that can be checked was checked."""

from __future__ import annotations

from pathlib import PurePosixPath

import click

from skillgit.cli.config_text import ModelChoice, batch_size_for, config_text
from skillgit.cli.find_tasks import find_task_file
from skillgit.cli.invocation import Invocation
from skillgit.cli.keys import is_loopback
from skillgit.cli.output import count, print_commands
from skillgit.cli.project import read_tasks
from skillgit.cli.worktree import Worktree, worktree_at
from skillgit.config import CONFIG_FILE, Config, Provider, parse_config
from skillgit.document import Document
from skillgit.errors import ConfigError, DocumentError, RepositoryError, UsageError
from skillgit.schedule import steps_per_epoch
from skillgit.store.names import skill_name
from skillgit.tasks import TaskSet
from skillgit.trust import TrustFile, demands

TARGET, OPTIMIZER = "gpt-5.4-nano", "gpt-5.5"
SIMULATED_TARGET, SIMULATED_OPTIMIZER = "sim-target", "sim-optimizer"
PROVIDERS = click.Choice([provider.value for provider in Provider])


@click.command()
@click.argument("skill", metavar="SKILL")
@click.option("--tasks", metavar="FILE", help="The tasks; a file or a folder.")
@click.option("--provider", type=PROVIDERS, default="openai", help="Where answers come from.")
@click.option("--model", metavar="NAME", help=f"The target's model.  [default: {TARGET}]")
@click.option("--optimizer-model", metavar="NAME", help=f"The optimizer's.  [default: {OPTIMIZER}]")
@click.option("--base-url", metavar="URL", help="An OpenAI-compatible server, for both roles.")
@click.option("--optimizer-base-url", metavar="URL", help="Another one for the optimizer.")
@click.option("--api-key-env", metavar="NAME", help="The variable that holds the key.")
@click.option("--onto", metavar="BRANCH", help="Where versions go.  [default: HEAD's branch]")
@click.pass_obj
def command(
    invocation: Invocation,
    *,
    skill: str,
    tasks: str | None,
    provider: str,
    model: str | None,
    optimizer_model: str | None,
    base_url: str | None,
    optimizer_base_url: str | None,
    api_key_env: str | None,
    onto: str | None,
) -> None:
    """Write skillgit.toml for the skill in the file (or folder) SKILL.

    Checks the skill and the tasks first, commits nothing, overwrites nothing,
    and says what to type next. Without --tasks it looks for a task file.
    """
    tree = worktree_at(invocation.directory, invocation.environ)
    _refuse_existing(tree)
    skill_path = _skill_path(tree, invocation, skill)
    name = _check_skill(tree, skill_path)
    task_path = (
        tree.relative(invocation.path(tasks))
        if tasks is not None
        else find_task_file(tree, skill_path, name, invocation)
    )
    target, optimizer = _models(
        Provider(provider), model, optimizer_model, base_url, optimizer_base_url, api_key_env
    )

    def text_for(batch_size: int) -> str:
        return config_text(
            onto=onto or _branch(tree),
            skill=skill_path,
            tasks=task_path,
            target=target,
            optimizer=optimizer,
            batch_size=batch_size,
        )

    # The batch size depends on the tasks, and where they are stands in the config.
    task_set = read_tasks(tree, parse_config(text_for(1)))
    text = text_for(batch_size_for(len(task_set.train)))
    config = parse_config(text)
    _write(tree, text)
    TrustFile(tree.private.trust).add(demands(config))
    _report(invocation, tree, config, task_set, name)


def _refuse_existing(tree: Worktree) -> None:
    if tree.bare:
        raise RepositoryError(
            "a bare repository has no work tree to write skillgit.toml into",
            hint="Run init in a clone, commit, and push.",
        )
    if (tree.root / CONFIG_FILE).exists():
        raise ConfigError(
            f"{CONFIG_FILE} is already there, and init overwrites nothing",
            hint=f"Edit {tree.root / CONFIG_FILE}, or move it away first.",
        )


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


def _models(
    provider: Provider,
    model: str | None,
    optimizer_model: str | None,
    base_url: str | None,
    optimizer_base_url: str | None,
    api_key_env: str | None,
) -> tuple[ModelChoice, ModelChoice]:
    if provider is Provider.SIMULATED:
        return (
            ModelChoice(provider, model or SIMULATED_TARGET, api_key_env=""),
            ModelChoice(provider, optimizer_model or SIMULATED_OPTIMIZER, api_key_env=""),
        )

    def choice(name: str, url: str | None) -> ModelChoice:
        local = url is not None and is_loopback(url)
        variable = api_key_env if api_key_env is not None else "" if local else "OPENAI_API_KEY"
        return ModelChoice(provider, name, base_url=url, api_key_env=variable)

    # On a server of one's own, the one model that was named is the one there is.
    fallback = model if model is not None and base_url is not None else OPTIMIZER
    return (
        choice(model or TARGET, base_url),
        choice(optimizer_model or fallback, optimizer_base_url or base_url),
    )


def _write(tree: Worktree, text: str) -> None:
    try:
        with (tree.root / CONFIG_FILE).open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError as error:
        raise ConfigError(f"{CONFIG_FILE} is already there, and init overwrites nothing") from error


def _report(
    invocation: Invocation, tree: Worktree, config: Config, tasks: TaskSet, name: str
) -> None:
    per_epoch = steps_per_epoch(len(tasks.train), config.train.batch_size)
    steps = per_epoch * config.train.epochs
    splits = f"{len(tasks.train)} train, {len(tasks.val)} val, {len(tasks.test)} test"
    print(f"Wrote {CONFIG_FILE}")
    print(f"  skill      {name}, in {config.skill.path}")
    print(f"  tasks      {len(tasks.tasks)} ({splits}), in {config.tasks.path}")
    print(f"  target     {config.target.model}")
    print(f"  optimizer  {config.optimizer.model}")
    print(
        f"  training   {config.train.epochs} epochs of {count(per_epoch, 'step')}: "
        f"{steps} steps on branch skillopt/run/train-1"
    )
    print_commands(next_commands(invocation, tree, config))


def next_commands(invocation: Invocation, tree: Worktree, config: Config) -> list[str]:
    """What has to be typed before and with the first training."""
    files = [config.skill.path, config.tasks.path, CONFIG_FILE]
    commands: list[str] = []
    if not tree.has_identity():
        commands += ['git config user.name "..."', 'git config user.email "..."']
    if tree.uncommitted(*files):
        commands += [
            invocation.typed_git("add", *(invocation.seen(tree.root / file) for file in files)),
            invocation.typed_git("commit", "-m", "Set up skillgit"),
        ]
    variables = {m.api_key_env for m in (config.target, config.optimizer) if m.api_key_env}
    commands += [
        f"export {variable}=..."
        for variable in sorted(variables)
        if not invocation.environ.get(variable)
    ]
    return [*commands, invocation.typed("train")]
