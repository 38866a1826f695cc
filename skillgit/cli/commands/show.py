"""`skillgit show`: one version, each hunk of its diff beside the edits that made it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import click

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.app.options import skill_option
from skillgit.cli.sessions.project import open_project
from skillgit.cli.sessions.runs import Runs
from skillgit.cli.show.output import json_option, print_json, printable
from skillgit.cli.show.version import TaskScore, Version, fields_of, look_back_of, print_version
from skillgit.errors import UserError
from skillgit.gate import pool
from skillgit.history import (
    ConfigNote,
    NoteLine,
    Phase,
    ReportNote,
    RunCommit,
    ScoresLine,
    StepNote,
    TestNote,
)
from skillgit.records import Action, Score
from skillgit.review.hunks import AttributedHunk, attribute, read_hunks
from skillgit.store.git.git_cli import GitCli
from skillgit.store.git.names import is_night
from skillgit.store.git_store import GitStore
from skillgit.store.runs.version_notes import NotedVersions

LineT = TypeVar("LineT", bound=NoteLine)


@click.command()
@click.argument("version", metavar="REV")
@skill_option
@json_option
@click.pass_obj
def command(invocation: Invocation, *, version: str, skill: str | None, as_json: bool) -> None:
    """Show one version: its diff, the edits behind it, its scores.

    REV is train-1@12 (what step 12 tried), train-1@12+ (what training went
    on from after it), train-1@e2 (the end of epoch 2), train-1@best, best,
    or anything that git understands. With a night, its report as well.
    """
    project = open_project(invocation, skill)
    repository = project.open_repository()
    runs = Runs(repository, invocation, skill=project.skill)
    commit = runs.version(runs.commit_of(version))
    if commit is None:
        raise UserError(
            f"{version} is no version that a run made",
            hint=f"{invocation.typed('log')} shows those; git show {version} shows the commit.",
        )
    store = project.of_skill(commit.state.skill).open_store(
        repository, commit.state.skill, private=True, memory=is_night(commit.run)
    )
    reader = _Reader(store, runs, project.git_in(repository))
    found = reader.read(commit)
    report = _first(store.notes_on(commit.id), ReportNote)
    if as_json:
        told = {"report": report.markdown} if report else {}
        print_json("version", {**fields_of(found), **told})
        return
    print_version(found)
    if report is not None:
        print("", *map(printable, report.markdown.splitlines()), sep="\n")


@dataclass(frozen=True)
class _Reader:
    store: GitStore
    runs: Runs
    git: GitCli

    def read(self, commit: RunCommit) -> Version:
        noted = self._noted(commit)
        lines = self.store.notes_on(noted.id)
        note = _first(lines, StepNote)
        return Version(
            commit=commit,
            hunks=self._hunks(commit, note),
            scores=self._scores(noted),
            note=note,
            test=_first(lines, TestNote),
            look_back=look_back_of(lines),
        )

    def _noted(self, commit: RunCommit) -> RunCommit:
        """The commit on the run's branch that this one is a copy of, and that the notes are on."""
        versions = NotedVersions(self.store.repository.git, self.store.refs)
        found = versions.commit_of(commit)
        return (self.runs.read(found) if found else None) or commit

    def _hunks(self, commit: RunCommit, note: StepNote | None) -> tuple[AttributedHunk, ...]:
        diff = self.git.checked(
            *("-c", "core.quotePath=false", "diff", "--unified=1", "--no-color", "--no-ext-diff"),
            *("--no-textconv", "--no-renames", "--src-prefix=a/", "--dst-prefix=b/"),
            *(commit.parent, commit.id, "--"),
        )
        hunks = read_hunks(diff.stdout.decode("utf-8", "replace"))
        main = self.store.skill_at(commit.id).main.path
        return attribute(hunks, note.edits if note else (), main_path=main)

    def _scores(self, commit: RunCommit) -> tuple[TaskScore, ...]:
        names = self._task_names(commit)
        before, after = self._on_val(commit.parent, commit), self._on_val(commit.id, commit)
        if commit.action in (Action.BASELINE, Action.END, Action.EPOCH):
            before = {}
        return tuple(
            TaskScore(task=name, before=before.get(key), after=after.get(key))
            for name, key in sorted(names.items())
            if key in before or key in after
        )

    def _task_names(self, commit: RunCommit) -> dict[str, str]:
        """Each task's key in the ledger by its id, as the run wrote it down when it began."""
        if not self.runs.has(commit.run):
            return {}
        *_, baseline = self.runs.history(commit.run)
        note = _first(self.store.notes_on(baseline.id), ConfigNote)
        return note.tasks if note else {}

    def _on_val(self, commit_id: str, commit: RunCommit) -> dict[str, Score | None]:
        """What the ledger knows of a version's skill on val: test is measured by ends alone."""
        target = commit.state.target
        object_id = self.store.object_id(self.store.skill_at(commit_id))
        val = {
            key
            for line in self.store.notes_on(object_id)
            if isinstance(line, ScoresLine) and line.target == target
            if line.phase is not Phase.END
            for key in line.tasks
        }
        known = pool(
            object_id, self.store.measurements(object_id, target, repeats=None, before=None)
        )
        return {key: score for key, score in known.scores.items() if key in val}


def _first(lines: Sequence[NoteLine], kind: type[LineT]) -> LineT | None:
    return next((line for line in lines if isinstance(line, kind)), None)
