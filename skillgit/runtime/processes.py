"""Programs that belong to a project: agents and judges that are commands.

Each is started from a list, never through a shell, sees the variables it is given and no others,
and is ended with everything it started, at its time limit or when it is done. Programs that are
not a project's are started elsewhere: git, the forge's command line, a person's key command.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from skillgit.errors import BlockedError, CallError
from skillgit.ports import Clock
from skillgit.records import PaidReply, Record
from skillgit.records.canonical import fingerprint

KEPT_BYTES = 1_000_000
"""How much of a program's output is kept. Unit: bytes."""

MARK = "SKILLGIT_PROCESS"
"""The variable by which all that a program has started is found again, where there is `/proc`."""

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH", re.IGNORECASE)
_SHORTEST_SECRET = 8
_KEPT_ERRORS = 16_000
_CHUNK = 65_536
_PIPES_CLOSE_WITHIN = 5.0
_SWEEPS = 50
_PROC = Path("/proc")


class CommandRequest(Record):
    """What a program is asked, as the journal knows it; `files` are digests by path."""

    command: tuple[str, ...]
    program: str
    stdin: str
    files: dict[str, str]


class CommandReply(PaidReply):
    """What a program answered; `cut` is how many bytes of its output were not kept."""

    exit_code: int
    stdout: str
    stderr: str = ""
    cut: int = 0


@dataclass(frozen=True)
class Program:
    """A command with all that it may use.

    `root` is the repository's work tree, `variables` its whole environment.
    Unit: `timeout` in seconds.
    """

    command: tuple[str, ...]
    timeout: float
    variables: Mapping[str, str]
    root: str | None
    clock: Clock

    def request(self, stdin: str, files: Mapping[str, bytes]) -> CommandRequest:
        """What stands in the journal for this question."""
        return CommandRequest(
            command=self.command,
            program=command_digest(self.command, self.root, files),
            stdin=stdin,
            files={path: _digest(data) for path, data in files.items()},
        )

    def run(
        self, stdin: str, files: Mapping[str, bytes], places: Mapping[str, str]
    ) -> CommandReply:
        """Run in a fresh folder that holds `files`, until it is done or its time is up.

        `places` are paths in that folder by name: each fills `{name}` in the command and stands
        in the variable `SKILLGIT_NAME`, both as absolute paths.
        Raises: CallError when its time is up; BlockedError when it cannot be started.
        """
        with _folder_of(files) as folder:
            known = {name: str(folder / path) for name, path in places.items()}
            if self.root is not None:
                known["repo"] = self.root
            variables = {f"SKILLGIT_{name.upper()}": path for name, path in known.items()}
            command = [_filled(part, known, self.root, files) for part in self.command]
            return _run(self, command, stdin, folder, {**self.variables, **variables})


def command_digest(
    command: Sequence[str], root: str | None, runtime: Mapping[str, bytes] | None = None
) -> str:
    """16 hex digits of a command and of the repository's files that it names.

    `runtime` holds what lies in the program's own folder instead.
    """
    named = (_repository_file(part, root, runtime or {}) for part in command)
    contents = [None if path is None else _digest(path.read_bytes()) for path in named]
    return fingerprint([list(command), contents])


def _run(
    program: Program, command: list[str], stdin: str, folder: Path, variables: Mapping[str, str]
) -> CommandReply:
    mark = secrets.token_hex(16)
    started = program.clock.monotonic()
    process = _start(command, folder, {**variables, MARK: mark})
    out = _Tap(_piped(process.stdout), KEPT_BYTES)
    errors = _Tap(_piped(process.stderr), _KEPT_ERRORS)
    question = stdin.encode("utf-8", "replace")
    feeder = threading.Thread(target=_feed, args=(_piped(process.stdin), question), daemon=True)
    feeder.start()
    try:
        process.wait(timeout=program.timeout)
    except subprocess.TimeoutExpired as error:
        raise CallError(
            f"{command[0]} was not done within {program.timeout:g} s and was ended"
        ) from error
    finally:
        end_tree(process, mark)
        feeder.join(_PIPES_CLOSE_WITHIN)
        out.close()
        errors.close()
    return CommandReply(
        exit_code=process.returncode,
        stdout=_without_secrets(out.text, program.variables),
        stderr=_without_secrets(errors.text, program.variables),
        cut=out.cut,
        milliseconds=round(1000 * (program.clock.monotonic() - started)),
    )


