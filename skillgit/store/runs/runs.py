"""Runs: their branches, read newest first, and the commits of one moment, built from its record.

Objects are built without moving anything; until the branch moves they are unreferenced.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

import pygit2

from skillgit.errors import ConflictError, RepositoryError
from skillgit.history import Entry, Phase, RunCommit, RunHead, RunState
from skillgit.history.messages import compose, compose_revert, compose_take_back
from skillgit.history.trailers import (
    STATE_HEADER,
    ParsedTrailers,
    parse_commit,
    parse_state,
    state_text,
)
from skillgit.records import Action, Metric, Record
from skillgit.store.git import names
from skillgit.store.git.names import RunName
from skillgit.store.git.refs import GIT_ERRORS
from skillgit.store.git.repository import Repository
from skillgit.store.git.rewrite import commit_with, header_value
from skillgit.store.git.trees import commit_at, message_of, tree_of, written
from skillgit.store.notes.union import fetched_notes
from skillgit.store.skills.skills import tree_with

_REMOTES = "refs/remotes/"
_ORDER = list(Phase)
_PHASES = {Action.EPOCH: Phase.EPOCH, Action.END: Phase.END}


class BuiltEntry(Record):
    """The commits of one moment: the candidate's, and the one that the branch ends on."""

    candidate: str
    tip: RunCommit
    time: int


def new_run(
    repository: Repository,
    name: RunName,
    *,
    skill: str,
    onto: str,
    target: str,
    run: str,
    metric: Metric,
    started: datetime,
) -> RunHead:
    """The head of a run that begins now, on the commit that `onto` is at.

    Raises: RepositoryError when there is no such branch, or nobody to commit as.
    """
    base = str(repository.onto_commit(onto).id)
    who, email = repository.identity()
    return RunHead(
        name=str(name),
        run_id=names.run_id(base, run, f"{who} <{email}>", started.astimezone(UTC), str(name)),
        skill=skill,
        onto=onto,
        base=base,
        target=target,
        run=run,
        metric=metric,
    )


def run_names(repository: Repository) -> list[str]:
    """The runs that have a branch here, oldest first by number."""
    found = [
        names.parse_run(ref.removeprefix(names.RUNS))
        for ref in repository.git.references
        if ref.startswith(names.RUNS) and names.run_of_ref(ref) is not None
    ]
    return [str(name) for name in sorted(found, key=lambda n: (n.number, n.kind))]


def run_refs(repository: Repository) -> list[str]:
    """The branches of all runs: those here, and those kept of remotes that this clone syncs with.

    Such a remote is one whose notes were fetched; others may hold anything.
    """
    remotes = [ref.split("/", 3)[3].rpartition("/")[0] for ref in fetched_notes(repository)]
    folders = (names.RUNS, *(f"refs/remotes/{remote}/skillopt/run/" for remote in remotes))
    return sorted(ref for ref in repository.git.references if ref.startswith(folders))


def used_names(repository: Repository, more: Iterable[RunName] = ()) -> set[RunName]:
    """Every run name that stands in a branch, a note, the log of moves, or in `more`."""
    used = {*more}
    for ref in _every_ref_ever(repository):
        name = names.run_of_ref(ref)
        if name is not None:
            used.add(name)
    for ref in (names.NOTES, names.NIGHT_NOTES):
        used |= set(_names_in_notes(repository.git, ref))
    return used


def _every_ref_ever(repository: Repository) -> Iterator[str]:
    yield from repository.git.references
    moves = repository.common / "skillgit" / "moves.jsonl"
    if moves.is_file():
        for line in moves.read_text(encoding="utf-8", errors="replace").splitlines():
            _, _, rest = line.partition('"ref":"')
            yield rest.partition('"')[0]


def _names_in_notes(git: pygit2.Repository, ref: str) -> Iterator[RunName]:
    """The runs that notes commits say they are of; the subject of each begins with the name."""
    if ref not in git.references:
        return
    for commit in git.walk(git.lookup_reference(ref).peel(pygit2.Commit).id):
        name = names.run_of_ref(f"{names.PROPOSALS}{message_of(commit).partition(' ')[0]}")
        if name is not None:
            yield name


def read_commit(git: pygit2.Repository, commit_id: str) -> RunCommit | None:
    """A commit on a run's branch, or `None` for any other: copies elsewhere have no state.

    Raises: RepositoryError when the commit is not there.
    """
    commit = commit_at(git, commit_id)
    parsed = parse_commit(message_of(commit))
    if parsed is None:
        return None
    text = header_value(commit, STATE_HEADER)
    state = parsed.state if text is None else parse_state(text)
    return None if state is None else run_commit(commit, parsed, state)


def run_commit(commit: pygit2.Commit, parsed: ParsedTrailers, state: RunState) -> RunCommit:
    """The record of a version's commit, with the run's state after it."""
    return RunCommit(
        id=str(commit.id),
        parent=str(commit.parent_ids[0]) if commit.parent_ids else "",
        run=parsed.run,
        step=parsed.step,
        action=parsed.action,
        score=parsed.score,
        bound=parsed.bound,
        state=state,
        subject=message_of(commit).partition("\n")[0],
        time=datetime.fromtimestamp(commit.commit_time, UTC),
    )


