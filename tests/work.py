"""How much work a call is, counted in steps of Python and never in seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def steps(call: Callable[[], object]) -> int:
    """How many lines of Python run while the call does. What a C function does counts for one."""
    count = 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


def grows_in_proportion(work: Callable[[int], object], size: int) -> bool:
    """Whether four times the size takes about four times the steps, and not sixteen times."""
    return steps(lambda: work(4 * size)) < 6 * steps(lambda: work(size)) + 1_000
