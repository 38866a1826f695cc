"""Where a repository's hooks are, who manages them, and the lines that call ours. Reads only."""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from skillgit.cli.app.worktree import Worktree
from skillgit.cli.hooks.scripts import HOOKS
from skillgit.store.git.git_cli import version
from skillgit.store.git.private import FOLDER as PRIVATE

CONFIG_HOOKS_SINCE = (2, 54)

_LEFTHOOK = tuple(
    f"{folder}{dot}lefthook.{kind}"
    for folder, dot in (("", ""), ("", "."), (".config/", ""))
    for kind in ("yml", "yaml", "toml", "json", "jsonc")
)
_PRE_COMMIT = (".pre-commit-config.yaml", ".pre-commit-config.yml", "prek.toml")


class Manager(StrEnum):
    """A program that writes hooks itself and calls what its own files name."""

    HUSKY = "husky"
    LEFTHOOK = "lefthook"
    PRE_COMMIT = "pre-commit"


@dataclass(frozen=True)
class HookPlace:
    """A repository's hooks: the folder that git looks into, and what decides about it.

    `hooks_path` is where core.hooksPath is set, as git names scopes (`local`, `global` …), or
    `None`. `common` is the git dir that all work trees share.
    """

    tree: Worktree
    common: Path
    folder: Path
    hooks_path: str | None
    manager: Manager | None
    manager_file: Path | None
    config_hooks: bool

    @property
    def is_own(self) -> bool:
        """Whether the folder serves this repository alone and no other program fills it."""
        if self.manager is not None or (self.folder.exists() and not self.folder.is_dir()):
            return False
        real = self.folder.resolve()
        here = real.is_relative_to(self.common) or real.is_relative_to(self.tree.root)
        return here and self.hooks_path in (None, "local", "worktree")

    @property
    def private_folder(self) -> Path:
        """Where the scripts stand that git's configuration and agents call."""
        return self.common / PRIVATE / "hooks"

    def asked(self, hook: str) -> Path:
        """The file in which a line for a hook belongs."""
        if self.manager is Manager.HUSKY:
            return self.tree.root / ".husky" / hook
        return self.manager_file or self.folder / hook

    def calls(self, hook: str) -> bool:
        """Whether git comes to what is in the file that `asked` says."""
        return self.manager is None or (self.folder / hook).exists()

    def names_us(self, hook: str) -> bool:
        """Whether somebody's own hook, or a manager's file, names ours already."""
        try:
            text = self.asked(hook).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return False
        return f"skillgit hook {hook}" in text or f"id: skillgit-{hook}" in text


def place_of(tree: Worktree) -> HookPlace:
    """Where the hooks of a repository stand.

    Raises: RepositoryError.
    """
    manager, file = _manager(tree)
    return HookPlace(
        tree=tree,
        common=_asked(tree, "--git-common-dir").resolve(),
        folder=_asked(tree, "--git-path", "hooks"),
        hooks_path=_scope_of_hooks_path(tree),
        manager=manager,
        manager_file=file,
        config_hooks=version(tree.git) >= CONFIG_HOOKS_SINCE,
    )


def _asked(tree: Worktree, *words: str) -> Path:
    found = tree.git.checked("rev-parse", "--path-format=absolute", *words)
    return Path(os.fsdecode(found.stdout).removesuffix("\n"))


def _scope_of_hooks_path(tree: Worktree) -> str | None:
    found = tree.ask("config", "--show-scope", "--get", "core.hooksPath")
    return found.partition("\t")[0] if found else None


def _manager(tree: Worktree) -> tuple[Manager | None, Path | None]:
    if tree.bare:
        return None, None
    hooks_path = tree.setting("core.hooksPath") or ""
    if (tree.root / ".husky").is_dir() or ".husky" in Path(hooks_path).parts:
        return Manager.HUSKY, None
    for manager, names in ((Manager.LEFTHOOK, _LEFTHOOK), (Manager.PRE_COMMIT, _PRE_COMMIT)):
        for name in names:
            if (tree.root / name).is_file():
                return manager, tree.root / name
    return None, None


_LEFTHOOK_LINES = """\
{hook}:
  commands:
    skillgit:
      run: {call}"""
_PRE_COMMIT_HEAD = """\
default_install_hook_types: [{types}]
repos:
  - repo: local
    hooks:"""
_PRE_COMMIT_HOOK = """\
      - id: skillgit-{hook}
        name: skillgit {hook}
        entry: sh -c 'command -v skillgit >/dev/null 2>&1 || exit 0; exec skillgit hook {hook}'
        language: system
        stages: [{hook}]
        pass_filenames: false
        always_run: true
        verbose: {aloud}"""


def call(hook: str) -> str:
    """One line of sh that calls a hook and blocks nothing where there is no skillgit."""
    stops = "" if hook == "post-merge" else " || exit 1"
    ours = f'skillgit hook {hook} "$@"{stops}'
    return f"if command -v skillgit >/dev/null 2>&1; then {ours}; fi"


def lines_for(place: HookPlace, hooks: tuple[str, ...] = HOOKS) -> list[tuple[str, str]]:
    """What to add by hand, for hooks that something else stands for.

    Shape: (file, lines), a pair a file.
    """
    if place.manager is Manager.PRE_COMMIT:
        entries = [
            _PRE_COMMIT_HOOK.format(hook=h, aloud=str(h != "pre-commit").lower()) for h in hooks
        ]
        head = _PRE_COMMIT_HEAD.format(types=", ".join(hooks))
        return [(str(place.asked(hooks[0])), "\n".join([head, *entries]))] if hooks else []
    if place.manager is Manager.LEFTHOOK:
        text = "\n".join(map(_lefthook, hooks))
        return [(str(place.asked(hooks[0])), text)] if hooks else []
    return [(str(place.asked(hook)), call(hook)) for hook in hooks]


def _lefthook(hook: str) -> str:
    ours = f"skillgit hook {hook}"
    if hook != "pre-commit":
        ours += " {0}"
    guarded = f"if command -v skillgit >/dev/null 2>&1; then {ours}; fi"
    text = _LEFTHOOK_LINES.format(hook=hook, call=guarded)
    return f"{text}\n      use_stdin: true" if hook == "pre-push" else text
