from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgit.runtime.pool import ordered_map

PATIENCE = 20.0


@settings(deadline=None)
@given(st.lists(st.integers(), max_size=40), st.integers(min_value=1, max_value=6))
def test_results_come_in_the_order_of_the_items(items: list[int], workers: int) -> None:
    assert ordered_map(lambda item: item * 2, items, workers) == [item * 2 for item in items]


def test_the_last_to_finish_does_not_become_the_last_result() -> None:
    second_done = threading.Event()

    def slow_first(item: int) -> int:
        if item == 0:
            assert second_done.wait(PATIENCE)
        else:
            second_done.set()
        return item

    assert ordered_map(slow_first, [0, 1], 2) == [0, 1]


def test_as_many_items_run_at_once_as_there_are_workers_and_no_more() -> None:
    barrier = threading.Barrier(3)
    lock = threading.Lock()
    running, most = 0, 0

    def count(item: int) -> int:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        barrier.wait(PATIENCE)
        with lock:
            running -= 1
        return item

    ordered_map(count, range(6), 3)
    assert most == 3


def test_one_worker_runs_in_the_callers_thread() -> None:
    threads = ordered_map(lambda _: threading.current_thread(), range(3), 1)
    assert threads == [threading.current_thread()] * 3


def test_no_items_are_no_results() -> None:
    assert ordered_map(str, [], 4) == []


@pytest.mark.parametrize("workers", [0, -1])
def test_a_pool_without_workers_is_refused(workers: int) -> None:
    with pytest.raises(ValueError, match="at least one worker"):
        ordered_map(str, [1], workers)


def test_after_a_failure_nothing_new_is_started() -> None:
    started: list[int] = []
    failed = threading.Event()

    def fail_first(item: int) -> int:
        started.append(item)
        if item == 0:
            failed.set()
            raise ValueError("no")
        assert failed.wait(PATIENCE)
        time.sleep(0.05)
        return item

    with pytest.raises(ValueError, match="no"):
        ordered_map(fail_first, range(50), 2)
    assert len(started) <= 3


def test_what_is_in_flight_is_waited_for() -> None:
    finished: list[int] = []
    both = threading.Barrier(2)

    def work(item: int) -> None:
        both.wait(PATIENCE)
        if item == 0:
            raise ValueError("no")
        time.sleep(0.05)
        finished.append(item)

    with pytest.raises(ValueError, match="no"):
        ordered_map(work, [0, 1], 2)
    assert finished == [1]


def test_of_several_failures_the_first_in_item_order_is_raised() -> None:
    later_failed = threading.Event()

    def fail(item: int) -> None:
        if item == 0:
            assert later_failed.wait(PATIENCE)
        else:
            later_failed.set()
        raise ValueError(f"item {item}")

    with pytest.raises(ValueError, match="item 0"):
        ordered_map(fail, [0, 1], 2)


def test_with_one_worker_a_failure_stops_the_rest() -> None:
    started: list[int] = []

    def fail(item: int) -> None:
        started.append(item)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        ordered_map(fail, range(5), 1)
    assert started == [0]


def test_an_interrupt_inside_an_item_is_raised_in_the_caller() -> None:
    def interrupted(item: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ordered_map(interrupted, range(5), 3)


INTERRUPTED = textwrap.dedent(
    """
    import os, signal, sys, threading
    from skillgit.runtime.pool import ordered_map

    released = threading.Event()

    def release():
        sys.stdin.read()
        released.set()

    def work(item):
        os.write(1, b"start %d\\n" % item)
        released.wait()
        os.write(1, b"finish %d\\n" % item)

    def interrupt(*_):
        os.write(1, b"signal\\n")
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    threading.Thread(target=release, daemon=True).start()
    try:
        ordered_map(work, range(40), 2)
    except KeyboardInterrupt:
        os.write(1, b"interrupted\\n")
        os._exit(130)
    """
)


def _run_and_interrupt(*, times: int) -> list[str]:
    """What a pool of two that never ends says when it is interrupted, and then released."""
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        lines = [child.stdout.readline() for _ in range(2)]
        for _ in range(times):
            os.kill(child.pid, signal.SIGINT)
            lines.append(child.stdout.readline())
            time.sleep(0.1)
        child.stdin.close()
        lines += child.stdout.readlines()
        assert child.wait(PATIENCE) == 130
        return [line.split()[0] for line in lines]


def test_ctrl_c_waits_for_what_is_in_flight_and_starts_nothing_more() -> None:
    said = _run_and_interrupt(times=1)
    assert said == ["start", "start", "signal", "finish", "finish", "interrupted"]


def test_a_second_ctrl_c_does_not_wait() -> None:
    said = _run_and_interrupt(times=2)
    assert said == ["start", "start", "signal", "signal", "interrupted"]
