"""Real SQLite files, real processes that are killed."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from skillgit.errors import ConflictError, RepositoryError
from skillgit.history import RunHead
from skillgit.models import journal as journal_module
from skillgit.models.journal import CallKey, Journal, JournaledReply
from skillgit.records import Metric

WHEN = datetime(2026, 3, 1, 12, 0, 0, 250_000, tzinfo=UTC)


def key(slot: str) -> CallKey:
    return CallKey("rollout", slot, "ab" * 32)


def row(reply: str = "{}") -> JournaledReply:
    return JournaledReply("target", reply, WHEN)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "private" / "journal.sqlite"


@pytest.mark.parametrize("durable", [True, False])
def test_what_is_added_is_there_for_the_next_process(path: Path, durable: bool) -> None:
    with Journal(path, durable=durable) as journal:
        journal.add("r1", 3, key("t1"), row('{"text":"naïve \\u0000"}'))
    with Journal(path, durable=durable) as journal:
        assert journal.replies("r1", 3) == {key("t1"): row('{"text":"naïve \\u0000"}')}
        assert journal.replies("r1", 4) == {}
        assert journal.replies("r2", 3) == {}


def test_real_runs_are_synced_to_the_disk(path: Path) -> None:
    for durable, level in ((True, 2), (False, 0)):
        with Journal(path, durable=durable) as journal:
            assert journal._connection.execute("PRAGMA synchronous").fetchone()[0] == level
            assert journal._connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"


def test_calls_of_a_run_are_counted_over_all_its_steps(path: Path) -> None:
    with Journal(path, durable=False) as journal:
        for step, slot in ((1, "a"), (1, "b"), (2, "a")):
            journal.add("r1", step, key(slot), row())
        journal.add("r2", 1, key("a"), row())
        assert (journal.spent("r1"), journal.spent("r2"), journal.spent("r3")) == (3, 1, 0)


def head(run_id: str) -> RunHead:
    return RunHead(
        name="train-1",
        run_id=run_id,
        skill="brief",
        onto="main",
        base="b" * 40,
        target="t" * 16,
        run="f" * 16,
        metric=Metric.HARD,
    )


def test_a_forgotten_run_keeps_its_name(path: Path) -> None:
    with Journal(path, durable=False) as journal:
        journal.begin_run(head("r1"))
        journal.begin_run(head("r1"))
        journal.add("r1", 1, key("a"), row())
        journal.forget("r1")
        assert journal.spent("r1") == 0
        assert journal.runs() == [head("r1")]


def test_many_threads_lose_nothing(path: Path) -> None:
    with Journal(path, durable=False) as journal, ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda n: journal.add("r1", 1, key(str(n)), row(str(n))), range(400)))
        stored = journal.replies("r1", 1)
    assert {k.slot: r.reply for k, r in stored.items()} == {str(n): str(n) for n in range(400)}


CHILD = """
import sys, threading
from datetime import UTC, datetime
from pathlib import Path
from skillgit.models.journal import CallKey, Journal, JournaledReply
journal = Journal(Path(sys.argv[1]), durable=False)
lock = threading.Lock()
def work(thread):
    for n in range(100_000):
        slot = f"{thread}/{n}"
        journal.add("r1", 1, CallKey("p", slot, "h"), JournaledReply("target", slot, datetime.now(UTC)))
        with lock:
            print(slot, flush=True)
for thread in range(8):
    threading.Thread(target=work, args=(thread,)).start()
"""


def test_what_a_killed_process_was_told_is_there(path: Path) -> None:
    for kill_after in (1, 40, 150):
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        told = [child.stdout.readline().strip() for _ in range(kill_after)]
        child.send_signal(signal.SIGKILL)
        rest = child.stdout.read().split("\n")
        child.stdout.close()
        assert child.wait() == -signal.SIGKILL
        told += rest[:-1]
        with Journal(path, durable=False) as journal:
            stored = {k.slot: r.reply for k, r in journal.replies("r1", 1).items()}
        assert all(stored[slot] == slot for slot in told)


# ── files that are not as they should be ─────────────────────────────────────────────────────


def damaged(path: Path) -> list[bytes]:
    with Journal(path, durable=False) as journal:
        for n in range(200):
            journal.add("r1", 1, key(str(n)), row("x" * 500))
    whole = path.read_bytes()
    return [
        b"this is no database, and longer than a header" * 40,
        whole[: len(whole) // 2],
        whole[:100],
        whole[:4096],
        whole[:4096] + b"\xff" * (len(whole) - 4096),
        b"\x00" * 8192,
    ]


@pytest.mark.parametrize("number", range(6))
def test_a_damaged_file_is_one_clear_sentence(path: Path, number: int) -> None:
    path.write_bytes(damaged(path)[number])

    def use() -> None:
        with Journal(path, durable=False) as journal:
            journal.replies("r1", 1)
            journal.add("r1", 1, key("new"), row())

    with pytest.raises(RepositoryError) as caught:
        use()
    assert str(path) in caught.value.message
    assert f"mv '{path}'" in caught.value.hint


def test_an_empty_file_is_a_new_journal(path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    with Journal(path, durable=False) as journal:
        assert journal.runs() == []


def test_a_newer_file_asks_for_a_newer_program(path: Path) -> None:
    Journal(path, durable=False).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(RepositoryError, match="newer skillgit"):
        Journal(path, durable=False)


def test_another_programs_database_is_left_alone(path: Path) -> None:
    path.parent.mkdir()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE cookies (name TEXT)")
    connection.close()
    with pytest.raises(RepositoryError, match="another program"):
        Journal(path, durable=False)
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT name FROM sqlite_schema").fetchall() == [("cookies",)]
    connection.close()


def test_a_file_held_by_another_process_is_a_conflict(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "LOCK_TIMEOUT", 0.05)
    with Journal(path, durable=False) as journal:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(ConflictError, match="another program holds"):
            journal.add("r1", 1, key("a"), row())
        other.execute("ROLLBACK")
        other.close()
        journal.add("r1", 1, key("a"), row())
        assert journal.spent("r1") == 1


def test_two_open_journals_take_turns(path: Path) -> None:
    with Journal(path, durable=False) as one, Journal(path, durable=False) as two:
        with ThreadPoolExecutor(8) as pool:
            list(
                pool.map(
                    lambda n: (one, two)[n % 2].add(f"r{n % 2}", 1, key(str(n)), row()), range(100)
                )
            )
        assert (one.spent("r0"), one.spent("r1")) == (50, 50)


@pytest.mark.parametrize("kind", ["a folder", "under a file"])
def test_a_place_that_cannot_hold_it_is_one_clear_sentence(path: Path, kind: str) -> None:
    if kind == "a folder":
        path.mkdir(parents=True)
    else:
        path.parent.write_text("")
    with pytest.raises(RepositoryError, match="journal"):
        Journal(path, durable=False)
