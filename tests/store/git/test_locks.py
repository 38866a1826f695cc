from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap

import pytest

from skillgit.errors import ConflictError
from skillgit.store.git.locks import held
from skillgit.store.git.private import PrivateFolder

HOLDER = """
    import sys, time, pathlib
    from datetime import datetime, UTC
    from skillgit.store.git.locks import held
    from skillgit.store.git.private import PrivateFolder

    class Clock:
        def now(self): return datetime(2026, 3, 1, tzinfo=UTC)

    with held(PrivateFolder(pathlib.Path({path!r})), "train-1", clock=Clock(), command="skillgit train"):
        print("held", flush=True)
        time.sleep(60)
"""


def test_the_kernel_frees_a_dead_holders_lock_and_the_living_one_is_named(tmp_path, clock):
    private = PrivateFolder(tmp_path)
    code = textwrap.dedent(HOLDER).format(path=str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with (
            pytest.raises(ConflictError) as caught,
            held(private, "train-1", clock=clock),
        ):
            pass
        assert f"process {other.pid} on " in caught.value.message
        assert "skillgit train, since 2026-03-01T00:00:00+00:00" in caught.value.message
        with held(private, "train-2", clock=clock):
            pass
        os.kill(other.pid, signal.SIGKILL)
    with held(private, "train-1", clock=clock):
        pass


def test_a_holder_that_cannot_be_read_is_still_a_holder(tmp_path, clock):
    private = PrivateFolder(tmp_path)
    with held(private, "train-1", clock=clock):
        (private.locks / "train-1.json").write_text("[]")
        with (
            pytest.raises(ConflictError, match=r"^train-1 is already being worked on$"),
            held(private, "train-1", clock=clock),
        ):
            pass


def test_nothing_is_left_when_the_block_fails(tmp_path, clock):
    private = PrivateFolder(tmp_path)
    with pytest.raises(KeyError), held(private, "train-1", clock=clock):
        raise KeyError
    assert not (private.locks / "train-1.json").exists()
    with held(private, "train-1", clock=clock):
        pass
