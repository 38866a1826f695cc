"""What a run is doing at this moment, written by the loop and read by whoever shows it."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field


@dataclass
class Progress:
    """The phase at work and how much of it is done; safe to read from another thread."""

    phase: str = ""
    step: int = 0
    total_steps: int = 0
    done: int = 0
    total: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def begin(self, phase: str, total: int = 0) -> None:
        """Enter a phase of `total` parts; 0 when its parts are not counted."""
        with self._lock:
            self.phase, self.done, self.total = phase, 0, total

    def advance(self) -> None:
        """One part of the phase is done."""
        with self._lock:
            self.done += 1
