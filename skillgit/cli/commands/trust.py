"""`skillgit trust`: a person's word for what a committed config asks for."""

from __future__ import annotations

import sys

import click

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.app.worktree import worktree_at
from skillgit.cli.sessions.project import open_project
from skillgit.cli.show.output import json_option, print_json
from skillgit.config import CONFIG_FILE
from skillgit.config.trust import TrustFile
from skillgit.errors import UserError


@click.command()
@click.option("--yes", is_flag=True, help="Agree without being asked.")
@click.option("--list", "as_list", is_flag=True, help="Show what was agreed to.")
@click.option("--revoke", is_flag=True, help="Take all of it back.")
@json_option
@click.pass_obj
def command(
    invocation: Invocation, *, yes: bool, as_list: bool, revoke: bool, as_json: bool
) -> None:
    """Agree to what skillgit.toml and the tasks ask for: where keys may be
    sent, and which programs may be run.

    The files are committed, so anyone's pull request can change them. What you
    agree to is kept in the .git folder, for these very values and no others.
    """
    if sum((yes, as_list, revoke)) > 1:
        raise click.UsageError("--yes, --list and --revoke are three different things")
    if as_list or revoke:
        trusted = TrustFile(worktree_at(invocation.directory, invocation.environ).private.trust)
        if revoke:
            trusted.clear()
            print("Nothing is trusted any more.")
        else:
            _show(trusted, as_json=as_json)
        return
    _agree(invocation, yes=yes)


def _show(trusted: TrustFile, *, as_json: bool) -> None:
    entries = trusted.entries()
    for fingerprint, line in entries.items():
        if as_json:
            print_json("trusted", {"fingerprint": fingerprint, "line": line})
        else:
            print(line)
    if not entries and not as_json:
        print("Nothing has been agreed to.")


def _agree(invocation: Invocation, *, yes: bool) -> None:
    project = open_project(invocation)
    trusted = TrustFile(project.tree.private.trust)
    demands = (d for each in project.each() for d in each.untrusted(each.tasks()))
    asked = list({demand.fingerprint: demand for demand in demands}.values())
    if not asked:
        print(f"{CONFIG_FILE} asks for nothing that you have not agreed to.")
        return
    print(f"{CONFIG_FILE} asks to")
    for demand in asked:
        print(f"  {demand.line}")
    if not yes and not sys.stdin.isatty():
        raise UserError(
            "nobody is there to ask: stdin is no terminal",
            hint=f"{invocation.typed('trust', '--yes')} agrees to the above.",
        )
    if yes or click.confirm("Agree?"):
        trusted.add(asked)
        print("Agreed.")
    else:
        print("Nothing was changed.")
