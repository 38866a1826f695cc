from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.errors import ConfigError, UserError
from skillgit.store.git.names import (
    RunName,
    best_tag,
    next_run,
    notes_ref,
    parse_run,
    proposal_ref,
    run_id,
    run_of_ref,
    run_ref,
    skill_name,
)


def test_a_runs_refs():
    assert run_ref("train-1") == "refs/heads/skillopt/run/train-1"
    assert proposal_ref("train-1") == "refs/heads/skillopt/train-1"
    assert notes_ref("train-1") == "refs/notes/skillopt"
    assert notes_ref("night-1") == "refs/notes/skillopt-night"
    assert best_tag() == "refs/tags/skillopt/best"
    assert best_tag("brief") == "refs/tags/skillopt/brief/best"


@pytest.mark.parametrize("name", ["train-0", "train-01", "train", "Train-1", "train-1 ", "../x-1"])
def test_what_names_no_run_is_said(name):
    with pytest.raises(UserError, match="names no run"):
        parse_run(name)


@pytest.mark.parametrize(
    ("ref", "name"),
    [
        ("refs/heads/skillopt/run/train-12", "train-12"),
        ("refs/heads/skillopt/night-7", "night-7"),
        ("refs/remotes/origin/skillopt/run/train-3", "train-3"),
        ("refs/remotes/team/fork/skillopt/night-3", "night-3"),
        ("refs/heads/skillopt/run/train-x", None),
        ("refs/heads/train-3", None),
        ("refs/tags/skillopt/train-3", None),
        ("refs/heads/skillopt/run/train-3/more", None),
    ],
)
def test_the_run_that_a_ref_is_of(ref, name):
    found = run_of_ref(ref)
    assert (None if found is None else str(found)) == name


def test_the_next_number_is_above_the_highest_of_its_kind():
    used = [RunName(kind="train", number=n) for n in (1, 9, 3)]
    assert str(next_run("train", used)) == "train-10"
    assert str(next_run("night", used)) == "night-1"


def test_a_run_id_is_12_hex_of_where_and_when_it_began():
    at = datetime(2026, 3, 1, tzinfo=UTC)
    one = run_id("b" * 40, "f" * 16, "Ada <ada@example.org>", at, "train-1")
    assert re.fullmatch("[0-9a-f]{12}", one)
    assert one == run_id("b" * 40, "f" * 16, "Ada <ada@example.org>", at, "train-1")
    assert one != run_id("b" * 40, "f" * 16, "Bob <bob@example.org>", at, "train-1")
    assert one != run_id("b" * 40, "f" * 16, "Ada <ada@example.org>", at, "train-2")


@pytest.mark.parametrize(
    ("given_name", "folded"),
    [
        ("brief", "brief"),
        ("Brief Writer", "brief-writer"),
        ("  Über/Größe__x ", "uber-groe-x"),
        ("a" * 39 + " b", "a" * 39),
        ("--x--", "x"),
    ],
)
def test_a_skills_name_is_folded(given_name, folded):
    assert skill_name(given_name) == folded


def test_the_first_name_that_can_stand_in_a_ref_is_taken():
    assert skill_name(None, "简报", None, "brief") == "brief"


@pytest.mark.parametrize("name", ["best", "Run", "sleep!", "", "简报"])
def test_a_name_that_refs_need_or_cannot_have_is_refused(name):
    with pytest.raises(ConfigError):
        skill_name(name)


@given(st.text())
def test_every_name_is_refused_or_fits(name):
    try:
        folded = skill_name(name)
    except ConfigError:
        return
    assert re.fullmatch("[a-z0-9-]{1,40}", folded)
