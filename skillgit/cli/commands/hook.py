"""`skillgit hook`: what the installed hooks call. Only a refusal ends with an error."""

from __future__ import annotations

import click

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.hooks.scripts import HOOKS, HookRefusedError
from skillgit.cli.show.output import say
from skillgit.errors import SkillgitError


@click.command(hidden=True)
@click.argument("name", type=click.Choice(HOOKS))
@click.argument("words", metavar="[ARGUMENT]...", nargs=-1, type=click.UNPROCESSED)
@click.pass_obj
def command(invocation: Invocation, *, name: str, words: tuple[str, ...]) -> None:
    """Do what a git hook of this name is for; git's own arguments follow."""
    try:
        _run(invocation, name, words)
    except HookRefusedError:
        raise
    except SkillgitError as error:
        say(f"skillgit: {name} looked at nothing: {error.message}")


def _run(invocation: Invocation, name: str, words: tuple[str, ...]) -> None:
    if name == "pre-commit":
        from skillgit.cli.hooks.pre_commit import pre_commit

        pre_commit(invocation)
    elif name == "pre-push":
        from skillgit.cli.hooks.pre_push import pre_push

        remote = words[0] if words else invocation.environ.get("PRE_COMMIT_REMOTE_NAME", "origin")
        pre_push(invocation, remote)
    else:
        from skillgit.cli.hooks.post_merge import post_merge

        post_merge(invocation, squashed=words[:1] == ("1",))
