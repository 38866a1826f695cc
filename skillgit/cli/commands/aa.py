"""`skillgit aa`: one version measured against itself, to see how much of a score is noise."""

from __future__ import annotations

from dataclasses import replace

import click

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.app.options import skill_option
from skillgit.cli.sessions.evaluation import skill_of
from skillgit.cli.sessions.project import Project, open_project
from skillgit.cli.sessions.training import runtime_of
from skillgit.cli.show.output import (
    amount,
    count,
    json_option,
    print_json,
    print_table,
    printable,
    say,
)
from skillgit.cli.show.progress import Snapshot, shown
from skillgit.config import GateConfig
from skillgit.errors import UserError
from skillgit.evaluation.noise import Noise, noise_of
from skillgit.evaluation.standalone import SCOPE, Measuring
from skillgit.evaluation.wiring import open_bench
from skillgit.gate.power import accept_chance
from skillgit.gate.rule import Sizes
from skillgit.models.journal import Journal
from skillgit.models.paid import Meter
from skillgit.records import Measurements, Skill, Split
from skillgit.store.git.obstacles import refuse_taken_names
from skillgit.training.wiring import is_simulated

_SHOWN = 10


@click.command()
@click.argument("version", metavar="[REV]", required=False)
@click.option(
    "--repeats",
    metavar="K",
    type=click.IntRange(2),
    default=4,
    show_default=True,
    help="How often each val task is attempted.",
)
@skill_option
@json_option
@click.pass_obj
def command(
    invocation: Invocation, *, version: str | None, skill: str | None, repeats: int, as_json: bool
) -> None:
    """Measure REV on val several times, and compare it with itself.

    REV is what `eval` takes; without it, the skill as it is committed. The
    scores go into the ledger: a training takes them, and what is there counts.

    Says how far the mean moves by itself, which tasks flip, how often the
    gate would have taken the skill for better than itself, and what gain it
    can see.
    """
    project = open_project(invocation, skill)
    name = version or project.config.repo.onto
    noise, names = measure_noise(project, name, repeats)
    if as_json:
        print_json("noise", _fields(name, noise, names))
        return
    _print(name, noise, names, project.config.gate)


def measure_noise(project: Project, version: str, repeats: int) -> tuple[Noise, dict[str, str]]:
    """The noise of a version on val, and the ids of tasks by their keys.

    Raises: every SkillgitError that a config, a repository or a key can be the reason for.
    """
    config, tasks = project.config, project.tasks()
    project.require_trust(tasks)
    durable = not is_simulated(config)
    repository = project.open_repository(durable=durable)
    skill = skill_of(version, project, repository)
    refuse_taken_names(repository, skill=skill.name)
    repository.identity()
    store = project.open_store(
        repository, skill.name, command=project.invocation.typed("aa", version)
    )
    runtime = runtime_of(project, tasks)
    val = [task for task in tasks.tasks if task.split is Split.VAL]
    evaluator = open_bench(config, val, runtime)
    with Journal(repository.private.journal, durable=durable) as journal:
        measuring = Measuring(
            evaluator=evaluator,
            store=store,
            journal=journal,
            clock=runtime.clock,
            tasks=val,
            val=frozenset(evaluator.keys.values()),
            max_unscored=config.gate.max_unscored,
            meter=Meter.within(config.budget, clock=runtime.clock),
        )
        rounds = _rounds(measuring, skill, repeats, project)
    noise = noise_of(skill, rounds, config.gate)
    if noise is None:
        raise UserError("no val task has a score in every measurement: there is nothing to compare")
    return noise, {key: task_id for task_id, key in evaluator.keys.items()}


def _rounds(
    measuring: Measuring, skill: Skill, repeats: int, project: Project
) -> list[Measurements]:
    """As many measurements as are asked for, those in the ledger first.

    Each is noted before the next begins. Shape: `repeats` items.
    """
    object_id = measuring.store.object_id(skill)
    missing = repeats - _complete(measuring, object_id)
    if missing > 0:
        again = replace(measuring, again=True)
        most = missing * again.most_calls([skill])
        say(f"{count(missing, 'measurement')} to make, at most {amount(most)} calls")
        for line in measuring.meter.limits():
            say(line)
        project.invocation.resume = project.invocation.typed("aa", "--repeats", str(repeats))
        numbers = range(repeats - missing + 1, repeats + 1)
        at = numbers.start
        with measuring.store.hold(SCOPE), shown(lambda: _snapshot(measuring, at, repeats)):
            for at in numbers:
                (measuring if at == 1 else again).measure([skill])
        project.invocation.resume = None
    known = measuring.known(object_id)
    return [
        Measurements(object_id=object_id, scores={k: s[n] for k, s in known.items() if len(s) > n})
        for n in range(repeats)
    ]


def _complete(measuring: Measuring, object_id: str) -> int:
    """How many measurements every task that was ever scored has."""
    known = [len(scores) for scores in measuring.known(object_id).values() if scores]
    return min(known, default=0)


def _snapshot(measuring: Measuring, at: int, repeats: int) -> Snapshot:
    seen = Snapshot.of(measuring.evaluator.progress, measuring.meter)
    return replace(seen, step=at, total_steps=repeats)


def _fields(name: str, noise: Noise, names: dict[str, str]) -> dict[str, object]:
    fields = noise.model_dump(mode="json")
    fields["flipping"] = {names[key]: mean for key, mean in noise.flipping}
    return {"rev": name, "mean": noise.mean, "smallest_gain": noise.smallest_gain, **fields}


def _print(name: str, noise: Noise, names: dict[str, str], gate: GateConfig) -> None:
    print(f"{printable(name)}: {count(len(noise.means), 'measurement')} on "
          f"{count(noise.tasks, 'val task')}, metric {gate.metric.value}\n")  # fmt: skip
    rows = [[str(n), f"{mean:.4f}"] for n, mean in enumerate(noise.means, 1)]
    print_table(["no.", "mean"], rows, right=frozenset((0, 1)))
    print(f"\nmean {noise.mean:.4f}; from one measurement to the next it moves by "
          f"{noise.spread:.4f} (standard deviation)")  # fmt: skip
    print(
        f"tasks: {noise.always_full} always pass, {noise.always_nothing} always fail, "
        f"{len(noise.flipping)} change"
    )
    for key, mean in noise.flipping[:_SHOWN]:
        print(f"  {printable(names[key])} {mean:.2f}")
    if len(noise.flipping) > _SHOWN:
        print(f"  and {len(noise.flipping) - _SHOWN} more")
    print(
        f"against itself, gate {gate.rule} would have accepted it in {noise.accepted} of "
        f"{noise.compared} comparisons"
    )
    if not noise.flipping:
        print("no noise was seen: a score that rises has risen")
        return
    sizes = Sizes(rule=gate.rule, tasks=noise.tasks, repeats=gate.repeats, alpha=gate.alpha,
                  min_delta=gate.min_delta)  # fmt: skip
    worst = accept_chance(sizes, 0.5, 0.5)
    print(f"at worst, with every task a coin toss, it would in {worst:.0%} of tries")
    print(
        f"two skills, each measured once, have to differ by about {noise.smallest_gain:.3f} to be "
        "told apart 4 times in 5; [gate] repeats = 4 halves that"
    )
