"""The one door to everything that costs: the journal first, then the budget, then the call."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Self

from pydantic import ValidationError

from skillgit.config import BudgetConfig, PricesConfig
from skillgit.errors import BudgetError
from skillgit.history import Costs
from skillgit.models.journal import CallKey, Journal, JournaledReply
from skillgit.models.unread import counting_unread
from skillgit.ports import Clock, ReplyT
from skillgit.records import PaidCall, PaidReply, Record, Role, Usage
from skillgit.records.canonical import canonical_json


class Meter:
    """What a run has spent, against what it may spend. Thread-safe; its numbers may be read.

    `used` counts every call the run ever paid for, those of killed processes included, and
    `spent` has the tokens of these by role; `made`, `replayed` and `usage` are what this process
    did. A call that fails is given back, but for requests that were sent and whose answers were
    not read: they may be paid for, so they are in `used`, and `unread` counts them. Limits on tokens, money and time are looked at before
    each call, so what is in flight when they are reached is over them.
    """

    def __init__(self, *, max_calls: int | None = None, used: int = 0) -> None:
        self._lock = threading.Lock()
        self._budget = BudgetConfig(calls=max_calls)
        self._clock: Clock | None = None
        self._began = 0.0
        self.max_calls = max_calls
        self.used = used
        self.unread = 0
        self.made = 0
        self.replayed = 0
        self.usage = Usage()
        self.spent: dict[str, Usage] = {}

    @classmethod
    def within(
        cls,
        budget: BudgetConfig,
        *,
        clock: Clock,
        used: int = 0,
        spent: Mapping[str, Usage] | None = None,
    ) -> Self:
        """The meter of a budget, with what was spent of it before; minutes begin now."""
        meter = cls(max_calls=budget.calls, used=used)
        meter._budget, meter._clock, meter._began = budget, clock, clock.monotonic()
        meter.spent.update(spent or {})
        return meter

    @property
    def tokens(self) -> int:
        """The tokens of every call the run ever paid for."""
        return sum(usage.total for usage in self.spent.values())

    @property
    def usd(self) -> float:
        """What those cost. Unit: US dollars."""
        return cost_of(self.spent, self._budget.prices)

    @property
    def minutes(self) -> float:
        """How long this process has been at it. Unit: minutes."""
        return (self._clock.monotonic() - self._began) / 60 if self._clock else 0.0

    def limits(self) -> list[str]:
        """The budget in words, with what is used of it; one line for each limit."""
        budget, lines = self._budget, []
        if self.max_calls is not None:
            lines.append(
                f"the budget stops it at {self.max_calls} calls; {self._used_words()} made"
            )
        if budget.tokens is not None:
            lines.append(f"the budget stops it at {budget.tokens} tokens; {self.tokens} are taken")
        if budget.usd is not None:
            lines.append(f"the budget stops it at ${budget.usd:g}; ${self.usd:.4f} are spent")
        if budget.minutes is not None:
            lines.append(f"the budget stops it after {budget.minutes:g} minutes")
        return lines

    def reserve(self) -> None:
        """Take one call from the budget before it is made.

        Raises: BudgetError when there is none left.
        """
        with self._lock:
            self._refuse_overspending()
            self.used += 1

    def give_back(self) -> None:
        """The call that was reserved came to nothing."""
        with self._lock:
            self.used -= 1

    def count_unread(self, requests: int) -> None:
        """Requests were sent whose answers were not read."""
        with self._lock:
            self.used += requests
            self.unread += requests

    def count(self, reply: PaidReply, *, role: str, fresh: bool) -> None:
        """A reply is there, made now or replayed from the journal."""
        with self._lock:
            self.made += fresh
            self.replayed += not fresh
            self.usage += reply.usage
            if fresh:
                self.spent[role] = self.spent.get(role, Usage()) + reply.usage

    def _used_words(self, verb: str = "are") -> str:
        unread = f" ({self.unread} of them sent without an answer that was read)"
        return f"{self.used}{unread if self.unread else ''} {verb}"

    def _refuse_overspending(self) -> None:
        budget = self._budget
        if self.max_calls is not None and self.used >= self.max_calls:
            raise _used_up(f"{self.max_calls} calls", f"{self._used_words('were')} made", "calls")
        if budget.tokens is not None and self.tokens >= budget.tokens:
            raise _used_up(f"{budget.tokens} tokens", f"{self.tokens} were taken", "tokens")
        if budget.usd is not None and self.usd >= budget.usd:
            raise _used_up(f"${budget.usd:g}", f"${self.usd:.4f} were spent", "usd")
        if budget.minutes is not None and self.minutes >= budget.minutes:
            raise BudgetError(
                f"the budget of {budget.minutes:g} minutes is used up",
                hint="Run this again to go on for as long: nothing paid for is lost.",
            )


def _used_up(budget: str, used: str, key: str) -> BudgetError:
    return BudgetError(
        f"the budget of {budget} is used up: {used}",
        hint=f"Raise `{key}` under [budget] in skillgit.toml and run this again: "
        "nothing paid for is lost.",
    )


def cost_of(spent: Mapping[str, Usage], prices: PricesConfig) -> float:
    """What tokens cost, by the role that took them; a judge without a price has the optimizer's.

    Unit: US dollars.
    """
    by_role = {
        Role.TARGET: prices.target,
        Role.OPTIMIZER: prices.optimizer,
        Role.JUDGE: prices.judge or prices.optimizer,
    }
    total = 0.0
    for role, usage in spent.items():
        price = by_role[Role(role)]
        if price is not None:
            total += usage.prompt_tokens * price.prompt
            total += usage.completion_tokens * price.completion
    return total / 1_000_000


class StepPaid:
    """The `Paid` of one step of a run, and its account. Thread-safe.

    What was journaled for this step before is read once, here.
    """

    def __init__(
        self, journal: Journal, run_id: str, step: int, *, meter: Meter, clock: Clock
    ) -> None:
        self._journal = journal
        self._run_id = run_id
        self._step = step
        self._meter = meter
        self._clock = clock
        self._lock = threading.Lock()
        self._rows = journal.replies(run_id, step)
        self._turns: dict[CallKey, threading.Lock] = {}
        self._counted: set[CallKey] = set()
        self._calls: Counter[str] = Counter()
        self._usage = Usage()
        self._milliseconds = 0
        self._finished_at: datetime | None = None

    @property
    def costs(self) -> Costs:
        """Calls by role, tokens and time of every call so far, each key counted once."""
        with self._lock:
            return Costs(
                calls=dict(sorted(self._calls.items())),
                prompt_tokens=self._usage.prompt_tokens,
                completion_tokens=self._usage.completion_tokens,
                milliseconds=self._milliseconds,
            )

    @property
    def finished_at(self) -> datetime | None:
        """The latest finish time of those calls; `None` when there was none."""
        return self._finished_at

    def __call__(
        self, call: PaidCall, request: Record, reply: type[ReplyT], perform: Callable[[], ReplyT]
    ) -> ReplyT:
        """The reply, from the journal or made now; equal calls at one time are made once.

        Raises: what `perform` raises, which is not journaled; BudgetError before a call that
        the budget forbids; ConflictError and RepositoryError of the journal.
        """
        key = CallKey(call.purpose, call.slot, request_hash(request))
        with self._turn(key):
            known = self._known(key, reply)
            if known is not None:
                self._count(key, self._rows[key], known, fresh=False)
                return known
            made, row = self._make(call, key, perform)
            self._count(key, row, made, fresh=True)
            return made

    def _turn(self, key: CallKey) -> threading.Lock:
        with self._lock:
            return self._turns.setdefault(key, threading.Lock())

    def _known(self, key: CallKey, reply: type[ReplyT]) -> ReplyT | None:
        """The journaled reply; one that this version cannot read is not known."""
        row = self._rows.get(key)
        if row is None:
            return None
        try:
            return reply.model_validate_json(row.reply)
        except ValidationError:
            return None

    def _make(
        self, call: PaidCall, key: CallKey, perform: Callable[[], ReplyT]
    ) -> tuple[ReplyT, JournaledReply]:
        self._meter.reserve()
        with counting_unread() as unread:
            try:
                made = perform()
                row = JournaledReply(call.role.value, made.model_dump_json(), self._clock.now())
                self._journal.add(self._run_id, self._step, key, row)
            except BaseException:
                self._meter.give_back()
                raise
            finally:
                self._meter.count_unread(unread.requests)
        with self._lock:
            self._rows[key] = row
        return made, row

    def _count(self, key: CallKey, row: JournaledReply, reply: PaidReply, *, fresh: bool) -> None:
        with self._lock:
            if key in self._counted:
                return
            self._counted.add(key)
            self._calls[row.role] += 1
            self._usage += reply.usage
            self._milliseconds += reply.milliseconds
            self._finished_at = max(self._finished_at or row.finished, row.finished)
        self._meter.count(reply, role=row.role, fresh=fresh)


def request_hash(request: Record) -> str:
    """The SHA-256 of a request before it is fitted to an endpoint.

    Fields at their default are left out, so that a new field does not make old replies unknown.
    """
    fields = request.model_dump(mode="json", exclude_defaults=True)
    return hashlib.sha256(canonical_json(fields).encode("utf-8")).hexdigest()
