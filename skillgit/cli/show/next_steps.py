"""What a person types next, as commands."""

from __future__ import annotations

from collections.abc import Sequence

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.app.worktree import Worktree
from skillgit.cli.show.conclusion import Conclusion
from skillgit.config import CONFIG_FILE, Config, Provider


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
    models = [m for m in (config.target, config.optimizer) if m.provider is Provider.OPENAI]
    variables = {m.api_key_env for m in models if m.api_key_env}
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
