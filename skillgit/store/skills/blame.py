"""`git blame`, read line by line: git knows best where a line comes from."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from skillgit.records import Record
from skillgit.store.git.git_cli import GitCli


class BlamedLine(Record):
    """A line with the commit that brought it; `commit` is `None` while it is not committed.

    `number` counts from 1 in the text that was asked for.
    """

    number: int
    text: str
    commit: str | None
    author: str
    time: datetime
    subject: str


def blame(
    git: GitCli, path: str, *, commit: str | None = None, lines: tuple[int, int] | None = None
) -> list[BlamedLine]:
    """The lines of a file as a commit has it, or the work tree.

    `lines` are the first and the last that are meant.
    Raises: RepositoryError with git's own words.
    """
    only = () if lines is None else ("-L", f"{lines[0]},{lines[1]}")
    rev = () if commit is None else (commit,)
    out = git.checked("blame", "--line-porcelain", *only, *rev, "--", path).stdout
    return list(_parsed(out.decode("utf-8", "replace").split("\n")))


def _parsed(porcelain: list[str]) -> Iterator[BlamedLine]:
    """Each line stands after its head, behind a tab."""
    head: list[str] = []
    for line in porcelain:
        if not line.startswith("\t"):
            head.append(line)
            continue
        commit, _, number, *_ = head[0].split(" ")
        fields = dict(field.partition(" ")[::2] for field in head[1:])
        yield BlamedLine(
            number=int(number),
            text=line[1:].removesuffix("\r"),
            commit=commit if commit.strip("0") else None,
            author=fields.get("author", ""),
            time=datetime.fromtimestamp(int(fields.get("author-time", "0")), UTC),
            subject=fields.get("summary", ""),
        )
        head = []
