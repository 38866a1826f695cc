"""The one place that runs the git command line, for what needs hooks, filters or credentials.

Arguments are a list, never a shell's; git's own words are what an error says.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from skillgit.errors import RepositoryError
from skillgit.records import Record

LOCAL_TIMEOUT = 120.0
GC_TIMEOUT = 900.0
_GRACE = 5.0

# What points git at another repository than the folder it is started in.
_MISLEADING = frozenset(
    (
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_DIR",
        "GIT_GRAFT_FILE",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_NAMESPACE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_WORK_TREE",
    )
)
_FIXED = {
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_MERGE_AUTOEDIT": "no",
    "GIT_PAGER": "cat",
}
_MARK = re.compile(r"\A(?:fatal|error): ")
_USER_INFO = re.compile(r"(?<=://)[^/@\s]+@")


class GitResult(Record):
    """How a git command ended."""

    code: int
    stdout: bytes
    stderr: str

    @property
    def ok(self) -> bool:
        """Whether git says it went well."""
        return self.code == 0

    @property
    def text(self) -> str:
        """Its standard output as text, without the last line end."""
        return self.stdout.decode("utf-8", "replace").rstrip("\n")

    @property
    def words(self) -> str:
        """What git said about a failure, without its first mark and user info in URLs."""
        said = self.stderr.strip() or self.text.strip() or f"git ended with code {self.code}"
        return _USER_INFO.sub("", _MARK.sub("", said))


class GitCli:
    """The git command line in one folder, with the environment that was handed in."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.folder = folder
        self._given = environment
        self._environment = {
            **{name: value for name, value in environment.items() if name not in _MISLEADING},
            **_FIXED,
        }

    def at(self, folder: Path) -> GitCli:
        """The same, in another folder."""
        return GitCli(folder, self._given)

    def with_index(self, file: Path) -> GitCli:
        """The same, reading another index: a hook sees the one that its commit is made from."""
        other = GitCli(self.folder, self._given)
        other._environment["GIT_INDEX_FILE"] = str(file)
        return other

    def with_variables(self, variables: Mapping[str, str]) -> GitCli:
        """The same, with some more variables set."""
        other = GitCli(self.folder, self._given)
        other._environment.update(variables)
        return other

    def run(self, *arguments: str, stdin: bytes = b"", timeout: float = LOCAL_TIMEOUT) -> GitResult:
        """How git with these arguments ended.

        Files, not pipes, take the output: what a hook leaves running must not hold us up.
        Unit: seconds.
        Raises: RepositoryError when git is missing or took too long.
        """
        with (
            tempfile.TemporaryFile() as given,
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
        ):
            given.write(stdin)
            given.seek(0)
            process = self._start(arguments, given.fileno(), out.fileno(), err.fileno())
            try:
                process.wait(timeout)
            except subprocess.TimeoutExpired as error:
                raise RepositoryError(
                    f"git {arguments[0]} did not end within {timeout:g} seconds and was stopped"
                ) from error
            finally:
                _stop(process)
            out.seek(0)
            err.seek(0)
            return GitResult(
                code=process.returncode,
                stdout=out.read(),
                stderr=err.read().decode("utf-8", "replace"),
            )

    def checked(
        self, *arguments: str, stdin: bytes = b"", timeout: float = LOCAL_TIMEOUT
    ) -> GitResult:
        """As `run`, for what must go well.

        Raises: RepositoryError with git's own words.
        """
        result = self.run(*arguments, stdin=stdin, timeout=timeout)
        if not result.ok:
            raise RepositoryError(result.words)
        return result

    def _start(
        self, arguments: tuple[str, ...], stdin: int, stdout: int, stderr: int
    ) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                ["git", *arguments],
                cwd=self.folder,
                env=self._environment,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
        except FileNotFoundError as error:
            if not self.folder.is_dir():
                raise RepositoryError(f"there is no folder {self.folder}") from error
            raise RepositoryError(
                "the git command was not found", hint="install git, or put it on PATH"
            ) from error


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ends git and what it started, politely first, unless git has ended by itself."""
    for deadly in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, deadly)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE)


def version(git: GitCli) -> tuple[int, ...]:
    """The version of git.

    Shape: numbers, most significant first.
    """
    matched = re.search(r"\d+(?:\.\d+)+", git.checked("version").text)
    return tuple(int(part) for part in matched[0].split(".")) if matched else ()


def gc_auto(git: GitCli) -> GitResult:
    """Lets git pack the repository if it finds it worth while, and waits for it."""
    return git.run(
        "-c",
        "gc.autoDetach=false",
        "-c",
        "maintenance.autoDetach=false",
        "gc",
        "--auto",
        "--quiet",
        timeout=GC_TIMEOUT,
    )
