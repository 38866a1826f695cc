"""What may be spent, and what it costs."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from skillgit.records import Record

Fraction = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]
Price = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]


class PriceConfig(Record):
    """What tokens cost. Unit: US dollars per million tokens."""

    prompt: Price = 0.0
    """What is sent. Unit: US dollars per million tokens."""
    completion: Price = 0.0
    """What comes back. Unit: US dollars per million tokens."""


class PricesConfig(Record):
    """The prices of each role's model."""

    target: PriceConfig | None = None
    """The target's."""
    optimizer: PriceConfig | None = None
    """The optimizer's."""
    judge: PriceConfig | None = None
    """The judge's; without it, the optimizer's."""


class BudgetConfig(Record):
    """What a run may spend, checked before each call; finished work stays committed.

    A run that is gone on with has spent what it spent; only `minutes` begin anew.
    """

    calls: Count | None = None
    """The most paid calls that a run makes."""
    tokens: Count | None = None
    """The most tokens, sent and received; what is in flight when they are reached is over it."""
    usd: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """The most money, by `prices`; what is in flight when it is reached is over it. Unit: US
    dollars."""
    minutes: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """The longest that one command works before it makes no further call. Unit: minutes."""
    prices: PricesConfig = PricesConfig()

    @model_validator(mode="after")
    def _money_needs_prices(self) -> Self:
        if self.usd is not None and (self.prices.target is None or self.prices.optimizer is None):
            raise ValueError(
                "usd needs what tokens cost: prices.target and prices.optimizer, each with "
                "prompt and completion in dollars per million tokens"
            )
        return self
