"""`skillgit init`: write skillgit.toml, after everything that can be checked was checked."""

from __future__ import annotations

import click

from skillgit.cli.invocation import Invocation
from skillgit.cli.next_steps import commands_before_training
from skillgit.cli.output import count, print_commands
from skillgit.cli.setup import OPTIMIZER, TARGET, Choices, Written, set_up
from skillgit.config import CONFIG_FILE, Provider
from skillgit.schedule import steps_per_epoch

PROVIDERS = click.Choice([Provider.OPENAI.value, Provider.SIMULATED.value])


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
def command(invocation: Invocation, /, *, skill: str, provider: str, **chosen: str | None) -> None:
    """Write skillgit.toml for the skill in the file (or folder) SKILL.

    Checks the skill and the tasks first, commits nothing, overwrites nothing,
    and says what to type next. Without --tasks it looks for a task file.
    """
    written = set_up(invocation, Choices(skill=skill, provider=Provider(provider), **chosen))
    _report(written)
    print_commands(commands_before_training(invocation, written.tree, written.config))


def _report(written: Written) -> None:
    config, tasks = written.config, written.tasks
    per_epoch = steps_per_epoch(len(tasks.train), config.train.batch_size)
    steps = per_epoch * config.train.epochs
    splits = f"{len(tasks.train)} train, {len(tasks.val)} val, {len(tasks.test)} test"
    print(f"Wrote {CONFIG_FILE}")
    print(f"  skill      {written.skill}, in {config.skill.path}")
    print(f"  tasks      {len(tasks.tasks)} ({splits}), in {config.tasks.path}")
    print(f"  target     {config.target.model}")
    print(f"  optimizer  {config.optimizer.model}")
    print(
        f"  training   {config.train.epochs} epochs of {count(per_epoch, 'step')}: "
        f"{steps} steps on branch skillopt/run/train-1"
    )
