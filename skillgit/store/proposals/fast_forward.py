"""Moving a branch forward with the git command line: hooks run, filters work, nothing is lost.

The work tree that has the branch checked out moves with it; where none has, only the ref moves.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from skillgit.errors import RepositoryError
from skillgit.store.git.git_cli import GitCli, GitResult
from skillgit.store.git.names import HEADS

_WITH_HOOKS_S = 600.0
_FETCH = (
    "fetch",
    "--quiet",
    "--no-tags",
    "--no-prune",
    "--no-write-fetch-head",
    "--no-auto-gc",
    "--no-recurse-submodules",
)


def work_tree_of(git: GitCli, branch: str) -> Path | None:
    """The folder of the work tree that has a branch checked out, of all linked ones."""
    wanted = f"branch {HEADS}{branch}"
    folder: Path | None = None
    for line in git.checked("worktree", "list", "--porcelain").text.split("\n"):
        if line.startswith("worktree "):
            folder = Path(line.removeprefix("worktree "))
        elif line == wanted and folder is not None and folder.is_dir():
            return folder if (folder / ".git").exists() else _own_work_tree(git, branch)
    return None


def _own_work_tree(git: GitCli, branch: str) -> Path | None:
    """The work tree we are in, if it has the branch.

    Where the git dir stands elsewhere, git's list has that in place of the work tree.
    """
    if git.run("symbolic-ref", "--quiet", "HEAD").text != HEADS + branch:
        return None
    top = git.run("rev-parse", "--show-toplevel")
    return Path(os.fsdecode(top.stdout).removesuffix("\n")) if top.ok else None


def fast_forward(git: GitCli, branch: str, *, old: str, new: str) -> None:
    """Moves a branch from a commit to one that descends from it.

    Raises: RepositoryError with git's own words; then nothing has moved.
    """
    folder = work_tree_of(git, branch)
    if folder is None:
        result = git.run(*_FETCH, ".", f"{new}:{HEADS}{branch}")
    else:
        result = _merge(git.at(folder), old, new)
    if not result.ok:
        raise RepositoryError(result.words, hint=f"Nothing was changed; {branch} is where it was.")


def refuse_changed(git: GitCli, branch: str, *, old: str, new: str) -> None:
    """Nothing, when no file that would change, up to a commit or tree, has changes of a person's.

    For what is dear to find out; `fast_forward` looks for itself.
    Raises: RepositoryError naming those that have.
    """
    folder = work_tree_of(git, branch)
    if folder is None:
        return
    changed = [file.path for file in _files(git.at(folder), old, new) if not file.is_known]
    if changed:
        raise RepositoryError(
            f"there are changes in the way that are not committed: {', '.join(changed)}",
            hint="Commit them or stash them first. Nothing was measured, nothing was changed.",
        )


def how_to_undo(git: GitCli, branch: str, old: str) -> str:
    """The command that puts a branch back, and its work tree too if it has one."""
    folder = work_tree_of(git, branch)
    if folder is None:
        return f"git branch -f {shlex.quote(branch)} {old}"
    where = "" if folder.resolve() == git.folder.resolve() else f"-C {shlex.quote(str(folder))} "
    return f"git {where}reset --keep {old}"


def _merge(git: GitCli, old: str, new: str) -> GitResult:
    merge = ("merge", "--ff-only", "--no-autostash", new)
    result = git.run(*merge, timeout=_WITH_HOOKS_S)
    if result.ok or not _settle(git, old, new):
        return result
    return git.run(*merge, timeout=_WITH_HOOKS_S)


def _settle(git: GitCli, old: str, new: str) -> bool:
    """Takes what a killed merge had already written into the index; whether there was any.

    Only when each file that would change is, to the byte, the old one or the new one: then the
    work tree holds nothing that could be lost.
    """
    written: list[str] = []
    for file in _files(git, old, new):
        if not file.is_known:
            return False
        if file.present == file.new and file.staged != file.new and file.new is not None:
            written.append(file.path)
    return bool(written) and git.run("update-index", "--add", "--", *written).ok


class _File(NamedTuple):
    """A file that a move would change: its blobs before and after, in the index and on disk."""

    path: str
    old: str | None
    new: str | None
    staged: str | None
    present: str | None

    @property
    def is_known(self) -> bool:
        """Whether what is there is, to the byte, the old one or the new one."""
        return {self.staged, self.present} <= {self.old, self.new}


def _files(git: GitCli, old: str, new: str) -> Iterator[_File]:
    for path, old_id, new_id in _changes(git, old, new):
        staged = git.run("rev-parse", "--quiet", "--verify", f":{path}").text or None
        present = git.run("hash-object", f"--path={path}", "--", path).text or None
        yield _File(path, old_id, new_id, staged, present)


def _changes(git: GitCli, old: str, new: str) -> Iterator[tuple[str, str | None, str | None]]:
    """The files that differ between two commits or trees, each with its blob in both."""
    raw = git.checked("diff-tree", "-r", "-z", "--no-renames", "--full-index", old, new).stdout
    fields = raw.decode("utf-8", "surrogateescape").split("\0")
    for entry, path in zip(fields[::2], fields[1::2], strict=False):
        _, _, old_id, new_id, _ = entry.split(" ")
        yield path, _known(old_id), _known(new_id)


def _known(blob: str) -> str | None:
    return blob if blob.strip("0") else None
