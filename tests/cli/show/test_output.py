from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.cli.show.output import (
    amount,
    count,
    fit,
    number,
    one_line,
    print_table,
    printable,
    width_of,
)

ROWS = [("train-1@1", "a"), ("a-very-long-name-of-a-task-that-someone-gave", "b " * 60)]


def test_a_table_in_a_pipe_keeps_every_name_whole(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("task", "text"), ROWS)
    out = capsys.readouterr().out
    assert ROWS[1][0] in out
    assert ("b " * 60).strip() in out
    assert "\x1b" not in out


def test_columns_stand_under_each_other_whatever_their_letters(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_table(("name", "n", ""), [("漢字", "1", "x"), ("ab", "22", "y")], right=frozenset((1,)))
    lines = capsys.readouterr().out.splitlines()
    assert [
        width_of(line[: line.index(last)]) for line, last in zip(lines[1:], "xy", strict=True)
    ] == [10, 10]


@given(st.text(max_size=200), st.integers(min_value=2, max_value=100))
def test_a_fitted_line_is_never_wider_than_its_limit(text: str, limit: int) -> None:
    line = one_line(text)
    assert width_of(fit(line, limit)) <= max(limit, 1)
    assert fit(line, None) == line


def test_what_steers_a_terminal_is_never_printed() -> None:
    assert printable("a\x1b[31mb\x07\x9bc\td") == "a�[31mb��c\td"
    assert one_line("a\r\n  b\tc ") == "a b c"


def test_numbers_are_for_people() -> None:
    assert [number(0.625), number(None), number(0.5, bound=True)] == ["0.6250", "-", "<=0.5000"]
    assert [amount(940), amount(12_400), amount(3_100_000)] == ["940", "12.4k", "3.1M"]
    assert [count(1, "step"), count(2, "edit")] == ["1 step", "2 edits"]