def walk(git: pygit2.Repository, tip: str) -> Iterator[RunCommit]:
    """A run's commits from a tip, newest first, down to its own step 0.

    Raises: RepositoryError at a commit that is none of this run's.
    """
    run_id = None
    current = tip
    while True:
        commit = read_commit(git, current)
        if commit is None or (run_id is not None and commit.state.run_id != run_id):
            raise RepositoryError(
                f"commit {current[:12]} stands on a run's branch and is none of the run's",
                hint=f"git log {tip[:12]} shows it; the branch has to end on the run's own commit.",
            )
        yield commit
        if commit.action is Action.BASELINE:
            return
        run_id, current = commit.state.run_id, commit.parent


def phase_of(action: Action) -> Phase:
    """Which of the three kinds of moment a commit's action belongs to."""
    return _PHASES.get(action, Phase.STEP)


def refuse_out_of_turn(git: pygit2.Repository, entry: Entry, tip: str | None) -> None:
    """Refuse an entry that does not come after what its branch ends on.

    Raises: ConflictError.
    """
    name = entry.run.name
    begins = entry.action is Action.BASELINE
    if tip is None:
        if not begins:
            raise ConflictError(f"{name} has no branch any more, so it cannot go on")
        return
    last = read_commit(git, tip)
    if last is None or last.state.run_id != entry.run.run_id:
        raise ConflictError(
            f"{names.run_ref(name)} is another run by now",
            hint="Run the same command again; a new run gets a new number.",
        )
    here = (last.step, _ORDER.index(phase_of(last.action)))
    if begins or here >= (entry.step, _ORDER.index(entry.phase)):
        raise ConflictError(
            f"step {entry.step} of {name} is there already: another trainer was here",
            hint="Run the same command again; it goes on from where the branch is.",
        )


def build(repository: Repository, entry: Entry, parent_id: str) -> BuiltEntry:
    """Build an entry's commits on a parent from the entry alone; nothing refers to them yet."""
    return written(lambda: _built(repository, entry, parent_id))


def _built(repository: Repository, entry: Entry, parent_id: str) -> BuiltEntry:
    git = repository.git
    parent = commit_at(git, parent_id)
    time = _time(entry, parent)
    who = repository.signature(time)
    headers = {STATE_HEADER: state_text(entry.state)}

    def made(message: str, tree: pygit2.Oid, above: pygit2.Oid) -> pygit2.Oid:
        return commit_with(git, who, message, tree, above, headers)

    for commit_id in entry.takes_back:
        taken = commit_at(git, commit_id)
        message = compose_take_back(entry, commit_id, message_of(taken))
        tree_before = taken.parents[0].tree_id
        parent = commit_at(git, str(made(message, tree_before, parent.id)))
    tree = parent.tree_id
    if entry.candidate is not None:
        tree = tree_with(git, tree_of(parent), entry.candidate)
    candidate = made(compose(entry), tree, parent.id)
    tip = candidate
    if entry.action.rejected:
        message = compose_revert(entry, str(candidate))
        tip = made(message, parent.tree_id, candidate)
    built = read_commit(git, str(tip))
    if built is None:
        raise RepositoryError(f"step {entry.step} of {entry.run.name} cannot be read back")
    return BuiltEntry(candidate=str(candidate), tip=built, time=time)


def _time(entry: Entry, parent: pygit2.Commit) -> int:
    """When the entry was finished, never before its parent. Unit: seconds since 1970, UTC."""
    if entry.finished_at is None:
        return int(parent.commit_time) + 1
    return max(int(entry.finished_at.timestamp()), int(parent.commit_time))


def run_tip(git: pygit2.Repository, run: str) -> str | None:
    """The tip of a run's branch, of a remote's one where there is none here."""
    return here_or_remote(git, names.run_ref(run))


def run_tips(git: pygit2.Repository, run: str) -> list[str]:
    """The tips of all runs of a name: the one here first, then those of remotes.

    On a remote, a run whose name was taken has a number after it.
    """
    ref = names.run_ref(run)
    wanted = re.compile(
        rf"{_REMOTES}.+/{re.escape(ref.removeprefix(names.HEADS))}(?:-[1-9][0-9]*)?"
    )
    there = sorted(r for r in git.references if wanted.fullmatch(r))
    tips = (ref_target(git, r) for r in (ref, *there))
    own = dict.fromkeys(tip for tip in tips if tip is not None)
    return [tip for tip in own if (c := read_commit(git, tip)) is not None and c.run == run]


def here_or_remote(git: pygit2.Repository, ref: str) -> str | None:
    """What a branch is at here, or else at a remote that has it."""
    here = ref_target(git, ref)
    if here is not None:
        return here
    wanted = "/" + ref.removeprefix(names.HEADS)
    remote = (r for r in git.references if r.startswith(_REMOTES) and r.endswith(wanted))
    return next((found for r in remote if (found := ref_target(git, r)) is not None), None)


def ref_target(git: pygit2.Repository, ref: str) -> str | None:
    """The commit that a ref comes to, if there is one."""
    try:
        return str(git.lookup_reference(ref).peel(pygit2.Commit).id)
    except GIT_ERRORS:
        return None
