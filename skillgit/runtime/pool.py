"""A pool of threads inside one function: the order of results is that of the items.

The only place that starts threads for concurrency; it knows nothing of what it runs.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from skillgit.errors import WaitingError

_LONGEST_WAIT_S = 0.5

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


def ordered_map(
    function: Callable[[ItemT], ResultT], items: Iterable[ItemT], workers: int
) -> list[ResultT]:
    """The function's result for every item, with at most `workers` running at a time.

    After the first exception, or Ctrl-C, no further item is started and those in flight are
    waited for, since what they do is paid for; a second Ctrl-C does not wait. What only waits for
    an answer stops nobody: all questions are asked. One worker, or one item, runs in the caller's
    own thread.
    Shape: one result per item, in the items' order.
    Raises: of the exceptions that `function` raised, the first in the items' order.
    """
    if workers < 1:
        raise ValueError(f"a pool needs at least one worker, not {workers}")
    queue = list(items)
    if workers == 1 or len(queue) <= 1:
        return _one_by_one(function, queue)
    pool = _Pool(function, queue)
    pool.run(min(workers, len(queue)))
    return pool.results()


def _one_by_one(function: Callable[[ItemT], ResultT], items: Iterable[ItemT]) -> list[ResultT]:
    results: list[ResultT] = []
    waiting: WaitingError | None = None
    for item in items:
        try:
            results.append(function(item))
        except WaitingError as error:
            waiting = waiting or error
    if waiting is not None:
        raise waiting
    return results


class _Pool(Generic[ItemT, ResultT]):
    """One map over one list; its threads are daemons, so that nothing can hold up the exit."""

    def __init__(self, function: Callable[[ItemT], ResultT], items: list[ItemT]) -> None:
        self._function = function
        self._waiting = deque(enumerate(items))
        self._in_flight = 0
        self._lock = threading.Lock()
        self._news: SimpleQueue[None] = SimpleQueue()
        self._done: dict[int, ResultT] = {}
        self._failed: dict[int, BaseException] = {}

    def run(self, workers: int) -> None:
        """Work all items off, or as many as are started before the first failure."""
        try:
            for _ in range(workers):
                if not self._waiting:
                    break  # quick items are done before all threads are there
                threading.Thread(target=self._work, daemon=True).start()
            self._wait()
        except BaseException:
            self._stop()
            self._wait()
            raise

    def results(self) -> list[ResultT]:
        """What came of the items, in their order."""
        if self._failed:
            raise self._failed[min(self._failed)]
        return [self._done[index] for index in sorted(self._done)]

    def _wait(self) -> None:
        """Wait for the items, not for the threads: one may be only half started.

        A signal that comes just before a wait is seen when that ends, so none is long. A
        condition would not do: a Ctrl-C in the midst of its own code leaves its lock astray.
        """
        while not self._is_idle():
            with suppress(Empty):
                self._news.get(timeout=_LONGEST_WAIT_S)

    def _is_idle(self) -> bool:
        with self._lock:
            return not self._waiting and not self._in_flight

    def _stop(self) -> None:
        with self._lock:
            self._waiting.clear()

    def _work(self) -> None:
        while (job := self._take()) is not None:
            index, item = job
            try:
                self._done[index] = self._function(item)
            except BaseException as error:  # noqa: BLE001 - the caller's thread raises it
                self._failed[index] = error
                if not isinstance(error, WaitingError):
                    self._stop()
            self._put_down()

    def _take(self) -> tuple[int, ItemT] | None:
        with self._lock:
            if not self._waiting:
                return None
            self._in_flight += 1
            return self._waiting.popleft()

    def _put_down(self) -> None:
        with self._lock:
            self._in_flight -= 1
        self._news.put(None)
