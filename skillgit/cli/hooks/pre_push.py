"""`pre-push`: what goes along that should not, and what stays behind that one would miss."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.app.worktree import Worktree
from skillgit.cli.hooks.scripts import HookRefusedError, hooked_tree
from skillgit.cli.show.output import say
from skillgit.history.run_names import NIGHT, is_night
from skillgit.store.git.names import HEADS, NOTES, PROPOSALS, RUNS, TAGS
from skillgit.store.remotes.remotes import remote_notes

_DELETED = "(delete)"
_NIGHT_RUNS = f"{RUNS}{NIGHT}-"
_PRIVATE = (f"{NOTES}-", "refs/skillopt/", _NIGHT_RUNS)


@dataclass(frozen=True)
class Pushed:
    """One line of what git tells the hook."""

    ref: str
    id: str
    remote_ref: str


def pre_push(invocation: Invocation, remote: str) -> None:
    """Look at what is pushed to a remote.

    Raises: HookRefusedError when private refs would leave.
    """
    pushed = _pushed(invocation.environ)
    if not pushed:
        return
    tree = hooked_tree(invocation)
    _refuse_private(pushed, remote, tree)
    for line in remarks(pushed, remote, notes_are_there=_notes_are_there(tree, remote)):
        say(f"skillgit: {line}")


def remarks(pushed: Iterable[Pushed], remote: str, *, notes_are_there: bool) -> list[str]:
    """What a person may not know about the push."""
    refs = {p.remote_ref: p for p in pushed}
    runs = sorted(ref.removeprefix(HEADS) for ref in refs if ref.startswith(RUNS))
    proposals = [r for r in refs if r.startswith(PROPOSALS) and not r.startswith(RUNS)]
    found: list[str] = []
    if runs and any("skillopt" not in ref for ref in refs):
        found.append(
            f"run branches go along, with all that was tried: {', '.join(runs)}; "
            f"git push {remote} --delete {' '.join(runs)} takes them back"
        )
    public = [r for r in (*proposals, *(HEADS + run for run in runs)) if not _is_nights(r)]
    if public and NOTES not in refs and not notes_are_there:
        found.append(
            f"{', '.join(r.removeprefix(HEADS) for r in public)} goes without its notes "
            f"(scores, evidence, what was rejected); git push {remote} {NOTES} sends them"
        )
    nights = [r.removeprefix(HEADS) for r in proposals if _is_nights(r)]
    if nights and any("skillopt" not in ref for ref in refs):
        found.append(f"{', '.join(nights)} goes along: what a night made of your own sessions")
    tags = [r.removeprefix("refs/tags/") for r in refs if r.startswith(TAGS)]
    if tags:
        found.append(
            f"the tag {', '.join(tags)} moves, and a pushed tag that moves breaks a colleague's "
            "git pull --tags; every clone finds its own"
        )
    return found


def _is_nights(ref: str) -> bool:
    return is_night(ref.rpartition("/")[2])


def _refuse_private(pushed: Iterable[Pushed], remote: str, tree: Worktree) -> None:
    tips = _private_tips(tree)
    leaving = [name for name in dict.fromkeys(_private_name(p, tips) for p in pushed) if name]
    if leaving:
        raise HookRefusedError(
            f"the push would send {', '.join(leaving)}, which speak of private sessions",
            hint=f"git push {remote} 'refs/heads/*' '^{_NIGHT_RUNS}*' sends the branches but them; "
            "git push --no-verify sends them all the same.",
        )


def _private_name(pushed: Pushed, tips: Mapping[str, str]) -> str:
    """The private ref that is pushed, under its own name or another; empty when it is none."""
    for name in (pushed.ref, pushed.remote_ref):
        if name.startswith(_PRIVATE):
            return name
    return "" if "skillopt" in pushed.ref else tips.get(pushed.id, "")


def _private_tips(tree: Worktree) -> dict[str, str]:
    """The private refs by the commits that they stand on, whatever name these are pushed under."""
    patterns = (f"{NOTES}-*", "refs/skillopt", f"{_NIGHT_RUNS}*")
    listed = tree.ask("for-each-ref", "--format=%(objectname) %(refname)", *patterns) or ""
    found = (line.split(" ", 1) for line in listed.splitlines())
    return {object_id: ref for object_id, ref in found if ref.startswith(_PRIVATE)}


def _notes_are_there(tree: Worktree, remote: str) -> bool:
    """Whether the remote has our notes already, or there are none."""
    ours = tree.ask("rev-parse", "--verify", "--quiet", NOTES)
    return ours is None or ours == tree.ask("rev-parse", "-q", "--verify", remote_notes(remote))


def _pushed(environ: Mapping[str, str]) -> list[Pushed]:
    """What git says on stdin; the pre-commit framework says it in variables."""
    if "PRE_COMMIT_REMOTE_BRANCH" in environ:
        names = ("PRE_COMMIT_LOCAL_BRANCH", "PRE_COMMIT_TO_REF", "PRE_COMMIT_REMOTE_BRANCH")
        return [Pushed(*(environ.get(name, "") for name in names))]
    if sys.stdin.isatty():
        return []
    lines = (line.split() for line in sys.stdin.read().splitlines())
    found = [Pushed(w[0], w[1], w[2]) for w in lines if len(w) == len(("ref", "id", "to", "was"))]
    return [p for p in found if p.ref != _DELETED]
