from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.errors import ConfigError
from skillgit.store.git.names import (
    best_tag,
    notes_ref,
    proposal_ref,
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
