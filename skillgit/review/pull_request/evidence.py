"""What a proposal rests on, gathered from its run, the notes and the ledger. Reads only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from skillgit.gate import pool
from skillgit.history import (
    ConfigNote,
    Costs,
    NoteLine,
    Phase,
    ReportNote,
    RunCommit,
    ScoresLine,
    StepNote,
    TestNote,
)
from skillgit.history.trailers import parse_commit
from skillgit.records import Action, Edit, Metric, Record, Score
from skillgit.store.git.names import is_night
from skillgit.store.git.trees import commit_at, message_of
from skillgit.store.git_store import GitStore
from skillgit.store.proposals.adopted import Lineage, read_lineage
from skillgit.store.proposals.proposal import Proposal
from skillgit.store.runs.runs import run_tips, walk
from skillgit.store.runs.version_notes import NotedVersions

LineT = TypeVar("LineT", bound=NoteLine)


class TaskChange(Record):
    """A val task's score before and after; `None` where it was not scored."""

    task: str
    before: Score | None
    after: Score | None

    @property
    def in_a_word(self) -> str:
        """What became of the task."""
        if self.before is None or self.after is None:
            return "new" if self.after is not None else "unscored"
        if self.before == self.after:
            return "same"
        moved = (self.after.hard, self.after.soft) > (self.before.hard, self.before.soft)
        return "better" if moved else "worse"


class EditSet(Record):
    """The edits that one step tried together, with the gate's scores before and after."""

    step: int
    edits: tuple[Edit, ...]
    before: float | None
    after: float | None


class Evidence(Record):
    """All that a reviewer is told of a proposal.

    `noted` says whether notes of the run were found at all; without them only what its commits
    claim is known.
    """

    run: str
    run_id: str
    skill: str
    onto: str
    base: str
    commit: str
    metric: Metric | None
    target: str
    fingerprint: str
    target_model: str = ""
    before: float | None
    after: float | None
    test: TestNote | None = None
    tasks: tuple[TaskChange, ...] = ()
    accepted: tuple[EditSet, ...] = ()
    rejected: tuple[EditSet, ...] = ()
    warnings: tuple[str, ...] = ()
    costs: Costs = Costs()
    report: str = ""
    noted: bool = False

    @property
    def is_night(self) -> bool:
        """Whether it was learned from a person's own sessions."""
        return is_night(self.run)


def gather(store: GitStore, proposal: Proposal) -> Evidence:
    """The evidence for a proposal that has a commit.

    Raises: UserError when the commit is no proposal; RepositoryError.
    """
    git = store.repository.git
    commit = proposal.commit or ""
    lineage = read_lineage(git, commit)
    versions = NotedVersions(git, store.refs)
    proposed = [c for c in (versions.read(c) for c in lineage.commits) if c is not None]
    if not proposed:
        return _claimed(store, lineage)
    last = proposed[-1]
    moments = _moments(store, last)
    baseline = moments[0] if moments and moments[0].action is Action.BASELINE else None
    lines = {moment.id: store.notes_on(moment.id) for moment in moments}
    config = _first(lines[baseline.id], ConfigNote) if baseline else None
    notes = [note for moment in moments if (note := _first(lines[moment.id], StepNote))]
    steps = {step for step, _ in lineage.steps}
    start = baseline.id if baseline else lineage.base
    report = _first(store.notes_on(commit), ReportNote)
    return Evidence(
        run=last.run,
        run_id=last.state.run_id,
        skill=last.state.skill,
        onto=last.state.onto,
        base=lineage.base,
        commit=commit,
        metric=last.state.metric,
        target=last.state.target,
        fingerprint=last.state.run,
        target_model=_model(config),
        before=baseline.score if baseline else None,
        after=last.state.best.score,
        test=_first([line for found in lines.values() for line in found], TestNote),
        tasks=tuple(task_changes(store, start, commit, last.state.target, config)),
        accepted=tuple(_set(n) for n in notes if n.action.accepted and n.step in steps),
        rejected=tuple(_set(n) for n in notes if n.action.rejected),
        warnings=tuple(dict.fromkeys(w for note in notes for w in note.warnings)),
        costs=_sum([config.costs] if config else [], (note.costs for note in notes)),
        report=report.markdown if report else "",
        noted=bool(notes),
    )


