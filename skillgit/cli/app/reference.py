"""The reference pages, made from the program itself: `make docs` writes them, and the man page.

A test compares them with what is in docs/reference.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterable, Iterator
from enum import Enum
from itertools import chain
from pathlib import Path
from types import ModuleType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import annotated_types
import click
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from skillgit import __version__, config
from skillgit.cli.app.group import root
from skillgit.cli.app.invocation import Invocation
from skillgit.errors import ExitCode
from skillgit.gate import RULES

PAGES = Path("docs/reference")
_GENERATED = "<!-- Made by `python -m skillgit.cli.app.reference`; edits here are lost. -->"
_ABOUT_CONFIG = """\
The file stands at the repository's root and is committed. Every key changes behaviour; an unknown
one is an error. `skillgit init` writes the first version."""
_STREAMS = (
    "Errors go to stderr as `error: …`, what to do about them as `hint: …`. "
    "Only results go to stdout.\n"
)


def cli_page() -> str:
    """docs/reference/cli.md: the help of every command."""
    parts = ["# Command line", _GENERATED]
    parts += [f"## {c.command_path}\n\n```\n{c.get_help()}\n```" for c in contexts()]
    rows = [f"| {code.value} | {code.meaning} |" for code in ExitCode]
    table = "\n".join(["| code | meaning |", "|---|---|", *rows])
    return "\n\n".join([*parts, "## Exit codes", table, _STREAMS])


def contexts() -> Iterator[click.Context]:
    """Every command that is shown, the program itself first and subcommands after theirs."""
    yield from _below(_context("skillgit", root, None))


def _below(context: click.Context) -> Iterator[click.Context]:
    yield context
    group = context.command
    if isinstance(group, click.Group):
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if command is not None:
                yield from _below(_context(name, command, context))


def config_page() -> str:
    """docs/reference/config.md: every key of skillgit.toml."""
    docs = attribute_docs(config)
    parts = [
        "# skillgit.toml",
        _GENERATED,
        _ABOUT_CONFIG,
    ]
    for name, field in config.Config.model_fields.items():
        parts.extend(_section(name, field, docs))
    return "\n\n".join(parts) + "\n"


def attribute_docs(package: ModuleType) -> dict[tuple[str, str], str]:
    """The docstrings under the attributes of a package's classes, by class and attribute."""
    found: dict[tuple[str, str], str] = {}
    files = sorted(Path(package.__path__[0]).glob("*.py"))
    for owner in chain.from_iterable(ast.parse(file.read_text("utf-8")).body for file in files):
        if not isinstance(owner, ast.ClassDef):
            continue
        for field, text in zip(owner.body, owner.body[1:], strict=False):
            if (
                isinstance(field, ast.AnnAssign)
                and isinstance(field.target, ast.Name)
                and isinstance(text, ast.Expr)
                and isinstance(text.value, ast.Constant)
            ):
                found[owner.name, field.target.id] = inspect.cleandoc(str(text.value.value))
    return found


def _context(name: str, command: click.Command, parent: click.Context | None) -> click.Context:
    return click.Context(
        command,
        info_name=name,
        parent=parent,
        obj=Invocation({}, Path()),
        terminal_width=80,
        **command.context_settings,
    )


def _section(name: str, field: FieldInfo, docs: dict[tuple[str, str], str]) -> list[str]:
    (record,) = _records(field.annotation)
    needed = " (required)" if field.is_required() else ""
    rows = ["| key | value | default | meaning |", "|---|---|---|---|"]
    rows += _rows(record, docs, prefix="")
    summary = inspect.cleandoc(record.__doc__ or "").partition("\n")[0]
    return [f"## [{name}]{needed}", summary, "\n".join(rows)]


def _rows(record: type[BaseModel], docs: dict[tuple[str, str], str], *, prefix: str) -> list[str]:
    rows: list[str] = []
    for key, field in record.model_fields.items():
        nested = _records(field.annotation)
        if nested:
            rows += _rows(nested[0], docs, prefix=f"{prefix}{key}.")
            continue
        meaning = " ".join(_meaning(record, key, docs).split())
        value = _type(field)
        if key == "provider" and issubclass(record, config.ModelConfig):
            value = ", ".join(f'`"{name}"`' for name in config.PROVIDERS)
        cells = (f"`{prefix}{key}`", value, _default(field), meaning)
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return rows


def _meaning(record: type[BaseModel], key: str, docs: dict[tuple[str, str], str]) -> str:
    """What a key means; of one that is inherited, the docstring of the class that has it."""
    owners = (owner.__name__ for owner in record.__mro__)
    text = next((docs[name, key] for name in owners if (name, key) in docs), "")
    if key == "rule" and issubclass(record, config.GateConfig):
        return f"{text.removesuffix('.')}: {'; '.join(rule.summary for rule in RULES.values())}."
    return text


def _records(annotation: Any) -> list[type[BaseModel]]:
    options = [annotation, *get_args(annotation)]
    return [o for o in options if isinstance(o, type) and issubclass(o, BaseModel)]


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.default
    if value is None or value == ():
        return ""
    if isinstance(value, tuple):
        value = list(value)
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f'`"{value}"`' if isinstance(value, str) else f"`{value}`"


def _type(field: FieldInfo) -> str:
    return f"{_name(field.annotation)}{_bounds(field.metadata)}"


def _name(annotation: Any) -> str:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _name(arguments[0]) + _bounds(_metadata(arguments[1:]))
    if origin in (Union, UnionType):
        return ", ".join(_name(a) for a in arguments if a is not type(None))
    if origin is Literal:
        return ", ".join(f'`"{a}"`' for a in arguments)
    if origin is tuple:
        if arguments[-1] is Ellipsis:
            return f"list of {_name(arguments[0])}"
        return f"{len(arguments)} {_name(arguments[0])}s"
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return ", ".join(f'`"{member.value}"`' for member in annotation)
    names = {str: "text", int: "whole number", float: "number", bool: "`true` or `false`"}
    return names.get(annotation, str(annotation))


def _metadata(items: tuple[Any, ...]) -> list[Any]:
    return [m for item in items for m in (item.metadata if isinstance(item, FieldInfo) else [item])]


def _bounds(metadata: list[Any]) -> str:
    words = {
        annotated_types.Ge: ("≥", "ge"),
        annotated_types.Gt: (">", "gt"),
        annotated_types.Le: ("≤", "le"),
        annotated_types.Lt: ("<", "lt"),
    }
    found = [
        f"{sign} {getattr(item, attribute):g}"
        for item in metadata
        for kind, (sign, attribute) in words.items()
        if isinstance(item, kind)
    ]
    return f", {' and '.join(found)}" if found else ""


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
    parts += [".SH EXIT STATUS", *_items((str(code.value), code.meaning) for code in ExitCode)]
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


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else PAGES
    (folder / "cli.md").write_text(cli_page(), encoding="utf-8")
    (folder / "config.md").write_text(config_page(), encoding="utf-8")
    MAN_PAGE.write_text(man_page(), encoding="utf-8")
