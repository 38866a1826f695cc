"""Checks of what everything stands on: the programs, the repository, names, locks, refs."""

from __future__ import annotations

import platform
from collections.abc import Iterator

from skillgit import __version__
from skillgit.cli.app.worktree import Worktree, worktree_at
from skillgit.cli.doctor.rows import Patient, Row, bad, ok, warn
from skillgit.cli.show.progress import duration
from skillgit.store.git.git_cli import GitCli, version
from skillgit.store.git.inspection import broken_refs, lock_files
from skillgit.store.git.obstacles import refuse_taken_names
from skillgit.store.git.repository import open_repository

OLDEST_GIT = (2, 31)
"""The first that knows `rev-parse --path-format`."""

_STALE = 300.0  # Unit: seconds. No command of git holds a lock for so long.


def programs(patient: Patient) -> Iterator[Row]:
    """Ourselves, and git."""
    yield ok("skillgit", f"{__version__}, Python {platform.python_version()}")
    found = version(GitCli(patient.invocation.directory, patient.invocation.environ))
    shown = ".".join(map(str, found)) or "of an unknown version"
    if found < OLDEST_GIT:
        oldest = ".".join(map(str, OLDEST_GIT))
        yield bad("git", shown, f"Upgrade git to {oldest} or newer.")
    else:
        yield ok("git", shown)


def repository(patient: Patient) -> Iterator[Row]:
    """What kind of repository this is; opens it."""
    invocation = patient.invocation
    tree = worktree_at(invocation.directory, invocation.environ)
    patient.tree = tree
    patient.repository = open_repository(invocation.directory)
    kind = _kind(tree)
    if tree.ask("rev-parse", "--is-shallow-repository") == "true":
        do = invocation.typed_git("fetch", "--unshallow")
        yield warn("repository", f"{kind}, shallow: older versions are not here", do)
    elif _is_partial(tree):
        yield warn(
            "repository",
            f"{kind}, a partial clone: files that git has not fetched yet cannot be read",
            "git -c remote.origin.partialclonefilter= fetch --refetch",
        )
    else:
        yield ok("repository", kind)


def _kind(tree: Worktree) -> str:
    if tree.bare:
        return "bare"
    own, common = tree.ask("rev-parse", "--git-dir"), tree.ask("rev-parse", "--git-common-dir")
    return "a work tree" if own == common else "a linked work tree"


def _is_partial(tree: Worktree) -> bool:
    found = tree.ask("config", "--get-regexp", r"^(extensions\.partialclone|remote\..*\.promisor)$")
    return bool(found)


def identity(patient: Patient) -> Iterator[Row]:
    """Whose commits they will be."""
    if patient.repository is not None:
        name, email = patient.repository.identity()
        yield ok("identity", f"{name} <{email}>")


def names(patient: Patient) -> Iterator[Row]:
    """Whether the names of our refs are free."""
    if patient.repository is not None:
        refuse_taken_names(patient.repository)
        yield ok("names", "no ref stands where skillgit's have to")


def refs(patient: Patient) -> Iterator[Row]:
    """Refs whose files hold no id: one of them breaks fetch for the whole repository."""
    if patient.repository is None:
        return
    broken = broken_refs(patient.repository)
    for file in broken:
        name = file.relative_to(patient.repository.common).as_posix()
        yield bad(
            "refs",
            f"{name} holds no id ({file.stat().st_size} bytes)",
            f"rm '{file}'; its earlier values, if any: git reflog show {name}",
        )
    if not broken:
        yield ok("refs", "every ref can be read")


def locks(patient: Patient) -> Iterator[Row]:
    """Lock files of git that somebody has left."""
    if patient.repository is None:
        return
    found = False
    now = patient.invocation.clock.now().timestamp()
    for file, written in lock_files(patient.repository):
        found = True
        age = max(0.0, now - written)
        says = f"{file} is there, {duration(age)} old"
        do = f"If no git command runs here: rm '{file}'"
        yield bad("locks", says, do) if age > _STALE else warn("locks", says, do)
    if not found:
        yield ok("locks", "none is held")
