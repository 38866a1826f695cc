"""The fresh look at a night's end, and what is taken back when it disappoints."""

from __future__ import annotations

import threading

import pytest
from night_projects import CHECKED, House, Proposing, asks

from skillgit.records import Action, ModelReply, ModelRequest, Role


class Tiring:
    """A target that heeds the rule as often as it has patience for, and then no more."""

    def __init__(self, patience: int) -> None:
        self._patience = patience
        self._lock = threading.Lock()

    def complete(self, request: ModelRequest) -> ModelReply:
        with self._lock:
            if CHECKED not in request.messages[0].content or self._patience <= 0:
                return ModelReply(text="A note.")
            self._patience -= 1
        return ModelReply(text="A note.\nChecked: yes")


@pytest.fixture
def disappointed(house: House) -> House:
    """A night whose rule was lucky once: three val tasks passed, and none when looked at again."""
    models = Proposing(CHECKED).as_optimizer | {Role.TARGET: Tiring(3)}
    outcome = house.sleep(asks(train=4, val=3), stand_ins=models)
    assert outcome.staging_branch is None
    assert outcome.report.gate_action is Action.REJECT
    assert not outcome.report.accepted
    assert any("taken back" in note for note in outcome.report.notes)
    return house


def test_what_does_not_hold_is_reverted_and_nothing_is_proposed(disappointed: House) -> None:
    subjects = disappointed.git("log", "--format=%s", "main..skillopt/run/night-1").splitlines()
    assert subjects[0].startswith("skillopt(notes): end: best 0.0000")
    assert subjects[1].startswith('Revert "skillopt(notes): step 1: accept')
    assert disappointed.git("diff", "main", "skillopt/run/night-1") == ""
    assert "skillopt/night-1" not in disappointed.git("branch", "--list", "skillopt/night-*")


def test_the_revert_names_what_it_takes_back_and_keeps_trailers(disappointed: House) -> None:
    run = "skillopt/run/night-1"
    body = disappointed.git("log", "-1", "--format=%B", f"{run}~1")
    taken = body.split("This reverts commit ")[1].split(".")[0]
    subject = disappointed.git("log", "-1", "--format=%s", taken).strip()
    assert body.startswith(f'Revert "{subject}"')
    trailers = disappointed.git("log", "-1", "--format=%(trailers:key=Skillopt-Action)", f"{run}~1")
    assert "Skillopt-Action: revert" in trailers


def test_what_was_taken_back_is_negative_feedback_for_the_next_night(disappointed: House) -> None:
    optimizer = Proposing(CHECKED)
    disappointed.sleep(asks(train=4, val=3), stand_ins=optimizer.as_optimizer)
    assert "Rejected" in optimizer.prompts[0] or "REJECTED" in optimizer.prompts[0]
    earlier = optimizer.prompts[0].partition("## Earlier nights")[2]
    assert "Checked: yes" in earlier.partition("## Why answers fell short")[0]


def test_both_documents_are_taken_back_the_memory_first(house: House) -> None:
    class Both(Proposing):
        """An optimizer with another idea for each document."""

        def complete(self, request: ModelRequest) -> ModelReply:
            text = request.messages[0].content
            self.rules = ("Be kind.",) if "Be calm." in text else ("Be calm.",)
            return super().complete(request)

    class Climbing:
        """A target that does better with each rule, until the fresh look."""

        answers = 0

        def complete(self, request: ModelRequest) -> ModelReply:
            skill = request.messages[0].content
            rules = ("Be calm." in skill) + ("Be kind." in skill)
            asked = request.messages[-1].content
            number = int(asked.rsplit(" ", 1)[1])
            if number >= 4:
                Climbing.answers += rules == 2
            passes = rules and number < 4 + rules and Climbing.answers <= 3
            return ModelReply(text="Checked: yes" if passes else "A note.")

    models = Both("Be calm.").as_optimizer | {Role.TARGET: Climbing()}
    outcome = house.sleep(asks(train=4, val=3), stand_ins=models)
    subjects = house.git("log", "--format=%s", "main..skillopt/run/night-1").splitlines()
    reverts = [s for s in subjects if s.startswith("Revert")]
    if len(reverts) == 2:
        assert "step 1" in reverts[0]
        assert "step 2" in reverts[1]
    assert house.git("diff", "main", "skillopt/run/night-1") == "" or outcome.report.accepted


def test_the_fresh_look_is_a_measurement_of_its_own(house: House) -> None:
    models = Proposing(CHECKED).as_optimizer | {Role.TARGET: Tiring(5)}
    report = house.sleep(asks(train=4, val=3), stand_ins=models).report
    assert report.accepted
    assert report.candidate_score == pytest.approx(2 / 3)
    score = house.git("log", "-1", "--format=%(trailers:key=Skillopt-Score,valueonly)",
                      "skillopt/run/night-1")  # fmt: skip
    assert float(score) == pytest.approx(2 / 3)


def test_with_the_gate_off_nothing_is_taken_back(house: House) -> None:
    models = Proposing(CHECKED).as_optimizer | {Role.TARGET: Tiring(3)}
    outcome = house.sleep(asks(), sleep="enabled = false", stand_ins=models)
    assert outcome.staging_branch == "skillopt/night-1"
