"""`skillgit undo`: take back the last adopt."""

from __future__ import annotations

import click

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.show.output import count, json_option, one_line, print_commands, print_json
from skillgit.store.git.repository import open_repository
from skillgit.store.proposals.undo import Undoer


@click.command()
@click.argument("branch", metavar="[BRANCH]", required=False)
@click.option("--dry-run", is_flag=True, help="Say what would be taken back; move nothing.")
@json_option
@click.pass_obj
def command(invocation: Invocation, *, branch: str | None, dry_run: bool, as_json: bool) -> None:
    """Take back the last adopt, of BRANCH where one is named.

    Puts the branch back to where it was, and the work tree that has it
    checked out; local changes are kept, or git refuses. The proposal stays,
    and can be adopted again. Refused when commits stand on it by now, or a
    remote has it: then git revert is the way, and the command is printed.
    Again, it takes back the adopt before.
    """
    repository = open_repository(invocation.directory)
    refs = repository.refs(invocation.clock, invocation.typed("undo"))
    undoer = Undoer(repository, refs, repository.cli(invocation.environ))
    move = undoer.find(branch)
    if not dry_run:
        undoer.undo(move)
    if as_json:
        print_json("undo", {**move.model_dump(mode="json"), "done": not dry_run})
        return
    would = "would be" if dry_run else "is"
    print(
        f"{move.branch} {would} at {move.old[:12]} again, as before: {one_line(move.command)} "
        f"({count(move.commits, 'commit')})"
    )
    if not dry_run:
        redo = invocation.typed_git("merge", "--ff-only", move.new[:12])
        print_commands([move.command, redo], title="To have it again, either of:")
