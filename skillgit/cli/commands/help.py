"""`skillgit help`: the help of a command, for those who type it as git's."""

from __future__ import annotations

import click

from skillgit.cli.app.invocation import Invocation
from skillgit.errors import UsageError


@click.command()
@click.argument("words", metavar="[COMMAND]...", nargs=-1)
@click.pass_context
def command(ctx: click.Context, *, words: tuple[str, ...]) -> None:
    """Show the help of COMMAND, or which commands there are."""
    context = ctx.parent or ctx
    for word in words:
        found = context.command
        inner = found.get_command(context, word) if isinstance(found, click.Group) else None
        if inner is None:
            program = context.find_object(Invocation)
            hint = f"{program.typed('help')} shows what there is." if program else ""
            raise UsageError(f"there is no command {' '.join(words)!r}", hint=hint)
        context = inner.make_context(word, [], parent=context, resilient_parsing=True)
    print(context.get_help())
