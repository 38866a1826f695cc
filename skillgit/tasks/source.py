"""The files a task set is read from, through two small ports, so that a bare repository works.

A reader turns files into rows; a row is not yet a task, and what is wrong with it is collected
rather than raised, so that a person sees all of it at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from skillgit.errors import TaskError
from skillgit.records import Split
from skillgit.tasks.strict_json import JsonValue

ReadFile = Callable[[str], bytes]
ListFiles = Callable[[str], Sequence[str]]

MAX_PROBLEMS = 10
_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True)
class Row:
    """One task as a file has it: named fields, and where they stand.

    `split` is what the file's own name says; `strict` rows may hold no field we do not know.
    """

    place: str
    fields: Mapping[str, JsonValue]
    split: Split | None = None
    strict: bool = False


@dataclass
class Problems:
    """What is wrong with a task set, each with its place, until it is raised as one error."""

    messages: list[str] = field(default_factory=list)

    def add(self, place: str, reason: str) -> None:
        """Note one thing that is wrong at a place."""
        self.messages.append(f"{place}: {reason}")

    def raise_any(self, hint: str = "") -> None:
        """Raises: TaskError with the first ten problems, when there are any."""
        if not self.messages:
            return
        shown = self.messages[:MAX_PROBLEMS]
        rest = len(self.messages) - len(shown)
        if rest:
            shown.append(f"and {rest} more")
        text = shown[0] if len(shown) == 1 else "\n  ".join(["the tasks cannot be used:", *shown])
        raise TaskError(text, hint=hint)


@dataclass(frozen=True)
class TaskSource:
    """The configured path with the files at or under it.

    Shape: `files` are paths from the repository's root, in order.
    """

    path: str
    files: tuple[str, ...]
    read: ReadFile
    problems: Problems

    @property
    def is_folder(self) -> bool:
        """Whether the path is a folder rather than one file."""
        return self.files != (self.path,)

    def inside(self, file: str) -> str:
        """A file's path as seen from the configured folder."""
        pure = PurePosixPath(file)
        return str(pure.relative_to(self.path)) if self.is_folder else pure.name

    def at_the_top(self, endings: tuple[str, ...]) -> list[str]:
        """The file itself, or the files right in the folder, whose names end so."""
        return [
            file
            for file in self.files
            if file.lower().endswith(endings) and "/" not in self.inside(file)
        ]

    def text(self, file: str) -> str | None:
        """A file's text without its byte order mark; `None`, with a problem noted, if unreadable."""
        try:
            data = self.read(file)
        except OSError as error:
            self.problems.add(file, f"cannot be read ({error.strerror or error})")
            return None
        if data.startswith((b"\xff\xfe", b"\xfe\xff")):
            self.problems.add(file, "is UTF-16; save it as UTF-8")
            return None
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = len(_LINE_END.findall(data[: error.start].decode("utf-8", "replace"))) + 1
            self.problems.add(f"{file}:{line}", "is not UTF-8")
            return None


def open_source(path: str, read: ReadFile, list_files: ListFiles, problems: Problems) -> TaskSource:
    """The source at a configured path.

    Raises: TaskError when nothing is there.
    """
    pure = PurePosixPath(path)
    if not path.strip() or pure.is_absolute() or ".." in pure.parts:
        raise TaskError(
            f"[tasks] path {path!r} is no path inside the repository",
            hint="name a file or folder by its path from the repository's root",
        )
    folded = str(pure)
    files = tuple(sorted(str(PurePosixPath(file)) for file in list_files(folded)))
    if files != (folded,):
        files = tuple(file for file in files if not PurePosixPath(file).name.startswith("."))
    if not files:
        raise TaskError(
            f"{path}: there are no tasks at this path",
            hint="set [tasks] path in skillgit.toml to a file or folder of tasks",
        )
    return TaskSource(folded, files, read, problems)


def lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, with their numbers from 1, without byte order marks.

    Files that were joined have such marks inside. Only line feeds and carriage returns end a line: U+2028 may stand in a JSON string.
    """
    for number, line in enumerate(_LINE_END.split(text), start=1):
        line = line.removeprefix("\ufeff")
        if line.strip():
            yield number, line
