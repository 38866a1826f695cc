"""`skillgit sync`: exchange notes and run branches with a remote."""

from __future__ import annotations

from collections.abc import Sequence

import click

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.sessions.project import Project, open_project
from skillgit.cli.show.output import count, json_option, print_json, say
from skillgit.store.git.git_cli import GitCli
from skillgit.store.git.locks import held
from skillgit.store.git.names import best_tag
from skillgit.store.git.repository import Repository
from skillgit.store.git_store import GitStore
from skillgit.store.remotes.remotes import Remotes, write_included
from skillgit.store.remotes.sync import Sync, SyncResult
from skillgit.store.skills.skills import committed_skill


@click.command()
@click.argument("remote", metavar="[REMOTE]", required=False)
@click.option("--run", "runs", metavar="RUN", multiple=True, help="Push this run, not all of them.")
@click.option("--notes-only", is_flag=True, help="Push no run, only notes.")
@click.option("--publish-best", is_flag=True, help="Push the tag skillopt/best, too.")
@json_option
@click.pass_obj
def command(
    invocation: Invocation,
    *,
    remote: str | None,
    runs: tuple[str, ...],
    notes_only: bool,
    publish_best: bool,
    as_json: bool,
) -> None:
    """Exchange notes and trainings with REMOTE (usually origin).

    What a colleague measured or saw rejected is not paid for again
    afterwards. Notes are united line by line and nothing is ever forced;
    nights and what belongs to them stay here.
    """
    if runs and notes_only:
        raise click.UsageError("--run names what --notes-only leaves out")
    project = open_project(invocation)
    exchange = _Exchange(project)
    name = exchange.remotes.choose(remote, onto=project.config.repo.onto)
    result = exchange.run(name, () if notes_only else runs or None)
    published = exchange.publish_best(name) if publish_best else []
    if as_json:
        fields = {**result.model_dump(mode="json"), "best": exchange.best, "published": published}
        print_json("sync", fields)
    else:
        _report(result)
    if exchange.best is not None and not as_json:
        print(f"skillopt/best is at {exchange.best[:12]} now")
    if published:
        _warn(name, published)


class _Exchange:
    """The rooms that a sync needs; `best` is where the default best tag moved to, if it did."""

    def __init__(self, project: Project) -> None:
        repository = project.open_repository()
        self.best: str | None = None
        self.stores = [_store(each, repository) for each in project.each()]
        self.refs = self.stores[0].refs
        self.cli = GitCli(repository.workdir or repository.git_dir, project.invocation.environ)
        self.remotes = Remotes(self.cli)
        self._sync = Sync(repository, self.refs, self.cli, project.invocation.clock)
        self._common, self._private = repository.common, repository.private
        self._command = project.invocation.typed("sync")

    def run(self, remote: str, runs: Sequence[str] | None) -> SyncResult:
        """Exchange, then let this clone derive its own best tags."""
        with held(self._private, "sync", clock=self._sync.clock, command=self._command):
            self._prepare()
            before = self.refs.read(best_tag())
            result = self._sync.exchange(remote, runs)
            self._prepare()
        after = self.refs.read(best_tag())
        self.best = after if after != before else None
        write_included(self.cli, self._common)
        return result

    def publish_best(self, remote: str) -> list[str]:
        """Push the tags with a lease each; those that are on the remote now."""
        tags = dict.fromkeys(tag for store in self.stores for tag in store.tags)
        published = [tag for tag in tags if self.refs.read(tag) is not None]
        if not published:
            say("note: there is no skillopt/best to publish yet")
        for tag in published:
            self._sync.publish_tag(remote, tag)
        return [tag.removeprefix("refs/tags/") for tag in published]

    def _prepare(self) -> None:
        for store in self.stores:
            store.prepare()


def _store(project: Project, repository: Repository) -> GitStore:
    config = project.config
    name = project.skill or committed_skill(repository, config.skill, config.repo.onto).name
    return project.open_store(repository, name, command=project.invocation.typed("sync"))


def _report(result: SyncResult) -> None:
    lines = [
        f"{result.remote} has {count(result.lines_out, 'more line')} of notes"
        if result.lines_out
        else "",
        f"{count(result.lines_in, 'line')} of notes came in" if result.lines_in else "",
        f"runs that came in: {', '.join(result.runs_in)}" if result.runs_in else "",
    ]
    for run, branch in result.runs_out.items():
        other = branch != f"skillopt/run/{run}"
        why = ", for the name belongs to another run there" if other else ""
        lines.append(f"{run} is on {result.remote} as {branch}{why}")
    said = [line for line in lines if line]
    print("\n".join(said) if said else f"{result.remote} and this clone know the same already")
    for run, reason in result.left_out.items():
        say(f"note: {run} was not pushed: {reason}")


def _warn(remote: str, tags: Sequence[str]) -> None:
    for tag in tags:
        say(
            f"note: {remote} has the tag {tag} now. It moves, and git does not expect that of tags:"
        )
        say("  in clones that have an older one, git pull --tags fails until they type")
        say(f"  git fetch {remote} '+refs/tags/{tag}:refs/tags/{tag}'")
