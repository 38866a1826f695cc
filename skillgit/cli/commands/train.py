"""`skillgit train`: iterate the loop, show where it is, and say what came out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.app.options import skill_option
from skillgit.cli.sessions.estimate import foresee, print_foreseen
from skillgit.cli.sessions.project import Project, open_project
from skillgit.cli.sessions.training import TrainOptions, TrainSession, training_session
from skillgit.cli.show.conclusion import (
    Conclusion,
    commands_after_training,
    conclusion_of,
    print_conclusion,
)
from skillgit.cli.show.gate_power import odds_lines
from skillgit.cli.show.output import (
    amount,
    count,
    json_option,
    number,
    print_commands,
    print_json,
    say,
)
from skillgit.cli.show.progress import Snapshot, TimeLeft, shown
from skillgit.history import ConfigNote, Phase, RunState, StepNote
from skillgit.records import Action, Role
from skillgit.store.git.git_cli import gc_auto
from skillgit.train import train
from skillgit.training.cost_estimate import most_calls
from skillgit.training.resume import Launch
from skillgit.training.state import Recorded, load_state

COUNT = click.IntRange(1)


@click.command()
@click.option("--new", is_flag=True, help="Begin the next run, whatever the newest one is at.")
@click.option("--from", "start", metavar="REV", help="Begin the next run with REV's skill.")
@click.option("--epochs", metavar="N", type=COUNT, help="Instead of [train] epochs.")
@click.option("--workers", metavar="N", type=COUNT, help="Instead of [train] workers.")
@click.option("--force", is_flag=True, help="Train even where every task passes already.")
@click.option("--estimate", "only_estimate", is_flag=True, help="Say what it costs; do nothing.")
@skill_option
@json_option
@click.pass_obj
def command(
    invocation: Invocation,
    /,
    *,
    skill: str | None,
    only_estimate: bool,
    as_json: bool,
    **chosen: Any,
) -> None:
    """Train the skill that skillgit.toml names, a commit a step.

    Goes on where the newest run stopped, if it has not ended; what was
    answered before is not paid for twice. Neither the work tree nor the
    index is touched. Ctrl-C stops it at any moment.
    """
    options = TrainOptions(**chosen)
    if options.new and options.start is not None:
        raise click.UsageError("--from begins a new run by itself: leave out --new")
    if only_estimate:
        print_foreseen(foresee(open_project(invocation, skill), options), as_json=as_json)
        return
    conclusion = run_training(invocation, options, skill=skill, as_json=as_json)
    if as_json:
        print_json("result", conclusion.fields())
        return
    print_conclusion(conclusion)
    print_commands(commands_after_training(invocation, conclusion))


def run_training(
    invocation: Invocation,
    options: TrainOptions,
    *,
    skill: str | None = None,
    as_json: bool = False,
) -> Conclusion:
    """Train to the run's end; what came out."""
    project = open_project(invocation, skill)
    with training_session(project, options) as session:
        run = session.opened.training.run_head
        if session.opened.launch is Launch.ENDED:
            say(f"{run.name} has ended, and nothing it depends on has changed; nothing was spent")
            say(f"{project.typed('train', '--new')} begins the next run")
            # It may have been killed, or had no key, between its end and its proposal.
            session.store.finish(run)
        else:
            invocation.resume = _to_resume(project, options)
            _announce(session)
            _iterate(session, as_json=as_json)
            gc_auto(session.store.repository.cli(invocation.environ))
        invocation.resume = None
        return conclusion_of(session.store, run.name)


def _to_resume(project: Project, options: TrainOptions) -> str:
    words: list[str] = []
    for option, value in (("--epochs", options.epochs), ("--workers", options.workers)):
        words += [option, str(value)] if value is not None else []
    return project.typed("train", *words, *(["--force"] if options.force else []))


