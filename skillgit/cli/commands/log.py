"""`skillgit log`: a run as a table, from the trailers of its commits alone.

Only `--lr` looks into the notes, where the decisions on the learning rate are.
"""

from __future__ import annotations

from collections.abc import Sequence

import click

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.app.options import skill_option
from skillgit.cli.sessions.runs import Runs, open_runs
from skillgit.cli.show.output import amount, json_option, number, one_line, print_json, print_table
from skillgit.history import RunCommit, StepNote
from skillgit.records import Action, LearningRate

RATES_HEAD = ("step", "rate", "asked for", "edits", "decided by", "why")
RATES_NUMBERS = frozenset((0, 1, 2, 3))
HEAD = ("step", "verdict", "score", "best", "edits", "tokens", "commit")
NUMBERS = frozenset((0, 2, 3, 4, 5))
_SHORT = 9
_MARKS = {Action.EPOCH: "epoch", Action.END: "end"}


@click.command()
@click.argument("run", metavar="[RUN]", required=False)
@click.option("--lr", "rates", is_flag=True, help="Show each step's learning rate, and why.")
@skill_option
@json_option
@click.pass_obj
def command(
    invocation: Invocation, *, run: str | None, rates: bool, skill: str | None, as_json: bool
) -> None:
    """Show a run as a table, a step a line, oldest first.

    RUN is a run's name such as train-1; without it, the newest run is shown.
    """
    runs = open_runs(invocation, skill=skill)
    history = runs.history(runs.named_or_newest(run))
    commits = [commit for commit in history if commit.action is not Action.REVERT]
    commits.reverse()
    if rates:
        _show_rates(runs, commits, as_json=as_json)
        return
    if as_json:
        for commit in commits:
            print_json("commit", fields_of(commit))
        return
    print(headline(commits))
    print()
    print_table(HEAD, [row(commit) for commit in commits], right=NUMBERS)


def fields_of(commit: RunCommit) -> dict[str, object]:
    """What the JSON of one commit holds."""
    return {
        "run": commit.run,
        "step": commit.step,
        "action": commit.action.value,
        "score": commit.score,
        "bound": commit.bound,
        "current": commit.state.current.score,
        "best": commit.state.best.score,
        "best_step": commit.state.best.step,
        "epoch": commit.state.epoch,
        "edits": commit.state.edits,
        "tokens": commit.state.tokens,
        "commit": commit.id,
        "time": commit.time.isoformat(),
    }


def row(commit: RunCommit) -> tuple[str, ...]:
    """One commit's line of the table."""
    state = commit.state
    return (
        _MARKS.get(commit.action, str(commit.step)),
        commit.action.value if commit.action not in _MARKS else f"after step {commit.step}",
        number(commit.score, bound=commit.bound),
        number(state.best.score),
        str(state.edits) if state.edits else "-",
        amount(state.tokens) if state.tokens else "-",
        commit.id[:_SHORT],
    )


def headline(commits: Sequence[RunCommit]) -> str:
    """The run in one line: what it trains, how far it is, and what came out."""
    first, last = commits[0], commits[-1]
    best = last.state.best
    ended = "ended" if last.action is Action.END else f"at step {last.step}, not ended"
    return (
        f"{last.run}: {last.state.skill}, {ended}; "
        f"best {number(best.score)} at step {best.step}, from {number(first.score)}"
    )


def _show_rates(runs: Runs, commits: Sequence[RunCommit], *, as_json: bool) -> None:
    """Print each step's learning rate: how many of how many edits, who decided it, and why."""
    found = [
        (note.step, note.learning_rate)
        for commit in commits
        for note in runs.notes_on(commit)
        if isinstance(note, StepNote) and note.step == commit.step and note.learning_rate
    ]
    if as_json:
        for step, rate in found:
            fields = {"step": step, "decided_by": decided_by(rate), **rate.model_dump(mode="json")}
            print_json("learning_rate", fields)
        return
    print(headline(commits))
    print()
    print_table(RATES_HEAD, [rate_row(*pair) for pair in found], right=RATES_NUMBERS)


def rate_row(step: int, rate: LearningRate) -> tuple[str, ...]:
    """One step's line of the table of learning rates."""
    sure = f"({rate.confidence} confidence) " if rate.confidence else ""
    risks = "".join(f"; risk: {note}" for note in rate.risk_notes)
    return (
        str(step),
        "all" if rate.learning_rate is None else str(rate.learning_rate),
        "-" if rate.raw_learning_rate is None else str(rate.raw_learning_rate),
        str(rate.available_update_items),
        decided_by(rate),
        one_line(f"{sure}{rate.reasoning}{risks}"),
    )


def decided_by(rate: LearningRate) -> str:
    """Who decided on a rate."""
    if rate.fallback:
        return "fallback"
    if rate.learning_rate is None:
        return "no limit"
    if rate.raw_learning_rate is None:
        return "nobody"
    return "optimizer" if rate.raw_response else "schedule"
