"""The lines by which somebody's own hook, or a manager of hooks, calls ours."""

from __future__ import annotations

from skillgit.cli.hooks.place import Manager, Place
from skillgit.cli.hooks.scripts import HOOKS

_LEFTHOOK = """\
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


def lines_for(place: Place, hooks: tuple[str, ...] = HOOKS) -> list[tuple[str, str]]:
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
    text = _LEFTHOOK.format(hook=hook, call=guarded)
    return f"{text}\n      use_stdin: true" if hook == "pre-push" else text
