"""Is a proposal adopted? Told from the commits alone, whoever merged it and however."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from enum import StrEnum
from functools import lru_cache

import pygit2

from skillgit.editing.bullets import find_bullets
from skillgit.editing.document import Document, Region
from skillgit.errors import DocumentError, UserError
from skillgit.history.trailers import ParsedTrailers, parse_commit, skill_named
from skillgit.records import Action, Record
from skillgit.store.git.names import is_night
from skillgit.store.git.trees import author_of, message_of
from skillgit.store.proposals.same_version import VersionMark, mark_of, marks_of
from skillgit.store.runs.version_notes import find_original, steps_of_runs

MAX_ON_TOP = 200
"""How many commits of a person's may stand on a proposal before it is taken for none."""

Step = tuple[int, str]


class Lineage(Record):
    """A proposal's commits.

    `is_part` says that only what they change at `paths` is meant. `run_id` is empty where the
    run's branch is not here.
    Shape: `commits` oldest first, a person's own on top included; `versions` those of the run.
    """

    run: str
    run_id: str
    skill: str
    base: str
    commits: tuple[str, ...]
    versions: frozenset[VersionMark]
    paths: tuple[str, ...]
    is_part: bool = False

    @property
    def steps(self) -> frozenset[Step]:
        """The steps of the run that the commits are of."""
        return frozenset((mark.step, mark.action) for mark in self.versions)


class How(StrEnum):
    """By what a proposal was recognised on a branch."""

    CONTAINED = "contained"
    SAME_BYTES = "same_bytes"
    SAME_STEPS = "same_steps"
    SAME_EDITS = "same_edits"


class Recognised(Record):
    """The commit that brought a proposal to a branch, and how that shows."""

    commit: str
    how: How


def read_lineage(git: pygit2.Repository, tip: str) -> Lineage:
    """What stands between a proposal's tip and the base it was made on.

    Raises: UserError for a commit that belongs to no proposal.
    """
    found: list[pygit2.Commit] = []
    own: list[ParsedTrailers] = []
    authors: list[str] = []
    run: _Run | None = None
    for commit in _first_parents(git, tip):
        trailers = parse_commit(message_of(commit))
        if run is not None and (trailers is None or not run.goes_on(commit, trailers)):
            break
        if not own and trailers is None and len(found) >= MAX_ON_TOP:
            break
        found.append(commit)
        if trailers is not None:
            run = run or _Run(git, commit, trailers)
            run.last = trailers
            own.append(trailers)
            authors.append(author_of(commit))
            if trailers.action is Action.BASELINE:
                break
    if run is None or not found[-1].parents:
        raise UserError(
            f"{tip[:12]} is no proposal of a run",
            hint="Adopt one by its run: skillgit adopt train-1; git branch --list 'skillopt/*'",
        )
    if any(not _is_proposed(trailers.action) for trailers in own):
        raise UserError(
            f"{tip[:12]} is on the run's own branch, with all that it tried, not on its proposal",
            hint=f"skillgit adopt {own[0].run}",
        )
    base = found[-1].parents[0]
    return Lineage(
        run=own[0].run,
        run_id=run.run_id,
        skill=run.skill,
        base=str(base.id),
        commits=tuple(str(commit.id) for commit in reversed(found)),
        versions=frozenset(map(mark_of, own, authors)),
        paths=changed_paths(base.tree, found[0].tree),
    )


class _Run:
    """The run whose proposal is read, from its newest version down: `last` is the one read last."""

    def __init__(
        self, git: pygit2.Repository, commit: pygit2.Commit, trailers: ParsedTrailers
    ) -> None:
        runs = steps_of_runs(git, trailers.run)
        original = find_original(runs, trailers, author_of(commit), git)
        state = trailers.state if original is None else original.state
        self.run_id = "" if state is None else state.run_id
        self.skill = (state and state.skill) or skill_named(message_of(commit)) or ""
        self.last = trailers
        self._who = commit.author.email
        self._base = None
        if original is not None:
            steps = next(run for run in runs if original in run.values())
            self._base = next(
                (c.parent for c in steps.values() if c.action is Action.BASELINE), None
            )

    def goes_on(self, commit: pygit2.Commit, trailers: ParsedTrailers) -> bool:
        """Whether a version below is of this run, and not of one of its name that was before."""
        ids = {trailers.run_id, self.last.run_id} - {None}
        return (
            str(commit.id) != self._base
            and trailers.run == self.last.run
            and len(ids) < 2
            and (trailers.step, trailers.action is Action.EPOCH)
            < (self.last.step, self.last.action is Action.EPOCH)
            and commit.author.email == self._who
        )


