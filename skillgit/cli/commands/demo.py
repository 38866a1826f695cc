"""`skillgit demo`: a repository to play with, made and trained without a key or a network."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import click

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.app.worktree import Worktree, worktree_at
from skillgit.cli.commands.train import run_training
from skillgit.cli.init.setup import Choices, set_up
from skillgit.cli.sessions.training import TrainOptions
from skillgit.cli.show.conclusion import print_conclusion
from skillgit.cli.show.output import print_commands, say
from skillgit.config import CONFIG_FILE
from skillgit.errors import UserError
from skillgit.store.git.git_cli import GitCli

SKILL = "skills/field-notes/SKILL.md"
TASKS = "tasks/field-notes.jsonl"
SOURCES = {SKILL: "SKILL.md", TASKS: "tasks.jsonl"}
IDENTITY = {"user.name": "Skillgit Demo", "user.email": "demo@localhost"}

# The demo must not stop at a passphrase, or run what a template put there.
_PLAIN = ("-c", "commit.gpgSign=false", "-c", "core.hooksPath=/dev/null")


@click.command()
@click.argument("folder", metavar="[DIR]", default="skillgit-demo")
@click.pass_obj
def command(invocation: Invocation, *, folder: str) -> None:
    """Make a repository in DIR and train its skill with the simulated model.

    It is a simulation: no key, no network, no real model. DIR is
    skillgit-demo when it is not given, and has to be empty or new.
    """
    root = invocation.path(folder)
    _refuse_used(root, folder)
    tree = _make_repository(invocation, root)
    invocation.enter(Path(folder))
    say(f"{folder}: a repository with a skill, 72 tasks, and a simulated model")
    set_up(invocation, Choices(SKILL, tasks=TASKS, provider="simulated"))
    _commit(tree, "Set up skillgit", CONFIG_FILE)
    print_conclusion(run_training(invocation, TrainOptions()))
    print(f"\n$ {invocation.typed_git('log', '--oneline', 'skillopt/best')}")
    print(tree.git.checked("log", "--oneline", "--no-decorate", "skillopt/best").text)
    print_commands(
        [
            invocation.typed_git("diff", "main...skillopt/train-1"),
            invocation.typed("show", "best"),
            invocation.typed("adopt", "train-1"),
        ],
        title="Try next:",
    )


def _refuse_used(root: Path, folder: str) -> None:
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise UserError(
            f"{folder} is already there and not empty",
            hint="Name another folder: skillgit demo DIR",
        )


def _make_repository(invocation: Invocation, root: Path) -> Worktree:
    root.mkdir(parents=True, exist_ok=True)
    git = GitCli(root, invocation.environ)
    git.checked("init", "--quiet", "--initial-branch=main")
    git.checked("config", "skillgit.sign", "false")
    tree = worktree_at(root, invocation.environ)
    if not tree.has_identity():
        for name, value in IDENTITY.items():
            git.checked("config", name, value)
    for path, source in SOURCES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes((files("skillgit") / "demo_data" / source).read_bytes())
    _commit(tree, "Add the skill and its tasks", *SOURCES)
    return tree


def _commit(tree: Worktree, message: str, *paths: str) -> None:
    tree.git.checked("add", "--", *paths)
    tree.git.checked(*_PLAIN, "commit", "--quiet", "-m", message)
