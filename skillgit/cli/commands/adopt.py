"""`skillgit adopt`: bring a proposal into the branch it was made for."""

from __future__ import annotations

from dataclasses import dataclass

import click

from skillgit.cli.invocation import Invocation
from skillgit.cli.output import json_option, print_commands, print_json
from skillgit.cli.project import open_project
from skillgit.cli.runs import Runs
from skillgit.errors import UserError
from skillgit.store.adopt import Adopter, AdoptState
from skillgit.store.git_cli import GitCli
from skillgit.store.names import HEADS, proposal_ref, run_ref
from skillgit.store.proposal import Proposal, build_proposal, has_ended, propose
from skillgit.store.refs import Refs
from skillgit.store.repository import open_repository


@click.command()
@click.argument("version", metavar="RUN")
@click.option("--into", metavar="BRANCH", help="Another branch than [repo] onto.")
@click.option("--merge", is_flag=True, help="Where edits do not fit, let git merge.")
@json_option
@click.pass_obj
def command(
    invocation: Invocation, *, version: str, into: str | None, merge: bool, as_json: bool
) -> None:
    """Bring the proposal of RUN, or best, into the branch it was made for.

    Moves that branch, and the work tree that has it checked out, and prints
    the command that takes it back. Local changes in the way are never
    overwritten. A plain git merge of the proposal counts just as well.
    """
    project = open_project(invocation)
    repository = open_repository(invocation.directory)
    refs = Refs(
        repository.git,
        repository.common,
        clock=invocation.clock,
        command=invocation.typed("adopt", version),
    )
    finder = _Finder(Runs(repository, invocation), refs, invocation)
    proposal = finder.find(version)
    cli = GitCli(repository.workdir or repository.git_dir, invocation.environ)
    adopter = Adopter(repository=repository, refs=refs, cli=cli)
    adoption = adopter.adopt(proposal.commit, onto=into or project.config.repo.onto, merge=merge)
    if as_json:
        print_json("adoption", {**adoption.model_dump(mode="json"), "ended": proposal.ended})
        return
    print(adoption)
    if not proposal.ended:
        print(f"{proposal.run} has not ended; {invocation.typed('train')} goes on with it")
    if adoption.undo is not None and adoption.state is not AdoptState.ALREADY:
        print_commands([adoption.undo], title="To take it back:")


@dataclass(frozen=True)
class _Found:
    run: str
    commit: str
    ended: bool = True


@dataclass(frozen=True)
class _Finder:
    runs: Runs
    refs: Refs
    invocation: Invocation

    def find(self, version: str) -> _Found:
        """The proposal that is meant.

        Raises: UserError when there is nothing to adopt, saying why and where the run is.
        """
        if version == "best":
            return self._of_best()
        there = self.refs.read(proposal_ref(version))
        if there is not None:
            return _Found(version, there)
        next(self.runs.history(version))
        proposal = propose(self.runs.repository.git, self.refs, version)
        return self._checked(proposal, self._why(proposal))

    def _of_best(self) -> _Found:
        """The proposal of the run that holds the tag; built from the tag while it goes on."""
        git = self.runs.repository.git
        commit = self.runs.commit_of("best")
        holder = self.runs.read(commit)
        tip = self.runs.tip(holder.run) if holder else None
        if holder is not None and tip is not None and has_ended(git, tip):
            return self.find(holder.run)
        built = build_proposal(git, commit)
        return self._checked(built, "", ended=False)

    def _checked(self, proposal: Proposal, hint: str, *, ended: bool = True) -> _Found:
        if proposal.commit is None:
            raise UserError(f"there is nothing to adopt: {proposal.reason}", hint=hint)
        return _Found(proposal.run, proposal.commit, ended)

    def _why(self, proposal: Proposal) -> str:
        typed, branch = self.invocation.typed, run_ref(proposal.run).removeprefix(HEADS)
        tip = self.runs.tip(proposal.run)
        if tip is not None and not has_ended(self.runs.repository.git, tip):
            return (
                f"{typed('train')} goes on with it; {typed('adopt', 'best')} takes the best so far."
            )
        return f"{typed('log', proposal.run)} shows what was tried, on branch {branch}."
