"""`skillgit reject`: say of a proposal that it is not wanted, and why, so that later nights know."""

from __future__ import annotations

import click

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.app.options import skill_option
from skillgit.cli.sessions.project import open_project
from skillgit.cli.show.output import json_option, print_json
from skillgit.errors import UsageError, UserError
from skillgit.history import TurnedDownNote
from skillgit.store.git.names import is_night
from skillgit.store.proposals.outcome import ProposalStatus, proposal_status
from skillgit.store.revisions import find_proposal


@click.command()
@click.argument("version", metavar="RUN")
@click.option("-m", "--message", "why", required=True, metavar="WHY", help="Your reason.")
@skill_option
@json_option
@click.pass_obj
def command(
    invocation: Invocation, *, version: str, why: str, skill: str | None, as_json: bool
) -> None:
    """Turn the proposal of RUN down, with a reason that later nights read.

    Its edits are not proposed again. The branch stays; delete it when you
    like. To take back what was adopted, use the command that adopt printed.
    """
    if not why.strip():
        raise UsageError("-m: say why, in a few words")
    project = open_project(invocation, skill)
    repository = project.open_repository()
    proposal = find_proposal(repository.git, version, skill=project.skill)
    if proposal.commit is None:
        raise UserError(f"there is nothing to turn down: {proposal.reason}")
    store = project.open_store(
        repository, project.skill or "skill", command=project.typed("reject", version), private=True
    )
    lines = store.notes_on(proposal.commit)
    onto = project.config.repo.onto
    before = proposal_status(repository, proposal.commit, lines, onto=onto)
    if before.status is ProposalStatus.ADOPTED:
        raise UserError(
            f"{proposal.run} is in {onto} already",
            hint=f"git revert takes its commits back; {invocation.typed('log', proposal.run)} "
            "shows them.",
        )
    said = before.status is ProposalStatus.TURNED_DOWN and before.why == why.strip()
    if not said:
        note = TurnedDownNote(run=proposal.run, why=why.strip(), time=invocation.clock.now())
        store.add_lines(proposal.run, [(proposal.commit, note)], message=f"{proposal.run} rejected")
    if as_json:
        print_json(
            "rejection", {"run": proposal.run, "commit": proposal.commit, "why": why.strip()}
        )
        return
    print(f"{proposal.run} is turned down; later nights are told why, and propose none of it again")
    if not is_night(proposal.run):
        print("It was a training: the next one starts without it, unless you say --from.")
