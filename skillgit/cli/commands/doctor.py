"""`skillgit doctor`: whether all is in order, and what to do about what is not."""

from __future__ import annotations

import re
from collections import Counter

import click

from skillgit.cli.app.crash import secrets_of, without_secrets
from skillgit.cli.app.invocation import Invocation
from skillgit.cli.doctor.checkup import checkup
from skillgit.cli.doctor.rows import DoctorContext, DoctorRow, State
from skillgit.cli.show.output import json_option, print_json, printable

_NAME = 20
_QUERY = re.compile(r"(?<=[^\s?])\?\S+=\S*")
"""A URL's query: some servers take their keys there."""


@click.command()
@click.option("--offline", is_flag=True, help="Ask no model.")
@click.option("--transcripts", is_flag=True, help="Read your agents' transcripts as well.")
@json_option
@click.pass_context
def command(context: click.Context, *, offline: bool, transcripts: bool, as_json: bool) -> None:
    """Look at everything that a training stands on, and say what to do.

    Each row is ok, warn (worth a look) or bad (in the way). Models are asked
    for one word each, unless --offline; no program is run. Changes nothing.
    Exits with 1 when a row is bad.
    """
    invocation = context.ensure_object(Invocation)
    states: Counter[State] = Counter()
    opened = DoctorContext(invocation=invocation, offline=offline, transcripts=transcripts)
    for found in checkup(opened):
        row = _safe(found, invocation)
        states[row.state] += 1
        if as_json:
            print_json("check", row.model_dump(mode="json"))
        else:
            _print(row)
    if as_json:
        print_json("doctor", {state.value: states[state] for state in State})
    else:
        counted = ", ".join(f"{states[state]} {state.value}" for state in State)
        print(f"\n{counted}")
    context.exit(1 if states[State.BAD] else 0)


def _safe(row: DoctorRow, invocation: Invocation) -> DoctorRow:
    """The row as it may be shown: without any key, wherever it may have come from."""

    def safe(text: str) -> str:
        return _QUERY.sub("?[redacted]", without_secrets(text, secrets_of(invocation)))

    return row.model_copy(update={"says": safe(row.says), "do": safe(row.do)})


def _print(row: DoctorRow) -> None:
    print(f"{row.state.value:<5} {row.name:<{_NAME}} {printable(row.says)}")
    for line in row.do.splitlines():
        print(f"{'':<5} {'':<{_NAME}} > {printable(line)}")
