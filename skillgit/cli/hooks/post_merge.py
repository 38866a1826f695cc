"""`post-merge`: what a run or a night brought, said right after the merge that adopted it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.app.worktree import Worktree
from skillgit.cli.hooks.scripts import hooked_tree
from skillgit.cli.show.output import count, number, one_line, say
from skillgit.history.messages import unwrapped
from skillgit.history.trailers import ParsedTrailers, parse_commit, skill_named
from skillgit.records import Action
from skillgit.store.git.names import run_ref

_MAX_EDITS = 6
_MORE = re.compile(r"- and ([1-9][0-9]*) more edits")
_MERGED = "ORIG_HEAD..HEAD"
_QUOTED = re.compile(r"^[ \t>*]*Skillopt-Run: ([a-z]{1,20}-[1-9][0-9]{0,8})[ \t]*$", re.MULTILINE)


@dataclass(frozen=True)
class Version:
    """One version that the merge brought: its trailers, its skill, and its edits in words."""

    trailers: ParsedTrailers
    skill: str
    edits: tuple[str, ...]

    @property
    def n_edits(self) -> int:
        """How many edits it has: of very many, a message only counts the last ones."""
        more = sum(int(found[1]) for edit in self.edits if (found := _MORE.fullmatch(edit)))
        return more + sum(_MORE.fullmatch(edit) is None for edit in self.edits)


def post_merge(invocation: Invocation, *, squashed: bool) -> None:
    """Say what the merge brought, if it brought versions that were trained."""
    tree = hooked_tree(invocation)
    if squashed:
        say("skillgit: a run's versions are staged as one; the commit is what adopts them.")
        return
    brought: dict[str, list[Version]] = {}
    for message in _messages(tree):
        for run, version in _read(message):
            brought.setdefault(run, []).extend(version)
    for run, versions in brought.items():
        for line in summary(run, versions, baseline=_baseline(tree, run)):
            say(line)
    if brought:
        say(f"  {invocation.typed_git('log', _MERGED)} shows it all.")


def summary(run: str, versions: list[Version], *, baseline: float | None) -> list[str]:
    """A run's versions in a few lines.

    Shape: `versions` newest first; none when a squash left only their names.
    """
    if not versions:
        return [f"skillgit: {run} is adopted, squashed into one commit"]
    edits = [edit for version in versions[::-1] for edit in version.edits]
    accepted = [version for version in versions if version.trailers.action.accepted]
    total = sum(version.n_edits for version in accepted)
    scores_told = (version.trailers.score for version in versions)
    best = next((score for score in scores_told if score is not None), None)
    scores = number(best) if baseline is None else f"{number(baseline)} -> {number(best)}"
    if best is None:
        scores = "unmeasured on this text"
    size = f"{count(total, 'edit')} in {count(len(accepted), 'version')}"
    found = [f"skillgit: {run} is adopted: {versions[0].skill} {scores}, {size}"]
    found += [f"  {one_line(edit)}" for edit in edits[:_MAX_EDITS]]
    if len(edits) > _MAX_EDITS:
        found.append(f"  and {len(edits) - _MAX_EDITS} more")
    return found


def _messages(tree: Worktree) -> list[str]:
    log = tree.ask("log", "-z", "--format=%B", "--grep=Skillopt-Run: ", _MERGED) or ""
    return [message for message in log.split("\0") if message.strip()]


def _read(message: str) -> Iterator[tuple[str, list[Version]]]:
    """The runs that a message is of or quotes, each with the version that it is."""
    trailers = parse_commit(message)
    if trailers is None:
        yield from ((run, []) for run in dict.fromkeys(_QUOTED.findall(message)))
    elif trailers.action.accepted or trailers.action is Action.EPOCH:
        body = message.split("\n\n")[1:-1]
        lines = (line for paragraph in body for line in unwrapped(paragraph))
        edits = tuple(line for line in lines if line.startswith("- "))
        yield trailers.run, [Version(trailers, skill_named(message) or "the skill", edits)]


def _baseline(tree: Worktree, run: str) -> float | None:
    """The score that the run began with, where its branch is here."""
    first = tree.ask(
        *("log", "-z", "--format=%B", "--grep=^Skillopt-Step: 0$", "-1", run_ref(run), "--")
    )
    trailers = parse_commit((first or "").rstrip("\0"))
    return trailers.score if trailers and trailers.run == run else None
