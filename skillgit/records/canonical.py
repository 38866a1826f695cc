"""Canonical JSON and the fingerprints made of it: equal values, equal bytes, on every machine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

JsonLike: TypeAlias = (
    "bool | int | float | str | Sequence[JsonLike] | Mapping[str, JsonLike] | None"
)


def canonical_json(value: JsonLike) -> str:
    """One line of JSON: sorted keys, no spaces, shortest floats, characters unescaped.

    Raises: ValueError for NaN and infinities, which are not JSON.
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def fingerprint(value: JsonLike, *, digits: int = 16) -> str:
    """The first `digits` hex digits of the SHA-256 of the value's canonical JSON."""
    return hashlib.sha256(canonical_json(value).encode("utf-8")).hexdigest()[:digits]


def slot_seed(*parts: str | int) -> int:
    """A seed that depends on the parts alone, below 2**31 so that every endpoint takes it."""
    return int(fingerprint(list(parts)), 16) % 2**31
