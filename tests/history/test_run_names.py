from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from skillgit.errors import UserError
from skillgit.history.run_names import RunName, next_run, parse_run, run_id_of


@pytest.mark.parametrize("name", ["train-0", "train-01", "train", "Train-1", "train-1 ", "../x-1"])
def test_what_names_no_run_is_said(name):
    with pytest.raises(UserError, match="names no run"):
        parse_run(name)


def test_the_next_number_is_above_the_highest_of_its_kind():
    used = [RunName(kind="train", number=n) for n in (1, 9, 3)]
    assert str(next_run("train", used)) == "train-10"
    assert str(next_run("night", used)) == "night-1"


def test_a_run_id_is_12_hex_of_where_and_when_it_began():
    at = datetime(2026, 3, 1, tzinfo=UTC)
    one = run_id_of("b" * 40, "f" * 16, "Ada <ada@example.org>", at, "train-1")
    assert re.fullmatch("[0-9a-f]{12}", one)
    assert one == run_id_of("b" * 40, "f" * 16, "Ada <ada@example.org>", at, "train-1")
    assert one != run_id_of("b" * 40, "f" * 16, "Bob <bob@example.org>", at, "train-1")
    assert one != run_id_of("b" * 40, "f" * 16, "Ada <ada@example.org>", at, "train-2")
