"""`skillgit train --estimate`: what a run would cost. Nothing is asked, and nothing written."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from skillgit.cli.sessions.project import Project
from skillgit.cli.sessions.runs import Runs
from skillgit.cli.sessions.training import TrainOptions, runtime_of
from skillgit.cli.show.gate_power import odds_lines
from skillgit.cli.show.output import amount, count, print_json, print_table
from skillgit.models.journal import Journal
from skillgit.records import Role
from skillgit.store.git.repository import Repository
from skillgit.store.skills.skills import committed_skill
from skillgit.training.cost_estimate import Costs, Estimate, estimate
from skillgit.training.resume import Launch, OpenRun, open_run
from skillgit.training.state import load_state
from skillgit.training.wiring import open_training_context

_JOURNAL = "journal.sqlite"


@dataclass(frozen=True)
class Foreseen:
    """The run that a `train` would mean, and what the rest of it takes; `None`: it has ended."""

    opened: OpenRun
    estimate: Estimate | None
    odds: list[str]


def foresee(project: Project, options: TrainOptions) -> Foreseen:
    """What a training would cost, reckoned without touching anything.

    Raises: SkillgitError for whatever the training would stumble over at its start.
    """
    invocation, config = project.invocation, options.applied(project.config)
    tasks = project.tasks()
    repository = project.open_repository(durable=False)
    skill = committed_skill(repository, config.skill, config.repo.onto)
    store = project.open_store(repository, skill.name)
    runs = Runs(repository, invocation, skill=project.skill)
    start = None if options.start is None else store.skill_at(runs.commit_of(options.start))
    # No call is made, so no key is needed, and no program is run.
    runtime = replace(
        runtime_of(project, tasks), key_of=lambda _role, _model: "none", may_run=lambda _: True
    )
    with _copied_journal(repository) as journal:
        context = open_training_context(config, tasks, store, journal, runtime)
        opened = open_run(context, new=options.new, start=start, force=options.force)
        if opened.launch is Launch.ENDED:
            return Foreseen(opened, None, [])
        setup = opened.training
        state = load_state(setup)
        found = estimate(setup, state, journal.usage())
        return Foreseen(opened, found, odds_lines(setup, state))


@contextmanager
def _copied_journal(repository: Repository) -> Iterator[Journal]:
    """The journal as it is, in a folder of its own: opening it in place would write to it."""
    original = repository.common / "skillgit" / _JOURNAL
    with tempfile.TemporaryDirectory(prefix="skillgit-") as folder:
        for file in (original, original.with_name(f"{_JOURNAL}-wal")):
            if file.is_file():
                shutil.copyfile(file, Path(folder) / file.name)
        with Journal(Path(folder) / _JOURNAL, durable=False) as journal:
            yield journal


def print_foreseen(found: Foreseen, *, as_json: bool) -> None:
    """Print it, for a person or as JSON."""
    setup, meter = found.opened.training, found.opened.meter
    if as_json:
        sides = found.estimate.model_dump(mode="json") if found.estimate else None
        fields = {"run": setup.run.name, "steps": setup.total_steps, "spent_calls": meter.used}
        print_json("estimate", {**fields, "estimate": sides, "odds": found.odds})
        return
    if found.estimate is None:
        print(
            f"{setup.run.name} has ended, and nothing it depends on has changed: it costs nothing"
        )
        return
    print(f"{setup.run.name}: {count(setup.total_steps, 'step')}, {meter.used} calls made so far\n")
    rows = [_row("at most", found.estimate.most), _row("likely", found.estimate.likely)]
    head = ["", "calls", *(role.value for role in Role), "tokens", "usd"]
    print_table(head, rows, right=frozenset(range(1, len(head))))
    print()
    if found.estimate.is_guess:
        print("How long calls are is a guess: none has been made here yet.")
    if found.estimate.likely.usd is None:
        print("[budget.prices] in skillgit.toml would turn tokens into money.")
    for line in found.odds:
        print(line)


def _row(name: str, costs: Costs) -> list[str]:
    by_role = [amount(costs.calls.get(role, 0)) for role in Role]
    total, tokens = sum(costs.calls.values()), sum(costs.tokens.values())
    money = "-" if costs.usd is None else f"{costs.usd:.2f}"
    return [name, amount(total), *by_role, amount(tokens), money]
