"""The root of all records, and the number from 0 to 1."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

UnitInterval = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]


class Record(BaseModel):
    """The root of all records: frozen, and unknown fields are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")
