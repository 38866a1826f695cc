"""`skillgit propose`: push a proposal's branch, and open its pull request where that can be done."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import click

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.app.options import skill_option
from skillgit.cli.sessions.project import Project, open_project
from skillgit.cli.show.output import count, json_option, print_json, printable, say
from skillgit.errors import UserError
from skillgit.review.pull_request.body import title
from skillgit.review.pull_request.evidence import Evidence, gather
from skillgit.review.pull_request.forge import (
    Host,
    Opened,
    PullRequest,
    PullRequestClient,
    read_host,
)
from skillgit.review.pull_request.propose import public_body, refuse_secrets
from skillgit.store.git.git_cli import GitCli
from skillgit.store.git.names import HEADS, is_night
from skillgit.store.ranges import range_between
from skillgit.store.remotes.publish import Destination, Publisher
from skillgit.store.remotes.remotes import Remotes
from skillgit.store.revisions import find_proposal


@click.command()
@click.argument("version", metavar="RUN")
@click.option("--remote", metavar="NAME", help="Where to push.  [default: the branch's remote]")
@click.option("--yes", is_flag=True, help="Do not ask before a night's proposal leaves.")
@click.option("--dry-run", is_flag=True, help="Print the body; push nothing.")
@skill_option
@json_option
@click.pass_obj
def command(
    invocation: Invocation,
    *,
    version: str,
    remote: str | None,
    yes: bool,
    dry_run: bool,
    skill: str | None,
    as_json: bool,
) -> None:
    """Push the proposal of RUN and open its pull request.

    Uses gh or glab where one is signed in; else prints the address to open
    it at and writes the body to a file. A night's body is shown first, with
    secrets taken out, since it speaks of your own sessions. Proposing again
    brings branch and pull request up to date.
    """
    project = open_project(invocation, skill)
    offer = _make_offer(project, version, remote)
    if dry_run:
        print(offer.body)
        return
    _mention_more(offer, project.config.repo.onto)
    if offer.evidence.is_night:
        _ask(offer, invocation, yes=yes, as_json=as_json)
    pushed = offer.publisher.push(offer.to, offer.commit)
    file = _write_body(offer)
    client = PullRequestClient(offer.publisher.cli.folder, invocation.environ, [])
    asked = PullRequest(
        onto=project.config.repo.onto,
        branch=offer.to.branch,
        title=title(offer.evidence),
        body=offer.body,
    )
    opened = client.open_pull_request(offer.host, asked, again=offer.to.there is not None)
    for complaint in client.complaints:
        say(f"note: {printable(complaint)}")
    address = offer.host.compare_address(asked.onto, asked.branch) if offer.host else None
    if as_json:
        fields = {"run": offer.evidence.run, "remote": offer.to.remote, "branch": asked.branch}
        url = opened.address if opened else None
        more = {"commit": offer.commit, "pushed": pushed, "url": url, "compare": address}
        print_json("proposal", {**fields, **more, "body": str(file)})
        return
    _report(offer, invocation, pushed=pushed, opened=opened, address=address, file=file)


@dataclass(frozen=True)
class _Offer:
    """All that a proposal leaves with, before it leaves."""

    evidence: Evidence
    commit: str
    body: str
    publisher: Publisher
    to: Destination
    host: Host | None


def _make_offer(project: Project, version: str, asked_remote: str | None) -> _Offer:
    invocation, onto = project.invocation, project.config.repo.onto
    repository = project.open_repository()
    proposal = find_proposal(repository.git, version, skill=project.skill)
    if proposal.commit is None:
        raise UserError(
            f"there is nothing to propose: {proposal.reason}",
            hint=f"{invocation.typed('log', proposal.run)} shows what was tried.",
        )
    store = project.open_store(
        repository,
        project.skill or "",
        command=project.typed("propose", version),
        private=is_night(proposal.run),
        memory=is_night(proposal.run),
    )
    evidence = gather(store, proposal)
    refuse_secrets(range_between(repository.git, evidence.base, evidence.commit))
    cli = GitCli(repository.workdir or repository.git_dir, invocation.environ)
    remotes = Remotes(cli)
    remote = remotes.choose(asked_remote, onto=onto)
    publisher = Publisher(repository, store.refs, cli)
    to = publisher.destination(remote, evidence.run, evidence.commit)
    body = public_body(evidence, branch=to.branch, remote=remote)
    host = read_host(remotes.url(remote))
    return _Offer(evidence, evidence.commit, body, publisher, to, host)


def _mention_more(offer: _Offer, onto: str) -> None:
    """Say so when commits below the proposal would go along that the remote does not have."""
    remotes, remote = Remotes(offer.publisher.cli), offer.to.remote
    more = remotes.lacks(offer.evidence.base, remotes.listed(remote, f"{HEADS}*"))
    if more:
        commits = count(more, "commit")
        say(f"note: {commits} of {onto} that {remote} does not have will be pushed along with it")


def _ask(offer: _Offer, invocation: Invocation, *, yes: bool, as_json: bool) -> None:
    """Show a night's body, and have a person agree to its leaving.

    Raises: UserError when nobody agrees.
    """
    show = say if as_json else print
    show(printable(offer.body))
    if yes:
        return
    run, remote = offer.evidence.run, offer.to.remote
    if not sys.stdin.isatty():
        raise UserError(
            f"{run} speaks of your own sessions, and nobody is there to agree that it leaves",
            hint=f"{invocation.typed('propose', run, '--yes')} sends what is shown above.",
        )
    if not click.confirm(f"Push {offer.to.branch} to {remote}, with this text?", err=True):
        raise UserError(f"{run} stays here; nothing was pushed")


def _write_body(offer: _Offer) -> Path:
    folder = offer.publisher.repository.private.proposals
    file = folder / f"{offer.to.branch.rpartition('/')[2]}.md"
    file.write_text(offer.body, encoding="utf-8")
    return file


def _report(
    offer: _Offer,
    invocation: Invocation,
    *,
    pushed: bool,
    opened: Opened | None,
    address: str | None,
    file: Path,
) -> None:
    to = offer.to
    where = f"{to.branch} on {to.remote}"
    print(f"Pushed {where}" if pushed else f"{where} is up to date already")
    if not to.branch.endswith(f"/{offer.evidence.run}"):
        print(f"  the name skillopt/{offer.evidence.run} belongs to another run there")
    if opened is not None:
        done = "Brought the pull request up to date" if opened.updated else "Opened a pull request"
        print(f"{done}{f': {printable(opened.address)}' if opened.address else ''}")
        return
    if address is not None:
        print(f"Open the pull request at\n  {printable(address)}")
    print(f"Its text is in\n  {invocation.seen(file)}")
