"""Kinds of numbers that several tables have."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

Fraction = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]
Price = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
