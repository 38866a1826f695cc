"""`skillgit eval`: score any version; what is known is not measured again."""

from __future__ import annotations

from typing import Any

import click

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.app.options import skill_option
from skillgit.cli.sessions.evaluation import EvalOptions, evaluate_versions
from skillgit.cli.sessions.project import open_project
from skillgit.cli.show.output import json_option, number, print_json
from skillgit.cli.show.scores import Measured, Report, print_objects, print_report
from skillgit.errors import UserError
from skillgit.gate import beats
from skillgit.gate.statistics import PairedComparison
from skillgit.records import Metric, Split


@click.command()
@click.argument("versions", metavar="REV...", nargs=-1, required=True)
@click.option(
    "--split",
    type=click.Choice([split.value for split in Split]),
    help="The tasks to score on.  [default: val]",
)
@click.option(
    "--tasks", metavar="IDS", multiple=True, help="Only these: ids with commas, or repeated."
)
@click.option("--again", is_flag=True, help="Measure every task once more.")
@click.option(
    "--metric",
    type=click.Choice([metric.value for metric in Metric]),
    help="The score to compare.  [default: that of the gate]",
)
@click.option(
    "--min-score",
    metavar="X",
    type=click.FloatRange(0, 1),
    help="Fail when a REV's mean is below X.",
)
@click.option(
    "--no-worse-than", metavar="REV", help="Fail when a REV's mean is below that of this one."
)
@skill_option
@json_option
@click.pass_obj
def command(
    invocation: Invocation,
    /,
    *,
    skill: str | None,
    as_json: bool,
    **chosen: Any,
) -> None:
    """Score versions of the skill; compare all of them with the first.

    REV is best, train-1, train-1@12, HEAD, main, a commit, or WORKTREE (also
    .) for the files as they are, uncommitted. Scores that the ledger has are
    not measured again; new ones go into it, and a training takes them.

    The interval is on the share of tasks that got better less the share that
    got worse, which is the difference of the means where scores are 0 or 1.
    It is exact: Clopper-Pearson's on how many tasks change (error 1 %) and on
    how many of those are better (4 %), so it holds at 95 % for any number of
    tasks, if these are independent draws of all that could be asked.

    Exits with 1 when --min-score or --no-worse-than fails.
    """
    options = EvalOptions(**chosen)
    report = evaluate_versions(open_project(invocation, skill), options)
    failures = failed(report, options)
    if as_json:
        print_objects(report)
        print_json("verdict", {"ok": not failures, "failures": failures})
    else:
        print_report(report)
    if failures:
        raise UserError("; ".join(failures))


def failed(report: Report, options: EvalOptions) -> list[str]:
    """What was asked of the versions and does not hold, each in a sentence."""
    found = []
    asked = [v for v in report.versions if v.name in options.versions]
    for version in asked:
        mean, least = report.mean(version), options.min_score
        if least is not None and (mean is None or beats(least, mean)):
            found.append(f"{version.name} scores {number(mean)}, less than {least:g}")
    for version in asked if options.no_worse_than is not None else ():
        compared = report.compared(version)
        if compared is None or beats(0.0, compared[0]):
            found.append(_worse(report, version, compared))
    return found


def _worse(
    report: Report, version: Measured, compared: tuple[float, PairedComparison] | None
) -> str:
    if compared is None:
        return f"{version.name} and {report.base.name} have no task with a score on both sides"
    difference, comparison = compared
    interval = comparison.interval
    return (
        f"{version.name} is {-difference:.4f} below {report.base.name} "
        f"({comparison.worse} worse, {comparison.better} better; "
        f"95% interval {interval.low:+.4f} to {interval.high:+.4f})"
    )
