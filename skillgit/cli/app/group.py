"""The top of the command line: which commands there are, and the options before them.

A command is one module in `commands/` with a `command` in it, and one line in `COMMANDS`.
"""

from __future__ import annotations

import importlib
from pathlib import Path

import click
from typing_extensions import override

from skillgit import __version__
from skillgit.cli.app.completion import complete_names
from skillgit.cli.app.invocation import Invocation

COMMANDS: dict[str, str] = {
    "demo": "Make a repository to play with, trained by a simulated model",
    "init": "Write skillgit.toml after checking the skill and the tasks",
    "tasks": "Show what was read from the task files, and what is wrong with it",
    "trust": "Agree to where skillgit.toml may send a key",
    "train": "Train the skill; go on where an unfinished run stopped",
    "log": "Show a run as a table, a step a line",
    "show": "Show one version: its diff, its edits and why, its scores",
    "blame": "Show for each line which step brought it, and what asked for it",
    "eval": "Score any version, or compare two; nothing known is measured again",
    "aa": "Measure how noisy the score of one version is",
    "status": "Show the runs, the best skill, and what to do next",
    "doctor": "Look whether all is in order, and say what to do",
    "adopt": "Bring a run's proposal into the branch it was made for",
    "undo": "Take back the last adopt",
    "sleep": "Learn from your agent sessions over night, and propose a branch",
    "reject": "Turn a proposal down, with a reason that later nights read",
    "harvest": "Find tasks in what you told your agents",
    "propose": "Push a proposal and open its pull request",
    "verify": "Check that a proposal keeps what it claims; for CI",
    "sync": "Exchange notes and trainings with a remote",
    "hooks": "Install git hooks beside what is there, or take them away",
    "forget": "Show what the private folder holds, and let go of it",
    "completion": "Print the script that completes words in bash, zsh or fish",
    "simulate": "Serve the simulated model on loopback",
    "help": "Show the help of a command",
    "hook": "What the installed hooks call",
}
HIDDEN = frozenset(("hook",))


class LazyGroup(click.Group):
    """A group that imports a command's module only when that command is called."""

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order of `COMMANDS`: the order in which one meets them."""
        return [name for name in COMMANDS if name not in HIDDEN]

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now, or `None` when there is none of this name."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"skillgit.cli.commands.{cmd_name}")
        command: click.Command = module.command
        command.name = cmd_name
        command.short_help = COMMANDS[cmd_name]
        complete_names(command)
        return command

    @override
    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name]) for name in self.list_commands(ctx)])


def _change_directory(ctx: click.Context, _: click.Parameter, value: tuple[str, ...]) -> None:
    invocation = ctx.ensure_object(Invocation)
    for directory in value:
        invocation.enter(Path(directory))


@click.group(
    cls=LazyGroup,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)
@click.option(
    "-C",
    "directory",
    metavar="DIR",
    multiple=True,
    expose_value=False,
    is_eager=True,
    callback=_change_directory,
    help="Run as if started in DIR, as in git.",
)
@click.version_option(__version__, prog_name="skillgit", message="%(prog)s %(version)s")
def root() -> None:
    """Train an agent's skill document like a network's weights, with git as the
    only store. Every version is a commit; the best one is a tag."""
