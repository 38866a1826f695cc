from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from skillgit.errors import BudgetError, CallError
from skillgit.models.journal import Journal
from skillgit.models.paid import Meter, StepPaid, request_hash
from skillgit.records import (
    Message,
    ModelReply,
    ModelRequest,
    PaidCall,
    PaidReply,
    Role,
    Speaker,
    ToolCall,
    Usage,
)

REPLY = ModelReply(
    text="hello\nnaïve ☃",
    tool_calls=(ToolCall(id="c", name="look", arguments="{}"),),
    usage=Usage(prompt_tokens=7, completion_tokens=3),
    milliseconds=12,
)


def request(text: str = "hi") -> ModelRequest:
    return ModelRequest(model="m", messages=(Message(role=Speaker.USER, content=text),))


def call(slot: str = "t1/0/0", role: Role = Role.TARGET, purpose: str = "rollout") -> PaidCall:
    return PaidCall(role=role, purpose=purpose, slot=slot)


class Perform:
    """Counts how often it was really called."""

    def __init__(self, reply: ModelReply = REPLY) -> None:
        self.reply = reply
        self.times = 0

    def __call__(self) -> ModelReply:
        self.times += 1
        return self.reply


def failing() -> ModelReply:
    raise CallError("timed out")


def never() -> ModelReply:
    raise AssertionError("this was paid for already")


Step = Callable[..., StepPaid]


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal(tmp_path / "journal.sqlite", durable=False) as opened:
        yield opened


@pytest.fixture
def step(journal: Journal, clock: Any) -> Step:
    def open_step(number: int = 1, *, run_id: str = "r1", meter: Meter | None = None) -> StepPaid:
        return StepPaid(journal, run_id, number, meter=meter or Meter(), clock=clock)

    return open_step


def test_a_reply_is_paid_for_once(step: Step) -> None:
    perform = Perform()
    assert step()(call(), request(), ModelReply, perform) == REPLY
    assert step()(call(), request(), ModelReply, never) == REPLY
    assert perform.times == 1


@pytest.mark.parametrize(
    "other",
    [
        lambda step: step()(call("t1/1/0"), request(), ModelReply, failing),
        lambda step: step()(call(purpose="evaluate"), request(), ModelReply, failing),
        lambda step: step()(call(), request("ho"), ModelReply, failing),
        lambda step: step(2)(call(), request(), ModelReply, failing),
        lambda step: step(run_id="r2")(call(), request(), ModelReply, failing),
    ],
)
def test_another_slot_purpose_request_step_or_run_is_another_call(
    step: Step, other: Callable[[Step], ModelReply]
) -> None:
    step()(call(), request(), ModelReply, Perform())
    with pytest.raises(CallError):
        other(step)


def test_a_failure_is_not_journaled(step: Step) -> None:
    paid = step()
    with pytest.raises(CallError):
        paid(call(), request(), ModelReply, failing)
    assert paid.costs.calls == {}
    assert paid.finished_at is None
    assert paid(call(), request(), ModelReply, Perform()) == REPLY


def test_costs_are_the_same_replayed_or_new(step: Step, clock: Any) -> None:
    first = step()
    first(call(), request(), ModelReply, Perform())
    clock.at += timedelta(seconds=5)
    first(call("m0", Role.OPTIMIZER, "reflect"), request(), ModelReply, Perform())
    clock.at += timedelta(hours=1)
    again = step()
    again(call("m0", Role.OPTIMIZER, "reflect"), request(), ModelReply, never)
    again(call(), request(), ModelReply, never)
    again(call(), request(), ModelReply, never)
    assert again.costs == first.costs
    assert again.costs.calls == {"optimizer": 1, "target": 1}
    assert (again.costs.prompt_tokens, again.costs.completion_tokens) == (14, 6)
    assert again.costs.milliseconds == 24
    assert again.finished_at == first.finished_at == datetime(2026, 3, 1, 12, 0, 5, tzinfo=UTC)


def test_what_was_journaled_but_not_asked_for_again_does_not_count(step: Step) -> None:
    step()(call("gone"), request(), ModelReply, Perform())
    again = step()
    assert again.costs.calls == {}
    assert again.finished_at is None


def test_equal_calls_at_one_time_are_made_once(step: Step) -> None:
    together = threading.Barrier(16)
    perform = Perform()
    paid = step()

    def ask(_: int) -> ModelReply:
        together.wait()
        return paid(call(), request(), ModelReply, perform)

    with ThreadPoolExecutor(16) as pool:
        assert set(map(str, pool.map(ask, range(16)))) == {str(REPLY)}
    assert perform.times == 1
    assert paid.costs.calls == {"target": 1}


def test_a_reply_of_another_shape_is_asked_for_again(step: Step) -> None:
    step()(call(), request(), ModelReply, Perform())
    plain = PaidReply(milliseconds=1)
    assert step()(call(), request(), PaidReply, lambda: plain) == plain


# ── the budget ───────────────────────────────────────────────────────────────────────────────


def test_a_budget_stops_before_the_call_it_forbids(step: Step) -> None:
    meter = Meter(max_calls=2)
    paid = step(meter=meter)
    perform = Perform()
    for slot in ("a", "b"):
        paid(call(slot), request(), ModelReply, perform)
    with pytest.raises(BudgetError, match="2 calls") as caught:
        paid(call("c"), request(), ModelReply, perform)
    assert "[budget]" in caught.value.hint
    assert perform.times == 2


def test_what_is_replayed_costs_no_budget(step: Step) -> None:
    step()(call(), request(), ModelReply, Perform())
    meter = Meter(max_calls=1, used=1)
    assert step(meter=meter)(call(), request(), ModelReply, never) == REPLY
    assert (meter.made, meter.replayed, meter.used) == (0, 1, 1)


def test_a_resumed_run_gets_no_fresh_budget(step: Step, journal: Journal) -> None:
    step(1)(call(), request(), ModelReply, Perform())
    step(2)(call(), request(), ModelReply, Perform())
    meter = Meter(max_calls=2, used=journal.spent("r1"))
    with pytest.raises(BudgetError):
        step(3, meter=meter)(call(), request(), ModelReply, never)


def test_a_failed_call_is_given_back(step: Step) -> None:
    meter = Meter(max_calls=1)
    paid = step(meter=meter)
    with pytest.raises(CallError):
        paid(call(), request(), ModelReply, failing)
    assert meter.used == 0
    paid(call(), request(), ModelReply, Perform())
    assert (meter.used, meter.made) == (1, 1)
    assert meter.usage.total == 10


def test_sixteen_threads_do_not_overdraw(step: Step) -> None:
    meter = Meter(max_calls=20)
    paid = step(meter=meter)
    perform = Perform()

    def ask(number: int) -> bool:
        try:
            paid(call(str(number)), request(), ModelReply, perform)
        except BudgetError:
            return False
        return True

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(ask, range(60))) == 20
    assert perform.times == 20


# ── the hash ─────────────────────────────────────────────────────────────────────────────────


def test_the_hash_does_not_depend_on_the_order_of_keys() -> None:
    one = request().model_copy(update={"answer_schema": {"a": 1, "b": 2}})
    two = request().model_copy(update={"answer_schema": {"b": 2, "a": 1}})
    assert request_hash(one) == request_hash(two)


def test_a_field_at_its_default_is_not_in_the_hash() -> None:
    explicit = request().model_copy(update={"seed": None})
    assert request_hash(explicit) == request_hash(request())
    assert request_hash(request().model_copy(update={"seed": 0})) != request_hash(request())
