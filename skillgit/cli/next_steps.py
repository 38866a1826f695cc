"""What a person types next, as commands."""

from __future__ import annotations

from collections.abc import Sequence

from skillgit.cli.conclusion import Conclusion
from skillgit.cli.invocation import Invocation
from skillgit.cli.worktree import Worktree
from skillgit.config import CONFIG_FILE, Config, Provider


def commands_before_training(
    invocation: Invocation,
    tree: Worktree,
    config: Config,
    *,
    more: Sequence[Config] = (),
    nights: bool = False,
) -> list[str]:
    """What has to be typed before and with the first training, or the first night.

    `more` are further skills'.
    """
    paths = [path for c in (config, *more) for path in (c.skill.path, c.tasks.path)]
    if nights:
        paths = [config.skill.path]
    files = [*dict.fromkeys(paths), CONFIG_FILE]
    commands: list[str] = []
    if not tree.has_identity():
        commands += ['git config user.name "..."', 'git config user.email "..."']
    if tree.uncommitted(*files):
        commands += [
            invocation.typed_git("add", *(invocation.seen(tree.root / file) for file in files)),
            invocation.typed_git("commit", "-m", "Set up skillgit"),
        ]
    models = [m for m in (config.target, config.optimizer) if m.provider is Provider.OPENAI]
    variables = {m.api_key_env for m in models if m.api_key_env}
    commands += [
        f"export {variable}=..."
        for variable in sorted(variables)
        if not invocation.environ.get(variable)
    ]
    if nights:
        return [*commands, invocation.typed("sleep"), invocation.typed("sleep", "--schedule")]
    return [*commands, invocation.typed("train")]


def commands_after_training(invocation: Invocation, found: Conclusion) -> list[str]:
    """How to look at what came out, and how to take it."""
    if found.proposal is None:
        return [invocation.typed("log", found.run)]
    return [
        invocation.typed_git("log", found.best_name if found.holds_best else found.proposal),
        invocation.typed_git("diff", f"{found.onto}...{found.proposal}"),
        invocation.typed("adopt", found.run),
    ]
