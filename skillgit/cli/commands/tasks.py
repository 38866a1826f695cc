"""`skillgit tasks`: what was read from the task files, before anything is paid for."""

from __future__ import annotations

from collections.abc import Mapping

import click

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.app.options import skill_option
from skillgit.cli.sessions.project import open_project
from skillgit.cli.show.output import count, json_option, one_line, print_json, printable, some_of
from skillgit.judges import looks_at_shape_only
from skillgit.records import Split
from skillgit.tasks import TasksReport, report_tasks

_MOST_IDS = 8
_ABOUT_SHAPE = "can be passed by reformatting alone; a check of content would make them count"


@click.command()
@skill_option
@json_option
@click.pass_context
def command(context: click.Context, *, skill: str | None, as_json: bool) -> None:
    """Show what was read: tasks by split, judge and origin, near-duplicates,
    judges that look at form only, and every row that cannot be used.

    Needs no key, runs nothing and sends nothing. Exits with 1 when a row
    cannot be used, or when the set cannot be trained on.
    """
    project = open_project(context.ensure_object(Invocation), skill)
    report = report_tasks(
        project.config.tasks,
        read=project.tree.read,
        list_files=project.tree.list_files,
        check=project.check_task,
        skill=project.skill,
        looks_at_shape_only=looks_at_shape_only,
    )
    if as_json:
        _print_objects(report)
    else:
        _print(report)
    context.exit(1 if report.broken or report.refused else 0)


def _print(report: TasksReport) -> None:
    print(f"{printable(report.path)}, read as {report.reader}: {count(report.n_tasks, 'task')}")
    print(f"  splits   {_splits(report)}")
    print(f"  judges   {_counts(report.judges)}")
    print(f"  origins  {_counts(report.origins)}")
    if report.near_duplicates:
        print(f"\nNear-duplicates: {count(len(report.near_duplicates), 'group')}")
        for group in report.near_duplicates:
            where = " and ".join(group.splits) or "no split yet"
            apart = "  (apart: the score of one tells of the other)" * (len(group.splits) > 1)
            print(f"  in {where}: {some_of(group.ids, _MOST_IDS)}{apart}")
    if report.shape_only:
        print(f"\nForm only: {count(len(report.shape_only), 'task')} {_ABOUT_SHAPE}")
        print(f"  {some_of(report.shape_only, _MOST_IDS)}")
    if report.broken:
        print(f"\nBroken: {count(len(report.broken), 'row')} cannot be used")
        for line in report.broken:
            print(f"  {one_line(line)}")
    if report.refused:
        print(f"\nRefused: {printable(report.refused)}")


def _splits(report: TasksReport) -> str:
    """How many tasks each split has, and how many of them say so themselves."""
    named = sum(report.named_splits.values())
    if named == report.n_tasks:
        whose = "all named"
    elif named:
        whose = f"{_counts(_in_order(report.named_splits))} named, the others assigned"
    else:
        whose = "all assigned"
    return f"{_counts(_in_order(report.splits))} ({whose})"


def _in_order(splits: Mapping[str, int]) -> dict[str, int]:
    return {split.value: splits.get(split.value, 0) for split in Split}


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {name}" for name, n in counts.items()) or "none"


def _print_objects(report: TasksReport) -> None:
    for line in report.broken:
        place, _, reason = line.partition(": ")
        print_json("broken", {"place": place, "reason": reason})
    fields = report.model_dump(mode="json", exclude={"broken", "splits"})
    print_json(
        "tasks", {**fields, "splits": _in_order(report.splits), "n_broken": len(report.broken)}
    )
