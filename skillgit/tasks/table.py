"""Tasks in a table: CSV with commas or semicolons, or tab-separated, with named columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from skillgit.records import Split
from skillgit.tasks.source import TaskRow, TaskSource
from skillgit.tasks.strict_json import JsonValue, parse_json, whole_characters

ENDINGS = (".csv", ".tsv")
STRUCTURED = frozenset({"turns", "tools", "judge", "choices", "options", "answers", "references"})
"""Columns whose cells may hold JSON."""


def file_rows(source: TaskSource, file: str, text: str, split: Split | None) -> Iterator[TaskRow]:
    """The rows of one table; the first line names the columns."""
    table = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(file, text), strict=True)
    header: list[str] = []
    line = 1
    try:
        for cells in table:
            place, line = f"{file}:{line}", table.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            if not header:
                header = [cell.strip() for cell in cells]
                _check_header(source, place, header)
            elif len(cells) > len(header):
                problem = f"has {len(cells)} cells, and there are {len(header)} columns"
                source.problems.add(place, problem)
            else:
                yield from _row(source, place, header, cells, split)
    except csv.Error as error:
        source.problems.add(f"{file}:{line}", f"is no table from here on: {error}")


def _delimiter(file: str, text: str) -> str:
    if file.lower().endswith(".tsv"):
        return "\t"
    first = text.lstrip().split("\n", 1)[0]
    return max(",;\t", key=lambda mark: (first.count(mark), mark == ","))


def _check_header(source: TaskSource, place: str, header: Sequence[str]) -> None:
    twice = sorted({name for name in header if name and header.count(name) > 1})
    if twice:
        source.problems.add(place, f"the column {twice[0]!r} stands twice")


def _row(
    source: TaskSource, place: str, header: Sequence[str], cells: Sequence[str], split: Split | None
) -> Iterator[TaskRow]:
    fields: dict[str, JsonValue] = {}
    for name, cell in zip(header, cells, strict=False):
        try:
            fields[name] = _value(name, cell)
        except ValueError as error:
            source.problems.add(place, f"column {name!r}: {error}")
            return
    yield TaskRow(place, fields, split)


def _value(name: str, cell: str) -> JsonValue:
    if name in STRUCTURED and cell.lstrip().startswith(("[", "{")):
        return parse_json(cell)
    return str(whole_characters(cell))
