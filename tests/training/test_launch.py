from __future__ import annotations

import pytest

from skillgit.errors import UserError
from skillgit.training.identity import Identity, differences
from skillgit.training.resume import KnownRun, Launch, choose_run

IDENTITY: Identity = {"gate": {"metric": "hard"}, "target": {"model": "small"}, "skill": "aa"}


def known(*, ended: bool, base: str = "b1", epochs: int = 4) -> KnownRun:
    return KnownRun(name="train-3", base=base, ended=ended, identity=IDENTITY, epochs=epochs)


def choose(
    newest: KnownRun | None,
    *,
    identity: Identity = IDENTITY,
    epochs: int = 4,
    new: bool = False,
    base: str = "b1",
) -> Launch:
    return choose_run(newest, base=base, identity=identity, epochs=epochs, new=new)


def test_the_first_train_begins_a_run() -> None:
    assert choose(None) is Launch.BEGIN


def test_an_unfinished_run_is_resumed_even_when_main_has_moved() -> None:
    assert choose(known(ended=False)) is Launch.RESUME
    assert choose(known(ended=False), base="b2") is Launch.RESUME


def test_an_ended_run_on_the_same_base_is_done() -> None:
    assert choose(known(ended=True)) is Launch.ENDED


def test_an_ended_run_is_followed_by_the_next_once_something_changed() -> None:
    assert choose(known(ended=True), base="b2") is Launch.BEGIN
    assert choose(known(ended=True), identity=IDENTITY | {"skill": "bb"}) is Launch.BEGIN


def test_new_always_begins_the_next_run() -> None:
    assert choose(known(ended=False), identity={}, new=True) is Launch.BEGIN
    assert choose(known(ended=True), new=True) is Launch.BEGIN


def test_resume_with_another_identity_is_refused_and_names_what_differs() -> None:
    other = IDENTITY | {"gate": {"metric": "soft"}}
    with pytest.raises(UserError, match=r'gate\.metric: "hard" → "soft"') as caught:
        choose(known(ended=False), identity=other)
    assert "train-3" in caught.value.message
    assert "skillgit train --new" in caught.value.hint


def test_more_epochs_can_be_resumed_and_fewer_cannot() -> None:
    assert choose(known(ended=False), epochs=6) is Launch.RESUME
    with pytest.raises(UserError, match="epochs: 4 → 2"):
        choose(known(ended=False), epochs=2)


def test_differences_show_keys_that_only_one_side_has() -> None:
    assert differences({"a": {"b": 1}}, {"a": {"b": 1, "c": None}}) == []
    assert differences({"a": 1}, {"a": 1, "b": "x"}) == ['b: (none) → "x"']