def _claimed(store: GitStore, lineage: Lineage) -> Evidence:
    """What a proposal's commits alone claim, where the branch of its run is not here."""
    git = store.repository.git
    messages = (message_of(commit_at(git, commit)) for commit in lineage.commits)
    told = [t for t in map(parse_commit, messages) if t is not None]
    scores = [t.score for t in told if t.score is not None]
    report = _first(store.notes_on(lineage.commits[-1]), ReportNote)
    return Evidence(
        run=lineage.run,
        run_id=lineage.run_id,
        skill=lineage.skill,
        onto="main",
        base=lineage.base,
        commit=lineage.commits[-1],
        metric=None,
        target="",
        fingerprint="",
        before=None,
        after=scores[-1] if scores else None,
        report=report.markdown if report else "",
    )


def task_changes(
    store: GitStore, before: str, after: str, target: str, config: ConfigNote | None
) -> list[TaskChange]:
    """What the ledger knows of the val tasks under two commits, by their names where known."""
    old, new = val_scores(store, before, target), val_scores(store, after, target)
    names = {key: name for name, key in config.tasks.items()} if config else {}
    return [
        TaskChange(task=names.get(key, key), before=old.get(key), after=new.get(key))
        for key in sorted(old.keys() | new.keys(), key=lambda key: names.get(key, key))
    ]


def val_scores(store: GitStore, commit: str, target: str) -> dict[str, Score | None]:
    """What the ledger knows of a commit's skill on val: only ends measure the test split."""
    object_id = store.object_id(store.skill_at(commit))
    measured = (line for line in store.notes_on(object_id) if isinstance(line, ScoresLine))
    val = {
        key
        for line in measured
        if line.target == target and line.phase is not Phase.END
        for key in line.tasks
    }
    known = pool(object_id, store.measurements(object_id, target, repeats=None, before=None))
    return {key: score for key, score in known.scores.items() if key in val}


def _moments(store: GitStore, proposed: RunCommit) -> list[RunCommit]:
    """The run's own commits, oldest first; none when its branch is not here."""
    git = store.repository.git
    for tip in run_tips(git, proposed.run):
        commits = list(walk(git, tip))[::-1]
        if commits[0].state.run_id == proposed.state.run_id:
            return [commit for commit in commits if commit.action is not Action.REVERT]
    return []


def _set(note: StepNote) -> EditSet:
    tried = tuple(outcome.edit for outcome in note.edits if outcome.outcome.changed_text)
    return EditSet(step=note.step, edits=tried, before=note.score_before, after=note.score_after)


def _sum(*costs: Iterable[Costs]) -> Costs:
    total = Costs()
    for part in (cost for group in costs for cost in group):
        calls = {
            role: total.calls.get(role, 0) + part.calls.get(role, 0)
            for role in sorted(total.calls.keys() | part.calls.keys())
        }
        total = Costs(
            calls=calls,
            prompt_tokens=total.prompt_tokens + part.prompt_tokens,
            completion_tokens=total.completion_tokens + part.completion_tokens,
            milliseconds=total.milliseconds + part.milliseconds,
        )
    return total


def _model(config: ConfigNote | None) -> str:
    target = config.identity.get("target") if config else None
    model = target.get("model") if isinstance(target, dict) else None
    return model if isinstance(model, str) else ""


def _first(lines: Sequence[NoteLine], kind: type[LineT]) -> LineT | None:
    return next((line for line in lines if isinstance(line, kind)), None)
