"""`skillgit adopt`: bring a proposal into the branch it was made for."""

from __future__ import annotations

import click

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.app.options import skill_option
from skillgit.cli.sessions.project import Project, open_project
from skillgit.cli.show.output import json_option, print_commands, print_json
from skillgit.errors import RepositoryError, UsageError, UserError
from skillgit.store.git.names import HEADS, is_night, run_ref
from skillgit.store.git.refs import Refs
from skillgit.store.git.repository import Repository
from skillgit.store.git.signing import signer_of
from skillgit.store.proposals.adopt import Adopter, AdoptState, Regate
from skillgit.store.proposals.adopted import read_lineage
from skillgit.store.proposals.proposal import Proposal
from skillgit.store.revisions import find_proposal
from skillgit.store.skills.skills import skill_in_commit


@click.command()
@click.argument("version", metavar="RUN")
@click.option("--into", metavar="BRANCH", help="Another branch than [repo] onto.")
@click.option("--merge", is_flag=True, help="Where edits do not fit, let git merge.")
@click.option(
    "--regate", is_flag=True, help="Where the skill has changed, measure first; this costs."
)
@click.option("--only", metavar="NAME", help="Only what it does to this one of several skills.")
@skill_option
@json_option
@click.pass_obj
def command(
    invocation: Invocation,
    *,
    version: str,
    into: str | None,
    merge: bool,
    regate: bool,
    only: str | None,
    skill: str | None,
    as_json: bool,
) -> None:
    """Bring the proposal of RUN, or best, into the branch it was made for.

    Moves that branch, and the work tree that has it checked out, and prints
    the command that takes it back. Local changes in the way are never
    overwritten. A plain git merge of the proposal counts just as well.

    Where the skill has changed since, the proposal's edits are applied again
    by their anchors, and what that makes is unmeasured. --regate measures it
    first, beside the text that is there, and adopts it if the gate lets it
    pass.
    """
    if merge and regate:
        raise UsageError(
            "--merge and --regate exclude each other: what git merges is yours to resolve",
            hint=f"{invocation.typed('eval', 'HEAD')} measures what came of a merge.",
        )
    project = open_project(invocation, only if only is not None else skill)
    repository = project.open_repository()
    words = ["adopt", version, *(["--into", into] if into is not None else [])]
    words += ["--only", only] if only is not None else []
    refs = Refs(
        repository.git,
        repository.common,
        clock=invocation.clock,
        command=project.typed(*words, *(["--merge"] if merge else [])),
    )
    cli = project.git_in(repository)
    sign = signer_of(repository.git, cli)
    proposal = find_proposal(repository.git, version, skill=project.skill, sign=sign)
    if proposal.commit is None:
        raise _nothing_to_adopt(proposal, project)
    onto = into or project.config.repo.onto
    adopter = Adopter(
        repository=repository,
        refs=refs,
        cli=cli,
        documents=_judged(project, repository, proposal.commit, onto),
        sign=sign,
        regate=_regate(project, onto, project.typed(*words, "--regate")) if regate else None,
    )
    adoption = adopter.adopt(
        proposal.commit,
        onto=onto,
        merge=merge,
        only=_documents(project, repository, proposal.commit, onto) if only is not None else (),
    )
    if as_json:
        print_json("adoption", {**adoption.model_dump(mode="json"), "goes_on": proposal.goes_on})
        return
    print(adoption)
    if proposal.goes_on:
        print(f"{proposal.run} has not ended; {project.typed('train')} goes on with it")
    is_unmeasured = adoption.state in (AdoptState.REPLAYED_UNMEASURED, AdoptState.MERGED)
    if is_unmeasured and not is_night(adoption.run):  # a night's tasks are none of eval's
        print_commands([project.typed("eval", onto)], title="To measure it:")
    if adoption.undo is not None and adoption.state is not AdoptState.ALREADY:
        print_commands([adoption.undo], title="To take it back:")


def _regate(project: Project, onto: str, again: str) -> Regate:
    from skillgit.cli.sessions.regate import (
        Regating,  # it opens models; a plain adopt need not wait
    )

    return Regating(project, onto, again)


def _judged(project: Project, repository: Repository, proposal: str, onto: str) -> tuple[str, ...]:
    """The paths of all documents that the gate judged together, the main one first.

    None where the skill that the proposal is of is not there any more, by its name.
    """
    lineage = read_lineage(repository.git, proposal)
    own = project.of_skill(lineage.skill)
    try:
        if skill_in_commit(repository.git, proposal, own.config.skill).name != lineage.skill:
            return ()
        return _documents(own, repository, proposal, onto, memory=is_night(lineage.run))
    except RepositoryError:
        return ()


def _documents(
    project: Project, repository: Repository, proposal: str, onto: str, *, memory: bool = False
) -> tuple[str, ...]:
    """The paths of a skill's documents, as they are in a proposal and on a branch."""
    store = project.open_store(repository, project.skill or "", memory=memory)
    commits = (proposal, str(repository.onto_commit(onto).id))
    found = (document for commit in commits for document in store.skill_at(commit).documents)
    return tuple(dict.fromkeys(document.path for document in found))


def _nothing_to_adopt(proposal: Proposal, project: Project) -> UserError:
    run, branch = proposal.run, run_ref(proposal.run).removeprefix(HEADS)
    if proposal.goes_on and is_night(run):
        return UserError(
            f"there is nothing to adopt: {run} has not ended yet",
            hint=f"{project.typed('sleep')} goes on with it.",
        )
    if proposal.goes_on:
        return UserError(
            f"there is nothing to adopt: {run} has not ended yet",
            hint=f"{project.typed('train')} goes on with it; "
            f"{project.typed('adopt', 'best')} takes the best so far.",
        )
    return UserError(
        f"there is nothing to adopt: {proposal.reason}",
        hint=f"{project.invocation.typed('log', run)} shows what was tried, on branch {branch}.",
    )
