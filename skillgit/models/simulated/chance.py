"""Chance by hash: what looks random here depends on its parts alone, on every machine."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def luck(*parts: str | int | None) -> float:
    """A number in [0, 1) that depends on the parts alone."""
    digest = hashlib.blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return (int.from_bytes(digest) >> 11) / 2**53


def pick(options: Sequence[T], *parts: str | int | None) -> T:
    """One of the options, by luck."""
    return options[int(luck(*parts) * len(options))]


def shuffled(options: Sequence[T], *parts: str | int | None) -> list[T]:
    """The options in an order that depends on the parts alone."""
    places = sorted(range(len(options)), key=lambda place: (luck(*parts, place), place))
    return [options[place] for place in places]
