"""The man page, made from the help of the commands: `make docs` writes it, a test compares it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from pathlib import Path

import click

from skillgit import __version__
from skillgit.cli.app.reference import EXIT_CODES, contexts

MAN_PAGE: Path = Path("docs/man/skillgit.1")

_TOP = """\
.\\" Made by `make docs`; edits here are lost.
.TH SKILLGIT 1 "" "skillgit {version}" "skillgit"
.SH NAME
skillgit, git\\-skillgit \\- train an agent's skill document, with git as the only store
.SH SYNOPSIS
.B skillgit
.RI [ options ] " command " [ arguments ]
.br
.B git skillgit
.RI [ options ] " command " [ arguments ]"""
_FILES = (
    ("skillgit.toml", "At the repository's root, committed: the skill, the tasks, the models."),
    ("refs/heads/skillopt/run/<run>", "A run: every step a commit, what was tried included."),
    ("refs/heads/skillopt/<run>", "Its proposal, ready to merge."),
    ("refs/tags/skillopt/best", "The best version of the skill."),
    ("refs/notes/skillopt", "What was measured, why an edit was made, what was rejected."),
    ("<git dir>/skillgit/", "What is never committed: the journal of paid calls, trust, locks."),
)
_SEE_ALSO = ".BR git (1), gitrevisions (7), githooks (5)"


def man_page() -> str:
    """docs/man/skillgit.1: every command with its options, for `man` and `git help`."""
    first, *rest = contexts()
    parts = [_TOP.format(version=_plain(__version__)), ".SH DESCRIPTION", _prose(first.command)]
    parts += [".SH OPTIONS", *_options(first), ".SH COMMANDS"]
    for context in rest:
        if not isinstance(context.command, click.Group):
            parts += [f".SS {_plain(_synopsis(context))}", _prose(context.command)]
            parts += _options(context)
    parts += [".SH EXIT STATUS", *_items((str(n), words) for n, words in EXIT_CODES.items())]
    parts += [".SH FILES", *_items(_FILES), ".SH SEE ALSO", _SEE_ALSO]
    return "\n".join(parts) + "\n"


def _synopsis(context: click.Context) -> str:
    pieces = context.command.collect_usage_pieces(context)
    return " ".join([context.command_path, *pieces])


def _prose(command: click.Command) -> str:
    """The help's paragraphs, those with a line break mark as they stand."""
    paragraphs = re.split(r"\n\s*\n", inspect.cleandoc(command.help or ""))
    return "\n.PP\n".join(map(_paragraph, paragraphs))


def _paragraph(text: str) -> str:
    if text.startswith("\b"):
        return f".nf\n{_plain(text.partition(chr(10))[2])}\n.fi"
    return _plain(" ".join(text.split()))


def _options(context: click.Context) -> list[str]:
    options = [p for p in context.command.get_params(context) if isinstance(p, click.Option)]
    records = (option.get_help_record(context) for option in options)
    return _items(record for record in records if record is not None)


def _items(pairs: Iterable[tuple[str, str]]) -> list[str]:
    return [f".TP\n.B {_plain(term)}\n{_plain(' '.join(words.split()))}" for term, words in pairs]


def _plain(text: str) -> str:
    """The text as roff that shows it: nothing in it is a request or an escape."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("…", "...")
    return re.sub(r"^(?=[.'])", r"\\&", escaped, flags=re.MULTILINE)
