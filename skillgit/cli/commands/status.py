"""`skillgit status`: the runs, the best version, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import click

from skillgit.cli.invocation import Invocation
from skillgit.cli.next_steps import commands_before_training
from skillgit.cli.output import json_option, number, print_commands, print_json, print_table
from skillgit.cli.project import Project, open_project
from skillgit.cli.runs import Runs
from skillgit.history import RunCommit
from skillgit.records import Action
from skillgit.store.adopted import is_adopted, read_lineage
from skillgit.store.names import HEADS, best_tag, proposal_ref
from skillgit.store.refs import Refs
from skillgit.store.repository import Repository, open_repository


@dataclass(frozen=True)
class RunStatus:
    """A run as it stands; `adopted` is `None` where there is no proposal."""

    tip: RunCommit
    baseline: float | None
    adopted: bool | None

    @property
    def ended(self) -> bool:
        """Whether the run has reached its end."""
        return self.tip.action is Action.END

    @property
    def outcome(self) -> str:
        """What became of it, in a few words."""
        if not self.ended:
            return "not ended"
        if self.adopted is None:
            return "nothing accepted"
        return "adopted" if self.adopted else "not adopted"


@click.command()
@json_option
@click.pass_obj
def command(invocation: Invocation, *, as_json: bool) -> None:
    """Show the runs, the best version, and what to do next."""
    project = open_project(invocation)
    repository = open_repository(invocation.directory)
    runs = Runs(repository, invocation)
    onto = project.config.repo.onto
    states = [_status(runs, project, repository, name) for name in runs.names()]
    changed = project.tree.uncommitted(project.config.skill.path)
    best = _best(runs)
    following = next_steps(project, states, best)
    if as_json:
        _print_json(states, best, changed, following)
        return
    print(f"skill  {project.config.skill.path}, trained for {onto}")
    if changed:
        print(f"       has changes that are not committed; training goes by {onto}")
    print(f"best   {_best_words(best, states)}")
    if states:
        print()
        print_table(("run", "step", "score", "best", ""), [_row(s) for s in states])
    print_commands(following)


def next_steps(project: Project, states: Sequence[RunStatus], best: RunCommit | None) -> list[str]:
    """The commands that are likely meant next."""
    invocation, onto = project.invocation, project.config.repo.onto
    if not states:
        return commands_before_training(invocation, project.tree, project.config)
    if not states[-1].ended:
        return [invocation.typed("train")]
    holder = next((s for s in states if best is not None and s.tip.run == best.run), states[-1])
    run = holder.tip.run
    if holder.adopted is False:
        branch = proposal_ref(run).removeprefix(HEADS)
        return [invocation.typed_git("diff", f"{onto}...{branch}"), invocation.typed("adopt", run)]
    return [invocation.typed("log", run), invocation.typed("train", "--new")]


def _status(runs: Runs, project: Project, repository: Repository, run: str) -> RunStatus:
    commits = list(runs.history(run))
    refs = Refs(repository.git, repository.common, clock=project.invocation.clock)
    proposal = refs.read(proposal_ref(run))
    adopted = None
    if proposal is not None:
        onto = str(repository.onto_commit(commits[0].state.onto).id)
        lineage = read_lineage(repository.git, proposal)
        adopted = is_adopted(repository.git, lineage, onto) is not None
    return RunStatus(tip=commits[0], baseline=commits[-1].score, adopted=adopted)


def _best(runs: Runs) -> RunCommit | None:
    found = runs.repository.git.references.get(best_tag())
    return None if found is None else runs.read(str(found.target))


def _best_words(best: RunCommit | None, states: Sequence[RunStatus]) -> str:
    if best is None:
        return "none yet"
    words = f"{number(best.state.best.score)}, {best.run}@{best.step}, tag skillopt/best"
    adopted = next((state.adopted for state in states if state.tip.run == best.run), None)
    return words if adopted is None else f"{words}, {'adopted' if adopted else 'not adopted'}"


def _row(status: RunStatus) -> tuple[str, ...]:
    best = status.tip.state.best
    return (
        status.tip.run,
        str(status.tip.step),
        f"{number(status.baseline)} -> {number(best.score)}",
        f"@{best.step}",
        status.outcome,
    )


def _print_json(
    states: Sequence[RunStatus],
    best: RunCommit | None,
    changed: Sequence[str],
    following: Sequence[str],
) -> None:
    for status in states:
        tip = status.tip
        fields = {"run": tip.run, "step": tip.step, "ended": status.ended}
        scores = {"baseline": status.baseline, "best": tip.state.best.score}
        print_json("run", {**fields, **scores, "adopted": status.adopted})
    found = {"commit": best.id, "run": best.run, "step": best.step} if best else None
    print_json("status", {"best": found, "uncommitted": list(changed), "next": list(following)})