def _announce(session: TrainSession) -> None:
    setup, meter = session.opened.training, session.opened.meter
    state = load_state(setup)
    calls = most_calls(setup, state)
    parts = [f"{role.value} {amount(n)}" for role in Role if (n := calls.get(role, 0))]
    begun = f"goes on after step {state.step}" if state else "begins"
    say(
        f"{setup.run_head.name} {begun}: {count(setup.total_steps, 'step')}, "
        f"at most {amount(sum(calls.values()))} calls ({', '.join(parts)})"
    )
    for line in (*odds_lines(setup, state), *meter.limits()):
        say(line)


def _iterate(session: TrainSession, *, as_json: bool) -> None:
    watch = TrainingView(session)
    with shown(watch.look) as write:
        for recorded in _watched(session, watch):
            line = step_line(recorded, session.opened.training.total_steps)
            if as_json:
                print_json("step", step_fields(recorded))
            if line:
                write(line)
            for warning in warnings_of(recorded):
                write(f"warning: {warning}")


def _watched(session: TrainSession, watch: TrainingView) -> Iterator[Recorded]:
    for recorded in train(session.opened.training):
        watch.state = recorded.entry.state
        if recorded.entry.phase is Phase.STEP:
            watch.step_done(recorded.entry.step)
        yield recorded


class TrainingView:
    """What the display looks at, from another thread."""

    def __init__(self, session: TrainSession) -> None:
        self._session = session
        self._clock = session.clock
        self._time_left = TimeLeft(self._clock.monotonic())
        self.state: RunState | None = None

    def step_done(self, step: int) -> None:
        """A step has ended."""
        left = self._session.opened.training.total_steps - step
        self._time_left.step_done(self._clock.monotonic(), left=left)

    def look(self) -> Snapshot:
        """The training as it is now."""
        state = self.state
        return Snapshot.of(
            self._session.progress,
            self._session.opened.meter,
            current=state.current.score if state else None,
            best=state.best.score if state else None,
            seconds_left=self._time_left.seconds(self._clock.monotonic()),
        )


def step_line(recorded: Recorded, total_steps: int) -> str:
    """A finished step in one line; nothing for the run's own marks."""
    entry, note = recorded.entry, recorded.note
    if entry.action is Action.BASELINE:
        return f"step 0/{total_steps}: baseline {number(entry.score.score)}"
    if note is None:
        return ""
    verdict = f"step {entry.step}/{total_steps}: {entry.action.value}"
    return f"{verdict}{_scores(note)}, {_edits(note)}, {_spent(note)}"


def warnings_of(recorded: Recorded) -> tuple[str, ...]:
    """What a commit's notes warn of."""
    notes = (line for line in recorded.entry.lines if isinstance(line, StepNote | ConfigNote))
    return tuple(warning for note in notes for warning in note.warnings)


def _scores(note: StepNote) -> str:
    if note.score_after is None or note.score_before is None:
        return ""
    if not (note.action.accepted or note.action.rejected):
        return f", still {number(note.score_before)}"
    after = number(note.score_after, bound=note.score_after_is_bound)
    return f" {number(note.score_before)} -> {after}"


def _edits(note: StepNote) -> str:
    return count(sum(outcome.outcome.changed_text for outcome in note.edits), "edit")


def _spent(note: StepNote) -> str:
    costs = note.costs
    tokens = costs.tokens
    return f"{sum(costs.calls.values())} calls, {amount(tokens)} tokens"


def step_fields(recorded: Recorded) -> dict[str, object]:
    """What the JSON of one commit of a training holds."""
    entry, note = recorded.entry, recorded.note
    return {
        "run": entry.run.name,
        "step": entry.step,
        "action": entry.action.value,
        "score": entry.score.score,
        "before": note.score_before if note else None,
        "best": entry.state.best.score,
        "edits": entry.state.edits,
        "tokens": entry.state.tokens,
        "calls": note.costs.calls if note else {},
        "commit": recorded.commit.id,
    }
