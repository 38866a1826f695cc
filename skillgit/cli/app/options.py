"""Options that several commands share. Nothing else: a command that only reads starts quickly."""

from __future__ import annotations

import click

skill_option = click.option(
    "--skill", metavar="NAME", help="Which of several skills.  [default: the first]"
)
"""Which of several skills a command is about."""
