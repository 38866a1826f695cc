"""`skillgit status`: the runs, the best version, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import click

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.app.options import skill_option
from skillgit.cli.sessions.night_status import NightStatus, night_status
from skillgit.cli.sessions.project import Project, open_project
from skillgit.cli.sessions.runs import Runs
from skillgit.cli.show.conclusion import commands_to_set_up
from skillgit.cli.show.output import json_option, number, print_commands, print_json, print_table
from skillgit.history import RunCommit
from skillgit.records import Action
from skillgit.store.git.names import HEADS, best_tag, is_night, proposal_ref
from skillgit.store.git.refs import Refs
from skillgit.store.git.repository import Repository
from skillgit.store.proposals.adopted import is_adopted, read_lineage
from skillgit.store.revisions import best_commit


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


@dataclass(frozen=True)
class SkillStatus:
    """A skill as it stands, with its runs, the one that moved last at the end."""

    project: Project
    runs: tuple[RunStatus, ...]
    best: RunCommit | None
    uncommitted: tuple[str, ...]
    nights: NightStatus

    @property
    def best_score(self) -> float | None:
        """The best version's score as its run knows it by now: it may be measured again later."""
        if self.best is None:
            return None
        tips = [r.tip for r in self.runs if r.tip.state.run_id == self.best.state.run_id]
        marks = [tip.state.best for tip in tips if tip.state.best.step == self.best.step]
        return marks[0].score if marks else self.best.state.best.score

    @property
    def best_name(self) -> str:
        """The tag on its best version."""
        named = None if self.project.is_default else self.project.skill
        return best_tag(named).removeprefix("refs/tags/")


@click.command()
@skill_option
@json_option
@click.pass_obj
def command(invocation: Invocation, *, skill: str | None, as_json: bool) -> None:
    """Show the runs, the best version, and what to do next.

    Of several skills it shows each, or the one that --skill names.
    """
    project = open_project(invocation, skill)
    found = _read(project, [*project.each()] if skill is None else [project])
    following = list(dict.fromkeys(step for status in found for step in next_steps(status)))
    if as_json:
        _print_json(found, following)
        return
    for status in found:
        _print_skill(status)
    states = [(status.project.skill, run) for status in found for run in status.runs]
    if states:
        print()
        several = len(found) > 1
        print_table(
            ("run", "step", "score", "best", *(["skill"] if several else []), ""),
            [_row(run, skill if several else None) for skill, run in states],
        )
    print_commands(following)


def next_steps(status: SkillStatus) -> list[str]:
    """The commands that are likely meant next for a skill."""
    project, states, best = status.project, status.runs, status.best
    invocation, onto = project.invocation, project.config.repo.onto
    waiting = status.nights.commands(project)
    if waiting:
        return waiting
    if not states:
        nights = project.is_for_nights
        before = commands_to_set_up(
            invocation,
            project.tree,
            project.config,
            more=[*project.skills.values()],
            nights=nights,
        )
        begin = [("sleep",), ("sleep", "--schedule")] if nights else [("train",)]
        return [*before, *(project.typed(*words) for words in begin)]
    if not states[-1].ended:
        return [project.typed("sleep" if is_night(states[-1].tip.run) else "train")]
    holder = next((s for s in states if best is not None and s.tip.run == best.run), states[-1])
    run = holder.tip.run
    if holder.adopted is False:
        branch = proposal_ref(run).removeprefix(HEADS)
        return [invocation.typed_git("diff", f"{onto}...{branch}"), invocation.typed("adopt", run)]
    again = ("sleep",) if project.is_for_nights else ("train", "--new")
    return [invocation.typed("log", run), project.typed(*again)]


def _read(project: Project, skills: Sequence[Project]) -> list[SkillStatus]:
    repository = project.open_repository()
    runs = Runs(repository, project.invocation)
    states = [_status(runs, project, repository, name) for name in runs.names()]
    return [
        SkillStatus(
            project=each,
            runs=tuple(s for s in states if each.skill in (None, s.tip.state.skill)),
            best=_best(runs, each.skill),
            uncommitted=tuple(project.tree.uncommitted(each.config.skill.path)),
            nights=night_status(each, repository, each.skill),
        )
        for each in skills
    ]


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


def _best(runs: Runs, skill: str | None) -> RunCommit | None:
    found = best_commit(runs.repository.git, skill)
    return None if found is None else runs.read(found)


def _print_skill(status: SkillStatus) -> None:
    project = status.project
    onto = project.config.repo.onto
    name = f"{project.skill}, in " if project.skill is not None else ""
    print(f"skill  {name}{project.config.skill.path}, trained for {onto}")
    if status.uncommitted:
        print(f"       has changes that are not committed; training goes by {onto}")
    print(f"best   {_best_words(status)}")
    for line in status.nights.lines():
        print(line)


def _best_words(status: SkillStatus) -> str:
    best = status.best
    if best is None:
        return "none yet"
    words = f"{number(status.best_score)}, {best.run}@{best.step}, tag {status.best_name}"
    adopted = next((state.adopted for state in status.runs if state.tip.run == best.run), None)
    return words if adopted is None else f"{words}, {'adopted' if adopted else 'not adopted'}"


def _row(status: RunStatus, skill: str | None) -> tuple[str, ...]:
    best = status.tip.state.best
    return (
        status.tip.run,
        str(status.tip.step),
        f"{number(status.baseline)} -> {number(best.score)}",
        f"@{best.step}",
        *([skill] if skill is not None else []),
        status.outcome,
    )


def _print_json(found: Sequence[SkillStatus], following: Sequence[str]) -> None:
    for status in found:
        for run in status.runs:
            tip = run.tip
            fields = {"run": tip.run, "skill": tip.state.skill, "step": tip.step}
            scores = {"baseline": run.baseline, "best": tip.state.best.score}
            print_json("run", {**fields, "ended": run.ended, **scores, "adopted": run.adopted})
    for status in found if len(found) > 1 else ():
        print_json("skill", _skill_fields(status))
    print_json("status", {**_skill_fields(found[0]), "next": list(following)})


def _skill_fields(status: SkillStatus) -> dict[str, object]:
    best = status.best
    return {
        "skill": status.project.skill,
        "path": status.project.config.skill.path,
        "best": {
            "commit": best.id,
            "run": best.run,
            "step": best.step,
            "score": status.best_score,
        }
        if best
        else None,
        "uncommitted": list(status.uncommitted),
        "night": status.nights.fields(),
    }
