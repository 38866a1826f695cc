"""How results are printed: tables that stay readable in a pipe, and JSON, one object a line.

The tables are laid out here, not by rich: it takes two seconds for the rows of a long run.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

JSON_VERSION = 1
GAP = "  "

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

CommandT = TypeVar("CommandT", bound=Callable[..., object])


def json_option(command: CommandT) -> CommandT:
    """The option `--json`, the same on every command that reports."""
    option = click.option("--json", "as_json", is_flag=True, help="Print JSON, an object a line.")
    return option(command)


def print_json(kind: str, fields: Mapping[str, Any]) -> None:
    """Print one object: its version, what it is, and its fields."""
    print(json.dumps({"version": JSON_VERSION, "kind": kind, **fields}, ensure_ascii=False))


def printable(text: str) -> str:
    """The text without control characters: what a model wrote must not steer a terminal."""
    return _CONTROL.sub("�", text)


def one_line(text: str) -> str:
    """The text on one line."""
    return printable(" ".join(text.split()))


def number(value: float | None, *, bound: bool = False) -> str:
    """A score for people: four digits, and `-` when it was not measured."""
    if value is None:
        return "-"
    return f"{'<=' if bound else ''}{value:.4f}"


def amount(value: int) -> str:
    """A count for people, short: 940, 12.4k, 3.1M."""
    if value < 1_000:
        return str(value)
    if value < 1_000_000:
        return f"{value / 1_000:.1f}k"
    return f"{value / 1_000_000:.1f}M"


def file_size(size: int) -> str:
    """A size for people: 940 bytes, 12 kB, 3 MB. Unit: bytes."""
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size = round(size / 1000)
    return f"{size} GB"


def count(n: int, noun: str) -> str:
    """A number with its noun: 1 step, 2 steps."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def some_of(names: Sequence[str], most: int) -> str:
    """The first names, the rest counted."""
    shown = ", ".join(printable(name) for name in names[:most])
    more = len(names) - most
    return f"{shown} and {more} more" if more > 0 else shown


def width_of(text: str) -> int:
    """How many cells of a terminal the text takes."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) != 0 for c in text)


def terminal_width() -> int | None:
    """The columns of the terminal that stdout is; `None` when it is none."""
    if not sys.stdout.isatty():
        return None
    return shutil.get_terminal_size().columns


def print_table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: frozenset[int] = frozenset(),
    indent: str = "",
) -> None:
    """Print rows under their heads, the columns in `right` flush right.

    On a terminal the last column is cut to fit; in a pipe nothing is.
    """
    widths = [max(map(width_of, column)) for column in zip(head, *rows, strict=True)]
    widths[-1] = 0
    columns = [(width, i in right) for i, width in enumerate(widths)]
    limit = terminal_width()
    for row in [head, *rows]:
        cells = [_cell(text, *column) for text, column in zip(row, columns, strict=True)]
        sys.stdout.write(fit(indent + GAP.join(cells).rstrip(), limit) + "\n")


def _cell(text: str, width: int, flush_right: bool) -> str:  # noqa: FBT001 - a column's layout
    if not text.isascii():
        width += len(text) - width_of(text)
    return text.rjust(width) if flush_right else text.ljust(width)


def fit(line: str, limit: int | None) -> str:
    """The line cut to a terminal's width, the cut marked; whole where there is no terminal."""
    if limit is None or width_of(line) <= limit:
        return line
    kept = line[: limit - 1]
    while width_of(kept) > limit - 1:
        kept = kept[:-1]
    return kept.rstrip() + "…"


def print_commands(commands: Sequence[str], *, title: str = "Next:") -> None:
    """Print commands to type, each on a line of its own so that it can be copied."""
    print(f"\n{title}")
    for command in commands:
        print(f"  {command}")


def say(text: str) -> None:
    """Say something beside the results: on stderr."""
    print(text, file=sys.stderr, flush=True)
