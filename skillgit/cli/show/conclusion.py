"""The result of a run that has ended, and the commands to type next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.app.worktree import Worktree
from skillgit.cli.show.output import count, number
from skillgit.config import CONFIG_FILE, Config
from skillgit.history import Mark, RunCommit, TestNote
from skillgit.store.git.names import HEADS, proposal_ref
from skillgit.store.git_store import GitStore
from skillgit.store.runs.runs import read_commit


@dataclass(frozen=True)
class Conclusion:
    """A run's result; `proposal` is the branch to adopt, `None` when nothing was accepted.

    `run_best` is the version that the tag `best_name` is on, be it this run's or another's.
    """

    run: str
    onto: str
    baseline: float | None
    best: Mark
    test: TestNote | None
    proposal: str | None
    run_best: RunCommit | None
    best_name: str = "skillopt/best"

    @property
    def holds_best(self) -> bool:
        """Whether the tag is on a version of this run."""
        return self.run_best is not None and self.run_best.run == self.run

    def fields(self) -> dict[str, object]:
        """What the JSON of a result holds."""
        test = self.test.model_dump(mode="json", exclude={"kind", "run"}) if self.test else None
        return {
            "run": self.run,
            "baseline": self.baseline,
            "best": self.best.score,
            "best_step": self.best.step,
            "test": test,
            "proposal": self.proposal,
            "holds_best": self.holds_best,
        }


def conclusion_of(store: GitStore, run: str) -> Conclusion:
    """What the run's branch and the note on its end say."""
    commits = list(store.history(run))
    first, last = commits[-1], commits[0]
    branch, best = proposal_ref(run), store.best()
    return Conclusion(
        run=run,
        onto=last.state.onto,
        baseline=first.score,
        best=last.state.best,
        test=next((n for n in store.notes_on(last.id) if isinstance(n, TestNote)), None),
        proposal=branch.removeprefix(HEADS) if store.refs.read(branch) is not None else None,
        run_best=read_commit(store.repository.git, best) if best is not None else None,
        best_name=store.best_name,
    )


def print_conclusion(found: Conclusion) -> None:
    """Print it for a person."""
    if found.proposal is None:
        print(f"{found.run}: nothing was accepted; the score stays {number(found.baseline)}")
        return
    best = found.best
    print(
        f"{found.run}: {number(found.baseline)} -> {number(best.score)} on val, at step {best.step}"
    )
    if found.test is not None:
        test = found.test
        tasks = count(test.n_tasks, "test task")
        print(f"on {tasks}, never shown to it: {number(test.baseline)} -> {number(test.best)}")
    run_best = found.run_best
    if run_best is not None and not found.holds_best:
        score = number(run_best.state.best.score)
        print(f"{found.best_name} stays on {run_best.run}@{run_best.step}, which has {score}")


def commands_to_set_up(
    invocation: Invocation,
    tree: Worktree,
    config: Config,
    *,
    more: Sequence[Config] = (),
    nights: bool = False,
) -> list[str]:
    """What has to be typed before the first training, or before the first night.

    `more` are further skills'.
    """
    configs = (config, *more)
    paths = [path for c in configs for path in (c.skill.path, *([] if nights else [c.tasks.path]))]
    files = [*dict.fromkeys(paths), CONFIG_FILE]
    commands: list[str] = []
    if not tree.has_identity():
        commands += ['git config user.name "..."', 'git config user.email "..."']
    if tree.uncommitted(*files):
        commands += [
            invocation.typed_git("add", *(invocation.seen(tree.root / file) for file in files)),
            invocation.typed_git("commit", "-m", "Set up skillgit"),
        ]
    variables = {
        m.key_variable for m in (config.target, config.optimizer) if m.key_variable is not None
    }
    return commands + [
        f"export {variable}=..."
        for variable in sorted(variables)
        if not invocation.environ.get(variable)
    ]


def commands_after_training(invocation: Invocation, found: Conclusion) -> list[str]:
    """How to look at what came out, and how to take it."""
    if found.proposal is None:
        return [invocation.typed("log", found.run)]
    return [
        invocation.typed_git("log", found.best_name if found.holds_best else found.proposal),
        invocation.typed_git("diff", f"{found.onto}...{found.proposal}"),
        invocation.typed("adopt", found.run),
    ]
