"""What stands in a run's way: names it needs that are taken, a branch that is checked out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from skillgit.errors import RepositoryError
from skillgit.store.git.names import HEADS, NIGHT_NOTES, NOTES, SLEEP, TAGS, best_tag, run_ref
from skillgit.store.git.repository import Repository

_TAKES_A_FOLDER = ("refs/heads/skillopt", "refs/heads/skillopt/run", "refs/tags/skillopt")
_IS_A_FOLDER = (NOTES, NIGHT_NOTES, SLEEP)
_TOPS = ("refs/heads/skillopt", "refs/tags/skillopt", NOTES, NIGHT_NOTES, SLEEP)


def refuse_taken_names(repository: Repository, *, skill: str | None = None) -> None:
    """Refuse a ref whose name stands where skillgit's own refs have to.

    Raises: RepositoryError with the command that renames it.
    """
    names = list(repository.git.references)
    if _folds_case(repository):
        _refuse_other_case(names)
    blocked = {*_TAKES_A_FOLDER, HEADS + "skillopt/best"}
    if skill is not None:
        blocked.add(TAGS + skill)
    for name in names:
        if name in blocked or _lies_below(name, skill):
            raise RepositoryError(
                f"{_kind(name)} is in the way of skillgit's own refs", hint=_rename(name)
            )


def _folds_case(repository: Repository) -> bool:
    config = repository.git.config
    return "core.ignorecase" in config and config.get_bool("core.ignorecase")


def _refuse_other_case(names: Sequence[str]) -> None:
    """Refuse refs that a file system without regard to case would take for skillgit's own."""
    for name in names:
        start = "/".join(name.split("/")[:3])
        if start.lower() in _TOPS and start not in _TOPS:
            raise RepositoryError(
                f"{_kind(name)} is in the way of skillgit's own refs: this file system does not"
                " tell capitals from small letters",
                hint=_rename(name),
            )


def _lies_below(name: str, skill: str | None) -> bool:
    folders = (*_IS_A_FOLDER, best_tag(), *([best_tag(skill)] if skill else []))
    return any(name.startswith(f"{folder}/") for folder in folders)


def _kind(name: str) -> str:
    for prefix, noun in ((HEADS, "the branch"), ("refs/tags/", "the tag")):
        if name.startswith(prefix):
            return f"{noun} {name.removeprefix(prefix)}"
    return f"the ref {name}"


def _rename(name: str) -> str:
    if name.startswith(HEADS):
        branch = name.removeprefix(HEADS)
        return f"git branch -m {branch} old-{branch.replace('/', '-')}"
    if name.startswith("refs/tags/"):
        tag = name.removeprefix("refs/tags/")
        return f"git tag old-{tag.replace('/', '-')} {name} && git tag -d {tag}"
    top, _, rest = name.removeprefix("refs/").partition("/")
    renamed = f"refs/{top}/old-{rest.replace('/', '-')}"
    return f"git update-ref {renamed} {name} && git update-ref -d {name}"


def refuse_checked_out(repository: Repository, run: str) -> None:
    """Refuse a run whose branch is checked out, rebased or bisected in any work tree.

    Moving such a branch would leave the inverse of each step staged there.
    Raises: RepositoryError naming the work tree.
    """
    ref = run_ref(run)
    for git_dir, place in _work_trees(repository):
        doing = _holds(git_dir, ref)
        if doing is not None:
            branch = ref.removeprefix(HEADS)
            raise RepositoryError(
                f"{branch} is {doing} in {place}, so its steps cannot be committed",
                hint=_leave(doing, place, repository, run),
            )


def _leave(doing: str, place: Path, repository: Repository, run: str) -> str:
    where = "" if place == repository.workdir else f"-C '{place}' "
    commands = {"being rebased": "rebase --abort", "being bisected": "bisect reset"}
    return f"git {where}{commands.get(doing, f'switch --detach  # to look at {run} all the same')}"


def _work_trees(repository: Repository) -> Iterator[tuple[Path, Path]]:
    """Every work tree's own git dir, with the folder it stands in."""
    common = repository.common
    if not _is_bare(repository):
        yield common, common.parent if common.name == ".git" else repository.workdir or common
    for git_dir in sorted((common / "worktrees").glob("*")):
        pointer = _text(git_dir / "gitdir").strip()
        yield git_dir, (git_dir / pointer).parent if pointer else git_dir


def _is_bare(repository: Repository) -> bool:
    if "core.bare" not in repository.git.config:
        return repository.git.is_bare
    return repository.git.config.get_bool("core.bare")


def _holds(git_dir: Path, ref: str) -> str | None:
    """How a work tree holds a branch, by the files that git itself leaves there."""
    if _text(git_dir / "HEAD").strip() == f"ref: {ref}":
        return "checked out"
    for folder in ("rebase-merge", "rebase-apply"):
        if _text(git_dir / folder / "head-name").strip() == ref:
            return "being rebased"
    if ref in _text(git_dir / "rebase-merge" / "update-refs").splitlines():
        return "being rebased"
    start = _text(git_dir / "BISECT_START").strip()
    if start and start.removeprefix(HEADS) == ref.removeprefix(HEADS):
        return "being bisected"
    return None


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
