"""Ending a program together with everything that it has started."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

MARK = "SKILLGIT_PROCESS"
"""The variable by which all that a program has started is found again, where there is `/proc`."""

_SWEEPS = 50
_PROC = Path("/proc")


def end_tree(process: subprocess.Popen[bytes], mark: str) -> None:
    """Kill a program that leads a session of its own, that session, and whatever left it.

    What left the session is known by the value of `MARK` that it was started with.
    """
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    wanted = f"{MARK}={mark}".encode()
    for _ in range(_SWEEPS):
        if not _kill_marked(wanted):
            break
    process.wait()


def _kill_marked(wanted: bytes) -> int:
    """Kill every live process whose environment has the mark; how many there were."""
    killed = 0
    for entry in _PROC.iterdir() if _PROC.is_dir() else ():
        if not entry.name.isdigit():
            continue
        with suppress(OSError):
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                os.kill(int(entry.name), signal.SIGKILL)
                killed += 1
    return killed
