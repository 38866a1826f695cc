"""The command line: the one room that reads the environment, the clock and the home, and prints.

Results go to stdout, all else to stderr. Nothing heavy is imported until a command needs it.
"""

from __future__ import annotations

import gc
import io
import os
import sys
from pathlib import PurePath
from typing import NoReturn


def main() -> NoReturn:
    """Run the command that the process was started with, and end the process with its code."""
    from skillgit.cli.app.run import run

    # Histories are records by the ten thousand that hold no cycles: look for some less often.
    gc.set_threshold(100_000, 20, 20)
    for stream in (sys.stdout, sys.stderr):
        # A file's name or a model's words may hold what the terminal's encoding does not.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    name = "git-skillgit" if PurePath(sys.argv[0]).stem == "git-skillgit" else "skillgit"
    sys.exit(run(sys.argv[1:], os.environ, name=name))
