"""`skillgit forget`: what the private folder holds, and letting go of it."""

from __future__ import annotations

import sys

import click

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.sessions.forget import ANSWERS, SESSIONS, TEXTS, PrivateData, StoredData
from skillgit.cli.show.output import (
    file_size,
    json_option,
    print_commands,
    print_json,
    print_table,
    say,
)
from skillgit.errors import UserError
from skillgit.store.git.repository import open_repository


@click.command()
@click.option("--answers", is_flag=True, help="Models' answers in runs that have ended.")
@click.option("--sessions", is_flag=True, help="What was read of your agent sessions.")
@click.option("--texts", is_flag=True, help="Texts of pull requests, logs and traces.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@click.pass_obj
def command(
    invocation: Invocation,
    *,
    answers: bool,
    sessions: bool,
    texts: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Show what the private folder holds, or let go of some of it for good.

    Nothing of it is in git. Scores and evidence are in the notes, so nothing
    that has ended is paid for again; an eval that was stopped begins anew.
    What an unfinished run or night needs is kept. Refs and notes of nights
    stay: the how-to on nights says how those go.
    """
    private_data = PrivateData(open_repository(invocation.directory), invocation)
    flags = {ANSWERS: answers, SESSIONS: sessions, TEXTS: texts}
    kinds = [kind for kind, is_wanted in flags.items() if is_wanted]
    stored = private_data.stored()
    meant = [data for data in stored if data.kind in kinds and data.size]
    if not kinds:
        _show(stored, invocation, as_json=as_json)
        return
    private_data.refuse_needed(kinds)
    if meant and not yes:
        _ask(meant, invocation, kinds)
    for kind in kinds:
        private_data.forget(kind)
    if as_json:
        for data in meant:
            print_json("forgotten", {"what": data.kind, "bytes": data.size})
        return
    freed = sum(data.size for data in meant)
    print(f"{file_size(freed)} forgotten" if freed else "there was nothing to forget")


def _show(stored: list[StoredData], invocation: Invocation, *, as_json: bool) -> None:
    if as_json:
        for data in stored:
            fields = {"what": data.kind, "bytes": data.size, "kept": data.kept}
            print_json("holding", fields)
        return
    rows = [
        (
            data.kind,
            file_size(data.size),
            data.about + (f" (kept: {data.kept})" if data.kept else ""),
        )
        for data in stored
    ]
    print_table(("what", "size", "of"), rows, right=frozenset((1,)))
    flags = [f"--{data.kind}" for data in stored if data.size]
    if flags:
        print_commands([invocation.typed("forget", flag) for flag in flags], title="To forget it:")


def _ask(meant: list[StoredData], invocation: Invocation, kinds: list[str]) -> None:
    """Nothing, if the person agrees.

    Raises: UserError when nobody does.
    """
    for data in meant:
        say(f"{data.kind}, {file_size(data.size)}: {data.about}")
    if not sys.stdin.isatty():
        again = invocation.typed("forget", *(f"--{kind}" for kind in kinds), "--yes")
        raise UserError("nobody is there to agree", hint=f"{again} does not ask.")
    if not click.confirm("Forget it for good?", err=True):
        raise UserError("nothing was forgotten")
