"""`skillgit completion`: the script by which a shell completes our words."""

from __future__ import annotations

import click

from skillgit.cli.app.completion import KINDS, completion_script


@click.command()
@click.argument("shell", type=click.Choice(list(KINDS)))
def command(*, shell: str) -> None:
    """Print the script that lets a shell complete commands, options, and the
    names of runs, nights, versions and tasks.

    \b
    bash:  eval "$(skillgit completion bash)"       in ~/.bashrc
    zsh:   eval "$(skillgit completion zsh)"        in ~/.zshrc, after compinit
    fish:  skillgit completion fish | source        in ~/.config/fish/config.fish
    """
    print(completion_script(shell), end="")
