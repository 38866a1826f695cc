"""`skillgit init`: write skillgit.toml, after everything that can be checked was checked."""

from __future__ import annotations

import shlex

import click

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.app.worktree import Worktree
from skillgit.cli.init.ci import GITHUB, write_workflow
from skillgit.cli.init.setup import OPTIMIZER, TARGET, Choices, Written, set_up
from skillgit.cli.sessions.project import open_project
from skillgit.cli.show.conclusion import commands_to_set_up
from skillgit.cli.show.output import count, print_commands
from skillgit.config import CONFIG_FILE, PROVIDERS, parse_configs
from skillgit.stages.schedule import steps_per_epoch
from skillgit.store.remotes.remotes import REMOVE_INCLUDE, include

MODEL_PROVIDERS = click.Choice([n for n, kind in PROVIDERS.items() if not kind.runs_program])


@click.command()
@click.argument("skill", metavar="SKILL", required=False)
@click.option("--tasks", metavar="FILE", help="The tasks; a file or a folder.")
@click.option("--provider", type=MODEL_PROVIDERS, default="openai", help="Where answers come from.")
@click.option("--model", metavar="NAME", help=f"The target's model.  [default: {TARGET}]")
@click.option("--optimizer-model", metavar="NAME", help=f"The optimizer's.  [default: {OPTIMIZER}]")
@click.option("--base-url", metavar="URL", help="An OpenAI-compatible server, for both roles.")
@click.option("--optimizer-base-url", metavar="URL", help="Another one for the optimizer.")
@click.option("--api-key-env", metavar="NAME", help="The variable that holds the key.")
@click.option("--nights", is_flag=True, help="For skillgit sleep alone: no tasks are needed.")
@click.option("--onto", metavar="BRANCH", help="Where versions go.  [default: HEAD's branch]")
@click.option("--ci", type=click.Choice([GITHUB]), help="Write a workflow that verifies proposals.")
@click.pass_obj
def command(
    invocation: Invocation,
    /,
    *,
    skill: str | None,
    provider: str,
    nights: bool,
    ci: str | None,
    **chosen: str | None,
) -> None:
    """Write skillgit.toml for the skill in the file (or folder) SKILL.

    Checks the skill and the tasks first, commits nothing, overwrites nothing,
    and says what to type next. Without --tasks it looks for a task file; with
    --nights none is needed, since nights make tasks of your agent sessions.
    With --ci alone it only adds the workflow to a repository that is set up.
    """
    if skill is None:
        if ci is None:
            raise click.UsageError("name the skill: a SKILL.md, or its folder")
        _add_workflow(invocation)
        return
    choices = Choices(skill=skill, provider=provider, nights=nights, **chosen)
    written = set_up(invocation, choices)
    _report(written, nights=nights)
    _include(written.tree, invocation)
    if ci is not None:
        _say_written(written.tree, write_workflow(written.tree, [written.config]).name)
    before = commands_to_set_up(invocation, written.tree, written.config, nights=nights)
    begin = [("sleep",), ("sleep", "--schedule")] if nights else [("train",)]
    print_commands([*before, *(invocation.typed(*words) for words in begin)])


def _add_workflow(invocation: Invocation) -> None:
    project = open_project(invocation)
    file = write_workflow(project.tree, parse_configs(project.config_text))
    _say_written(project.tree, file.name)
    path = invocation.seen(file)
    add, commit = ("add", path), ("commit", "-m", "Verify proposals in CI")
    print_commands([invocation.typed_git(*add), invocation.typed_git(*commit)])


def _say_written(tree: Worktree, name: str) -> None:
    print(f"Wrote .github/workflows/{name}, which runs skillgit verify on pull requests")
    remote = tree.ask("remote", "get-url", "origin") or ""
    if remote and "github" not in remote:
        print("  origin is not on GitHub: docs/how-to/review-in-ci.md shows other CIs")


def _include(tree: Worktree, invocation: Invocation) -> None:
    """Have `git fetch` bring notes and runs along; what was written, and what takes it back."""
    file = include(tree.git, tree.private.path.parent)
    undo = shlex.join(("git", *REMOVE_INCLUDE))
    print(f"Included {invocation.seen(file)} in the repository's git config")
    print("  git fetch    brings along what colleagues measured")
    print(f"  without it   {undo}")


def _report(written: Written, *, nights: bool) -> None:
    config, tasks = written.config, written.tasks
    print(f"Wrote {CONFIG_FILE}")
    print(f"  skill      {written.skill}, in {config.skill.path}")
    if not nights:
        splits = f"{len(tasks.train)} train, {len(tasks.val)} val, {len(tasks.test)} test"
        print(f"  tasks      {len(tasks.tasks)} ({splits}), in {config.tasks.path}")
    print(f"  target     {config.target.model}")
    print(f"  optimizer  {config.optimizer.model}")
    if nights:
        print("  nights     from your sessions of Claude Code and Codex in this repository")
        return
    per_epoch = steps_per_epoch(len(tasks.train), config.train.batch_size)
    print(
        f"  training   {config.train.epochs} epochs of {count(per_epoch, 'step')}: "
        f"{config.train.epochs * per_epoch} steps on branch skillopt/run/train-1"
    )