def _start(
    command: list[str], folder: Path, variables: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            command,
            cwd=folder,
            env=dict(variables),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise BlockedError(
            f"the command {command[0]!r} cannot be started: {reason}",
            hint="check `command`; a program of the repository is named by its path from the root",
        ) from error


def _piped(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise AssertionError("a program is started with all three pipes")
    return pipe


class _Tap:
    """Reads a pipe to its end in a thread of its own, and keeps only the beginning."""

    def __init__(self, pipe: IO[bytes], limit: int) -> None:
        self._pipe = pipe
        self._limit = limit
        self._kept = bytearray()
        self.cut = 0
        self._thread = threading.Thread(target=self._drain, daemon=True)
        self._thread.start()

    @property
    def text(self) -> str:
        """What was kept; a character that the cut went through is left out."""
        errors = "ignore" if self.cut else "replace"
        return bytes(self._kept).decode("utf-8", errors)

    def close(self) -> None:
        """Wait for the end of the pipe, though not for ever."""
        self._thread.join(_PIPES_CLOSE_WITHIN)
        if not self._thread.is_alive():
            self._pipe.close()

    def _drain(self) -> None:
        with suppress(OSError, ValueError):
            while chunk := os.read(self._pipe.fileno(), _CHUNK):
                room = max(0, self._limit - len(self._kept))
                self._kept += chunk[:room]
                self.cut += max(0, len(chunk) - room)


def _feed(pipe: IO[bytes], data: bytes) -> None:
    """Write the question; a program that does not read it is no error."""
    with suppress(OSError, ValueError):
        pipe.write(data)
    with suppress(OSError, ValueError):
        pipe.close()


def _without_secrets(text: str, variables: Mapping[str, str]) -> str:
    """The text without the values of variables that are secrets by their names."""
    for name, value in variables.items():
        if len(value) >= _SHORTEST_SECRET and _SECRET_NAME.search(name):
            text = text.replace(value, f"<{name}>")
    return text


@contextmanager
def _folder_of(files: Mapping[str, bytes]) -> Iterator[Path]:
    """A temporary folder that holds the files, removed afterwards.

    Raises: ValueError for a path that leads out of it.
    """
    with tempfile.TemporaryDirectory(prefix="skillgit-", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        for path, data in files.items():
            pure = PurePosixPath(path)
            if pure.is_absolute() or ".." in pure.parts:
                raise ValueError(f"{path!r} leads out of the folder")
            target = folder / pure
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        yield folder


def _filled(
    part: str, known: Mapping[str, str], root: str | None, files: Mapping[str, bytes]
) -> str:
    """A part of the command with its placeholders filled, and the repository's files found."""
    found = _repository_file(part, root, files)
    if found is not None:
        return str(found)
    for name, path in known.items():
        part = part.replace(f"{{{name}}}", path)
    return part


def _repository_file(part: str, root: str | None, runtime: Mapping[str, bytes]) -> Path | None:
    """The file of the work tree that a part of a command names by its path from the root.

    What lies in the program's own folder under the same path is meant there, not here.
    """
    if root is None or not part or part.startswith("-"):
        return None
    part = part.replace("{repo}", ".")
    pure = PurePosixPath(part)
    if pure.is_absolute() or str(pure) in runtime or "\0" in part:
        return None
    path = Path(root) / pure
    try:
        return path if path.is_file() else None
    except OSError:
        return None


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def printable_command(command: Sequence[str]) -> str:
    """A command as a person would type it, on one line."""
    quoted = (
        part if part and part.isprintable() and " " not in part else repr(part) for part in command
    )
    return " ".join(quoted)


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
