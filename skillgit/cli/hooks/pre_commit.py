"""`pre-commit`: the staged documents of the skills, not those of the work tree."""

from __future__ import annotations

from functools import partial

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.app.worktree import Worktree
from skillgit.cli.hooks.index import StagedIndex
from skillgit.cli.hooks.scripts import HookRefusedError, asked_and_agreed, hooked_tree
from skillgit.cli.show.output import printable, say
from skillgit.config import CONFIG_FILE, parse_configs
from skillgit.review.verify.staged import Staged, look_at

ALLOW = "skillgit.allowRegionEdits"

_GO_ON = "git commit --no-verify goes on all the same."


def pre_commit(invocation: Invocation) -> None:
    """Look at what is new in the staged documents.

    Raises: HookRefusedError for a new fault, and for a hand edit of a protected region that nobody
    agreed to.
    """
    tree = hooked_tree(invocation)
    try:
        text = tree.read(CONFIG_FILE).decode("utf-8-sig")
    except FileNotFoundError:
        return
    index = StagedIndex(tree, invocation)
    skills = tuple(config.skill for config in parse_configs(text))
    found = [staged for path in index.documents(skills) if (staged := _look(index, path))]
    for staged in found:
        for warning in staged.warnings:
            say(f"warning: {printable(f'{staged.path}: {warning}')}")
    _refuse_faults(found)
    _ask_about_regions(found, tree)


def _look(index: StagedIndex, path: str) -> Staged | None:
    after = index.staged(path)
    if after is None:
        return None
    made = partial(index.made_elsewhere, path)
    return look_at(path, index.committed(path), after, made=made)


def _refuse_faults(found: list[Staged]) -> None:
    faults = [f"{staged.path}: {fault}" for staged in found for fault in staged.faults]
    if faults:
        raise HookRefusedError(
            printable("; ".join(faults)), hint=f"Mend it and git add it again; {_GO_ON}"
        )


def _ask_about_regions(found: list[Staged], tree: Worktree) -> None:
    edited = [f"{s.path}: {', '.join(r.value for r in s.regions)}" for s in found if s.regions]
    allowed = tree.ask("config", "--type=bool", "--get", ALLOW) == "true"
    if not edited or allowed:
        return
    words = f"a protected region was edited by hand ({printable('; '.join(edited))})"
    if asked_and_agreed(f"{words}; a later epoch or night may write it anew.\nCommit it?"):
        return
    raise HookRefusedError(
        words,
        hint=f"git -c {ALLOW}=true commit ... allows it this once, "
        f"git config {ALLOW} true always.\n{_GO_ON}",
    )
