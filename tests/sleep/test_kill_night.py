"""Killed anywhere, and slept again: the same end as of the night that was never killed."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from night_projects import House, asks, make_house

from skillgit.ports import Model
from skillgit.records import ModelReply, ModelRequest
from skillgit.sleep.night.plan import NightPlan, PlanFile
from skillgit.store.git.refs import Refs


class Killed(BaseException):
    """What stands for kill -9: nothing catches it."""


class Dying:
    """A model that dies at its n-th call, of all that one process makes."""

    def __init__(self, inner: Model, budget: Iterator[int], last: int) -> None:
        self._inner, self._budget, self._last = inner, budget, last

    def complete(self, request: ModelRequest) -> ModelReply:
        if next(self._budget) >= self._last:
            raise Killed
        return self._inner.complete(request)


class Counting:
    """A model that counts what is asked of it."""

    lock = threading.Lock()

    def __init__(self, inner: Model, asked: list[ModelRequest]) -> None:
        self._inner, self._asked = inner, asked

    def complete(self, request: ModelRequest) -> ModelReply:
        with self.lock:
            self._asked.append(request)
        return self._inner.complete(request)


SETTINGS = "dream_rollouts = 2\ndream_factor = 1"


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], int]:
    """The refs of a night that was never killed, and how many calls it made."""
    house = make_house(tmp_path_factory.mktemp("calm") / "repo")
    asked: list[ModelRequest] = []
    house.sleep(asks(), sleep=SETTINGS, wrap=lambda model: Counting(model, asked))
    return house.refs(), len(asked)


def sleep_until_done(house: House, die_at: int, step: int) -> tuple[int, int]:
    """Sleep with a model that dies every few calls until the night is over; kills, calls."""
    kills = calls = 0
    for last in itertools.count(die_at, step):
        asked: list[ModelRequest] = []
        budget = itertools.count()

        def wrap(model: Model, budget: Iterator[int] = budget, asked: list[ModelRequest] = asked, last: int = last) -> Model:  # fmt: skip
            return Dying(Counting(model, asked), budget, last)

        try:
            house.sleep(asks(), sleep=SETTINGS, wrap=wrap)
        except Killed:
            kills += 1
            calls += len(asked)
            continue
        return kills, calls + len(asked)
    raise AssertionError("the night never ends")


@pytest.mark.parametrize("die_at", [1, 6, 14])
def test_a_night_killed_every_few_calls_ends_as_if_never_killed(
    tmp_path: Path, undisturbed: tuple[dict[str, str], int], die_at: int
) -> None:
    house = make_house(tmp_path / "repo")
    kills, calls = sleep_until_done(house, die_at, 4)
    refs, needed = undisturbed
    assert kills > 0
    assert house.refs() == refs
    assert calls <= needed + kills * 16
    house.git("fsck", "--strict", "--no-dangling")


@pytest.mark.parametrize("after", [False, True], ids=["before the move", "after the move"])
def test_a_night_killed_at_each_move_of_a_ref_ends_as_if_never_killed(
    tmp_path: Path,
    undisturbed: tuple[dict[str, str], int],
    monkeypatch: pytest.MonkeyPatch,
    after: bool,
) -> None:
    move = Refs.move
    for number in range(40):
        house = make_house(tmp_path / f"repo{number}")
        count = itertools.count()

        def dying(self: Refs, name: str, *, old: str | None, new: str, message: str, number: int = number, count: Iterator[int] = count) -> None:  # fmt: skip
            here = old != new and next(count) == number
            if here and not after:
                raise Killed
            move(self, name, old=old, new=new, message=message)
            if here:
                raise Killed

        monkeypatch.setattr(Refs, "move", dying)
        killed = False
        try:
            house.sleep(asks(), sleep=SETTINGS)
        except Killed:
            killed = True
        monkeypatch.setattr(Refs, "move", move)
        if not killed:
            assert number > 8
            return
        done = house.state.state.night == 1
        if not done:
            house.sleep(asks(), sleep=SETTINGS)
        assert house.refs() == undisturbed[0], f"killed at move {number}"
    raise AssertionError("the night has no end of moves")


def test_a_night_begun_with_other_settings_is_left_and_the_next_is_slept(tmp_path: Path) -> None:
    house = make_house(tmp_path / "repo")
    budget = itertools.count()
    with pytest.raises(Killed):
        house.sleep(asks(), wrap=lambda model: Dying(model, budget, 5))
    outcome = house.sleep(asks(), sleep='metric = "hard"')
    assert outcome.report.night == 2
    assert outcome.report.accepted


@pytest.mark.parametrize("after", [False, True], ids=["before the plan", "after the plan"])
def test_a_night_killed_as_it_begins_is_the_same_night(
    tmp_path: Path,
    undisturbed: tuple[dict[str, str], int],
    monkeypatch: pytest.MonkeyPatch,
    after: bool,
) -> None:
    write = PlanFile.write

    def dying(self: PlanFile, plan: NightPlan) -> None:
        if after:
            write(self, plan)
        raise Killed

    house = make_house(tmp_path / "repo")
    monkeypatch.setattr(PlanFile, "write", dying)
    with pytest.raises(Killed):
        house.sleep(asks(), sleep=SETTINGS)
    monkeypatch.setattr(PlanFile, "write", write)
    assert house.sleep(asks(), sleep=SETTINGS).report.night == 1
    assert house.refs() == undisturbed[0]
