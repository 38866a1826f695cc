"""Checks of the machine and the repository: programs, identity, names, locks, refs."""

from __future__ import annotations

import platform
from collections.abc import Iterator

from skillgit import __version__
from skillgit.cli.app.worktree import Worktree, worktree_at
from skillgit.cli.doctor.rows import DoctorContext, Row, bad, ok, warn
from skillgit.cli.show.progress import duration
from skillgit.store.git.git_cli import GitCli, version
from skillgit.store.git.inspection import broken_refs, lock_files
from skillgit.store.git.obstacles import refuse_taken_names
from skillgit.store.git.repository import open_repository

OLDEST_GIT = (2, 31)
"""The first that knows `rev-parse --path-format`."""

_STALE = 300.0  # Unit: seconds. No command of git holds a lock for so long.


def programs(context: DoctorContext) -> Iterator[Row]:
    """Ourselves, and git."""
    yield ok("skillgit", f"{__version__}, Python {platform.python_version()}")
    found = version(GitCli(context.invocation.directory, context.invocation.environ))
    shown = ".".join(map(str, found)) or "of an unknown version"
    if found < OLDEST_GIT:
        oldest = ".".join(map(str, OLDEST_GIT))
        yield bad("git", shown, f"Upgrade git to {oldest} or newer.")
    else:
        yield ok("git", shown)


def repository(context: DoctorContext) -> Iterator[Row]:
    """What kind of repository this is; opens it."""
    invocation = context.invocation
    tree = worktree_at(invocation.directory, invocation.environ)
    context.tree = tree
    context.repository = open_repository(invocation.directory)
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


def identity(context: DoctorContext) -> Iterator[Row]:
    """Whose commits they will be."""
    if context.repository is not None:
        name, email = context.repository.identity()
        yield ok("identity", f"{name} <{email}>")


def names(context: DoctorContext) -> Iterator[Row]:
    """Whether the names of our refs are free."""
    if context.repository is not None:
        refuse_taken_names(context.repository)
        yield ok("names", "no ref stands where skillgit's have to")


def refs(context: DoctorContext) -> Iterator[Row]:
    """Refs whose files hold no id: one of them breaks fetch for the whole repository."""
    if context.repository is None:
        return
    broken = broken_refs(context.repository)
    for file in broken:
        name = file.relative_to(context.repository.common).as_posix()
        yield bad(
            "refs",
            f"{name} holds no id ({file.stat().st_size} bytes)",
            f"rm '{file}'; its earlier values, if any: git reflog show {name}",
        )
    if not broken:
        yield ok("refs", "every ref can be read")


def locks(context: DoctorContext) -> Iterator[Row]:
    """Lock files of git that somebody has left."""
    if context.repository is None:
        return
    found = False
    now = context.invocation.clock.now().timestamp()
    for file, written in lock_files(context.repository):
        found = True
        age = max(0.0, now - written)
        says = f"{file} is there, {duration(age)} old"
        do = f"If no git command runs here: rm '{file}'"
        yield bad("locks", says, do) if age > _STALE else warn("locks", says, do)
    if not found:
        yield ok("locks", "none is held")
