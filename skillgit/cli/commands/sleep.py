"""`skillgit sleep`: one night over your own agent sessions, and the schedule of nights."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.app.options import skill_option
from skillgit.cli.sessions.night import NightSession, night_session
from skillgit.cli.sessions.project import Project, open_project
from skillgit.cli.sessions.schedule import schedule, unschedule
from skillgit.cli.show.output import amount, json_option, print_commands, print_json, printable, say
from skillgit.cli.show.progress import Snapshot, shown
from skillgit.config import TasksConfig
from skillgit.errors import UsageError, WaitingError
from skillgit.judges import check_judge
from skillgit.models.paid import Meter
from skillgit.records import Task
from skillgit.sleep.night.cycle import run_sleep_cycle
from skillgit.sleep.night.plan import Night, most_calls
from skillgit.sleep.night.run import CycleOutcome
from skillgit.store.git.git_cli import gc_auto
from skillgit.tasks.load import note_repeated_ids, read_drafts
from skillgit.tasks.source import Problems, open_source
from skillgit.tasks.splits import assign_splits

DEFAULT_TIME = "03:17"


@click.command()
@click.option("--dry-run", is_flag=True, help="Show what would be proposed; keep nothing.")
@click.option("--tasks", metavar="FILE", help="Go by these tasks instead of your sessions.")
@click.option(
    "--schedule",
    "at",
    metavar="HH:MM",
    is_flag=False,
    flag_value=DEFAULT_TIME,
    help=f"Sleep every night at this time.  [default: {DEFAULT_TIME}]",
)
@click.option("--unschedule", "never", is_flag=True, help="Sleep only when told to.")
@skill_option
@json_option
@click.pass_obj
def command(
    invocation: Invocation,
    *,
    dry_run: bool,
    tasks: str | None,
    at: str | None,
    never: bool,
    skill: str | None,
    as_json: bool,
) -> None:
    """Learn from your agent sessions, and propose a few rules as a branch.

    Takes what you told your agents, and corrected; tries the agent on it
    offline; and opens skillopt/night-N with what measured better. Nothing
    changes unless you merge or adopt it. Killed, it goes on where it stopped.
    """
    if at is not None and never:
        raise UsageError("--schedule and --unschedule exclude each other")
    project = open_project(invocation, skill)
    if at is not None:
        schedule(project, at)
        return
    if never:
        unschedule(project)
        return
    invocation.resume = project.typed("sleep")
    outcome = _sleep(project, _given(invocation, project, tasks), dry_run=dry_run)
    invocation.resume = None
    if as_json:
        print_json("night", _fields(outcome))
    else:
        _print(project, outcome, dry_run=dry_run)


def _sleep(project: Project, seeds: tuple[Task, ...] | None, *, dry_run: bool) -> CycleOutcome:
    with night_session(project, seeds) as room:
        watch = NightView(room)
        parts = replace(room.parts, watch=watch.opened)
        try:
            with shown(watch.look):
                outcome = run_sleep_cycle(
                    project.config, parts=parts, seed_tasks=seeds, dry_run=dry_run
                )
        except WaitingError as error:
            raise _all_questions(room, project) or error from error
        repository = parts.store.repository
        gc_auto(repository.cli(project.invocation.environ))
        return outcome


class NightView:
    """What the display looks at, from another thread."""

    def __init__(self, room: NightSession) -> None:
        self._room = room
        self._meter = Meter()
        self._told = False

    def opened(self, setup: Night, meter: Meter) -> None:
        """A night was opened: say once what it can cost at most."""
        self._meter = meter
        if self._told:
            return
        self._told = True
        calls = most_calls(setup)
        parts = ", ".join(f"{role.value} {amount(count)}" for role, count in calls.items())
        say(f"{setup.run_head.name}: at most {amount(sum(calls.values()))} calls ({parts})")

    def look(self) -> Snapshot:
        """The night as it is now."""
        return Snapshot.of(self._room.progress, self._meter)


def _all_questions(room: NightSession, project: Project) -> WaitingError | None:
    """One error that names every question that waits."""
    if room.handoff is None or not room.handoff.waiting():
        return None
    questions = room.handoff.waiting()
    folder = questions[0].parent
    listed = "\n  ".join(path.name for path in questions)
    n = len(questions)
    return WaitingError(
        f"{n} question{'' if n == 1 else 's'} wait{'s' if n == 1 else ''} for an answer in "
        f"{folder}:\n  {listed}",
        hint="Write each answer to a file beside its question, NAME.answer.md for NAME.md; your "
        f"own coding agent can do it.\n{project.typed('sleep')} goes on from there.",
    )


def _given(invocation: Invocation, project: Project, file: str | None) -> tuple[Task, ...] | None:
    """The tasks of a file in place of sessions; a set that is too small is for the night to say."""
    if file is None:
        return None
    path = Path(invocation.path(file))
    problems = Problems()
    config = TasksConfig(path=path.name, ratio=project.config.tasks.ratio)
    source = open_source(
        path.name,
        lambda _: path.read_bytes(),
        lambda name: [name] if path.is_file() else [],
        problems,
    )
    drafts = read_drafts(config, source, check_judge)
    problems.raise_any()
    note_repeated_ids(drafts, problems)
    problems.raise_any(hint="give every task an id of its own, in one split only")
    return assign_splits(drafts, config.ratio)


def _print(project: Project, outcome: CycleOutcome, *, dry_run: bool) -> None:
    for line in outcome.report.markdown().splitlines():
        print(printable(line))
    if dry_run:
        print("\nThis was a dry run: no branch, no note, no state.")
        return
    branch = outcome.staging_branch
    if branch is None:
        return
    print_commands(project.commands_about(branch.rpartition("/")[2]))


def _fields(outcome: CycleOutcome) -> dict[str, object]:
    return {
        **outcome.report.model_dump(mode="json"),
        "staging_branch": outcome.staging_branch,
        "adopted": outcome.adopted,
    }