def is_adopted(git: pygit2.Repository, lineage: Lineage, onto: str) -> Recognised | None:
    """The commit by which a branch's tip has the proposal, or `None` if it has not.

    Merged and fast-forwarded proposals are contained; squash-merged ones left the proposal's
    bytes on some commit since the base; rebased and replayed ones left their trailers. A night's
    rules are looked for by their words, too.
    """
    tip = lineage.commits[-1]
    if is_ancestor(git, tip, onto):
        return Recognised(commit=tip, how=How.CONTAINED)
    proposed = blob_ids(git, tip, lineage.paths)
    changes = proposed != blob_ids(git, lineage.base, lineage.paths)
    missing = set(lineage.versions)
    newest = None
    for commit in _since(git, lineage.base, onto):
        if changes and blob_ids(git, commit, lineage.paths) == proposed:
            return Recognised(commit=commit, how=How.SAME_BYTES)
        seen = _told(git, commit, missing)
        newest = newest or (commit if seen else None)
        missing -= seen
        if newest is not None and not missing:
            return Recognised(commit=newest, how=How.SAME_STEPS)
    if not is_night(lineage.run):
        return None
    commits = _since(git, lineage.base, onto)
    found = find_rules(git, lineage.base, tip, lineage.paths, commits)
    return None if found is None else Recognised(commit=found, how=How.SAME_EDITS)


def steps_on(git: pygit2.Repository, lineage: Lineage, onto: str) -> frozenset[Step]:
    """Those of the proposal's steps that a branch has by their trailers."""
    told = (_told(git, commit, lineage.versions) for commit in _since(git, lineage.base, onto))
    return frozenset((mark.step, mark.action) for marks in told for mark in marks)


def versions_on(git: pygit2.Repository, lineage: Lineage, onto: str) -> int:
    """How many of the proposal's commits lead to bytes that a branch has had since the base."""
    bytes_of = [blob_ids(git, commit, lineage.paths) for commit in lineage.commits]
    at_base = blob_ids(git, lineage.base, lineage.paths)
    here = [blob_ids(git, commit, lineage.paths) for commit in _since(git, lineage.base, onto)]
    had = [v for v in bytes_of if v != at_base and v in here]
    return bytes_of.index(had[-1]) + 1 if had else 0


def is_ancestor(git: pygit2.Repository, older: str, newer: str) -> bool:
    """Whether a commit is another one or stands somewhere below it."""
    return older == newer or git.descendant_of(newer, older)


def blob_ids(git: pygit2.Repository, commit: str, paths: Iterable[str]) -> dict[str, str | None]:
    """What a commit has at some paths, `None` where there is nothing."""
    tree = git[commit].peel(pygit2.Tree)
    return {path: str(tree[path].id) if path in tree else None for path in paths}


def changed_paths(before: pygit2.Tree, after: pygit2.Tree) -> tuple[str, ...]:
    """The paths at which two trees differ, in git's order."""
    paths = (delta.new_file.path for delta in before.diff_to_tree(after).deltas)
    return tuple(dict.fromkeys(paths))


def _is_proposed(action: Action) -> bool:
    return action.accepted or action in (Action.BASELINE, Action.EPOCH)


def _first_parents(git: pygit2.Repository, tip: str) -> Iterator[pygit2.Commit]:
    commit = git[tip].peel(pygit2.Commit)
    yield commit
    while commit.parents:
        commit = commit.parents[0]
        yield commit


def _since(git: pygit2.Repository, base: str, tip: str) -> Iterator[str]:
    """The commits that a branch got since the base, newest first."""
    walker = git.walk(pygit2.Oid(hex=tip))
    walker.hide(pygit2.Oid(hex=base))
    for commit in walker:
        yield str(commit.id)


def _told(
    git: pygit2.Repository, commit: str, versions: Collection[VersionMark]
) -> set[VersionMark]:
    """Those versions that a commit is of by its message, be it one's own or a squash of many."""
    marks = marks_of(git[commit].peel(pygit2.Commit))
    return {version for version in versions if any(version.is_same(mark) for mark in marks)}


# ── A night's rules looked for by their words: what a squash into an edited document leaves of them.

Rules = dict[str, frozenset[str]]


def find_rules(
    git: pygit2.Repository, base: str, tip: str, paths: Iterable[str], commits: Iterable[str]
) -> str | None:
    """The first of some commits that has all rules which a proposal adds, and none that it takes out."""
    wanted = tuple(paths)
    before, after = _rules(git, base, wanted), _rules(git, tip, wanted)
    added = {path: after[path] - before[path] for path in wanted}
    removed = {path: before[path] - after[path] for path in wanted}
    if not any((*added.values(), *removed.values())):
        return None
    seen: set[tuple[frozenset[str], ...]] = set()
    for commit in commits:
        here = _rules(git, commit, wanted)
        state = tuple(here[path] for path in wanted)
        if state in seen:
            continue
        seen.add(state)
        if all(added[p] <= here[p] and not removed[p] & here[p] for p in wanted):
            return commit
    return None


def _rules(git: pygit2.Repository, commit: str, paths: Iterable[str]) -> Rules:
    """The bullets of the learned region at each path, folded."""
    tree = git[commit].peel(pygit2.Tree)
    return {path: _bullets(_data(tree, path)) for path in paths}


def _data(tree: pygit2.Tree, path: str) -> bytes:
    if path not in tree:
        return b""
    found = tree[path]
    return found.data if isinstance(found, pygit2.Blob) else b""


@lru_cache(maxsize=256)
def _bullets(data: bytes) -> frozenset[str]:
    try:
        document = Document.parse(data)
    except DocumentError:
        return frozenset()
    span = document.layout.region(Region.LEARNED)
    if span is None:
        return frozenset()
    found = find_bullets(document.text, span.inner_start, span.inner_end)
    return frozenset(bullet.key for bullet in found)
