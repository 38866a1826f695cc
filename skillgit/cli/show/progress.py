"""What is shown while a training runs: two live lines on a terminal, plain lines elsewhere.

All of it goes to stderr.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Self

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.show.output import amount, number, say
from skillgit.models.paid import Meter
from skillgit.ports import Ledger
from skillgit.runtime.progress import Progress

# Unit: seconds. How often the live lines change, and how long a pipe hears nothing at most.
REFRESH = 0.25
SILENCE = 30.0


@dataclass(frozen=True)
class Snapshot:
    """A training at one moment.

    Unit: `seconds_left` in seconds; `None` while there is nothing to reckon from.
    """

    phase: str
    step: int
    total_steps: int
    done: int
    total: int
    current: float | None
    best: float | None
    calls: int
    tokens: int
    seconds_left: float | None

    @classmethod
    def of(
        cls,
        progress: Progress,
        meter: Meter,
        *,
        current: float | None = None,
        best: float | None = None,
        seconds_left: float | None = None,
    ) -> Self:
        """What a progress and a meter show now."""
        return cls(
            phase=progress.phase,
            step=progress.step,
            total_steps=progress.total_steps,
            done=progress.done,
            total=progress.total,
            current=current,
            best=best,
            calls=meter.used,
            tokens=meter.usage.total,
            seconds_left=seconds_left,
        )

    def where(self) -> str:
        """The step, the phase, and how much of it is done."""
        of = f"step {self.step} of {self.total_steps}" if self.total_steps else "start"
        part = f" {self.done}/{self.total}" if self.total else ""
        return f"{of}, {self.phase}{part}" if self.phase else of

    def standing(self) -> str:
        """The scores that are known, what was spent, and how long it will take."""
        scores = (("score", self.current), ("best", self.best))
        parts = [f"{name} {number(score)}" for name, score in scores if score is not None]
        parts += [f"{amount(self.calls)} calls", f"{amount(self.tokens)} tokens"]
        if self.seconds_left is not None:
            parts.append(f"{duration(self.seconds_left)} left")
        return ", ".join(parts)


class TimeLeft:
    """How long the steps that are left will take, from those that this process has done.

    While a step is at work the time only falls, at most to that of the steps after it: a slow
    call makes the next step's estimate longer, never the present one.
    """

    def __init__(self, began: float) -> None:
        self._began = began
        self._ended = began
        self._done = 0
        self._left = 0

    def step_done(self, now: float, *, left: int) -> None:
        """A step has ended, and so many are left. Unit: `now` in monotonic seconds."""
        self._ended, self._left = now, left
        self._done += 1

    def seconds(self, now: float) -> float | None:
        """The time left. Unit: seconds; `None` before the first step has ended."""
        if not self._done:
            return None
        a_step = (self._ended - self._began) / self._done
        at_work = min(now - self._ended, a_step)
        return max(0.0, a_step * self._left - at_work)


def duration(seconds: float) -> str:
    """A time for people: 40 s, 12 min, 3 h 05 min. Unit: seconds."""
    whole = max(0, round(seconds))
    if whole < 90:
        return f"{whole} s"
    minutes = round(whole / 60)
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60:02d} min"


@contextmanager
def shown(look: Callable[[], Snapshot]) -> Iterator[Callable[[str], None]]:
    """Show what `look` sees while the block runs; yields what prints one finished line."""
    if sys.stderr.isatty():
        with _live(look) as write:
            yield write
    else:
        with _plain(look) as write:
            yield write


@contextmanager
def _live(look: Callable[[], Snapshot]) -> Iterator[Callable[[str], None]]:
    from rich.console import Console, Group
    from rich.live import Live
    from rich.text import Text

    def line(text: str, style: str = "") -> Text:
        return Text(text, style, no_wrap=True, overflow="ellipsis")

    def lines() -> Group:
        seen = look()
        return Group(line(seen.where()), line(seen.standing(), "dim"))

    console = Console(stderr=True, highlight=False)
    live = Live(
        console=console, get_renderable=lines, refresh_per_second=1 / REFRESH, transient=True
    )
    with live:
        yield lambda line: live.console.print(Text(line))


@contextmanager
def _plain(look: Callable[[], Snapshot]) -> Iterator[Callable[[str], None]]:
    spoken, ended = threading.Event(), threading.Event()

    def write(line: str) -> None:
        spoken.set()
        say(line)

    def tick() -> None:
        while not ended.wait(SILENCE):
            if not spoken.is_set():
                seen = look()
                say(f"{seen.where()}: {seen.standing()}")
            spoken.clear()

    ticker = threading.Thread(target=tick, name="progress", daemon=True)
    ticker.start()
    try:
        yield write
    finally:
        ended.set()
        ticker.join()


@contextmanager
def paying(
    invocation: Invocation,
    store: Ledger,
    progress: Progress,
    meter: Meter,
    *,
    scope: str,
    most: int,
    again: str,
) -> Iterator[None]:
    """Say that the block makes so many calls at most, hold its scope, and show what it does.

    `again` is what to type to go on after an interruption. Nothing is said of no calls.
    Raises: ConflictError when another process is at it.
    """
    if not most:
        yield
        return
    say(f"at most {amount(most)} calls; answers that are in the journal are not asked for again")
    for line in meter.limits():
        say(line)
    invocation.resume = again
    with store.hold(scope), shown(lambda: Snapshot.of(progress, meter)):
        yield
    invocation.resume = None
