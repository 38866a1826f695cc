"""What the shell completes: a parameter's metavar says which names it takes.

It runs at every press of the tab key, so names come from git's list of refs, and nothing that
trains is imported. What goes wrong completes nothing: a prompt is no place for an error.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
)
from click.types import StringParamType
from typing_extensions import override

from skillgit.cli.app.invocation import Invocation
from skillgit.errors import SkillgitError

PROGRAM = "skillgit"
VARIABLE = "_SKILLGIT_COMPLETE"

_PATIENCE = 2.0  # Unit: seconds.
_RUN = re.compile(r"refs/(?:heads|remotes/.+?)/skillopt/(?:run/)?([a-z]{1,20}-[1-9][0-9]{0,8})")
_BEST = re.compile(r"refs/tags/skillopt/(?:([a-z0-9-]+)/)?best")
_STEP = re.compile(r"^Skillopt-Step: ([0-9]+)\nSkillopt-Action: (\S+)$", re.MULTILINE)
_MAX_STEPS = 400
_MAX_CHARS = 4_000_000
_TASK = re.compile(r'"(?:id|task_id)"\s*:\s*"((?:[^"\\]|\\.)*)"')
_PATH = re.compile(r"""^\s*(?:path|tasks)\s*=\s*["']([^"'\\]+)["']""", re.MULTILINE)
_TABLE = re.compile(r"""^\s*name\s*=\s*["']([^"'\\]+)["']""", re.MULTILINE)


class Names:
    """The names that one repository has."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def refs(self, *patterns: str) -> list[str]:
        """The full names of refs."""
        return self._git("for-each-ref", "--format=%(refname)", *patterns).split()

    def runs(self) -> list[str]:
        """The runs and nights, here and on remotes, the highest number first."""
        found = {m[1] for ref in self._ours() if (m := _RUN.fullmatch(ref))}
        return sorted(found, key=lambda n: (n.partition("-")[0], -int(n.rpartition("-")[2])))

    def best(self) -> list[str]:
        """The tags on the best versions, as they are typed."""
        tags = (_BEST.fullmatch(ref) for ref in self.refs("refs/tags/skillopt"))
        return ["best" if m[1] is None else f"skillopt/{m[1]}/best" for m in tags if m]

    def branches(self) -> list[str]:
        """The branches here that a person made."""
        heads = (ref.removeprefix("refs/heads/") for ref in self.refs("refs/heads"))
        return [name for name in heads if not name.startswith("skillopt/")]

    def versions(self, incomplete: str) -> list[str]:
        """Runs, best and branches; after `train-1@`, the moments of that run."""
        run, at, _ = incomplete.partition("@")
        if at:
            return [f"{run}@{moment}" for moment in self._moments(run)]
        return [*self.runs(), *self.best(), *self.branches()]

    def skills(self) -> list[str]:
        """The skills that skillgit.toml gives a name, or the folders they are in."""
        text = self._config()
        folders = [Path(path).parent.name for path in _PATH.findall(text) if path.endswith(".md")]
        return list(dict.fromkeys([*_TABLE.findall(text), *filter(None, folders)]))

    def tasks(self) -> list[str]:
        """The ids in the task files that skillgit.toml names."""
        root = self._root()
        files = [root / path for path in _PATH.findall(self._config()) if not path.endswith(".md")]
        inside = [f for x in files for f in ([x] if x.is_file() else sorted(x.rglob("*.json*")))]
        return list(dict.fromkeys(task for file in inside for task in _TASK.findall(_text(file))))

    def remotes(self) -> list[str]:
        """The remotes."""
        return self._git("remote").split()

    def _ours(self) -> list[str]:
        return self.refs("refs/heads/skillopt", "refs/remotes/**/skillopt/**")

    def _moments(self, run: str) -> Iterator[str]:
        yield "best"
        tips = [ref for ref in self._ours() if ref.endswith(f"/skillopt/run/{run}")]
        if not tips:
            return
        messages = self._git(
            "log", f"-{_MAX_STEPS}", "--first-parent", "--format=%B", tips[0], "--"
        )
        epoch = 0
        for step, action in reversed(_STEP.findall(messages)):
            epoch += action == "epoch"
            if action == "epoch":
                yield f"e{epoch}"
            elif action not in ("revert", "end"):
                yield step
                yield f"{step}+"

    def _config(self) -> str:
        return _text(self._root() / "skillgit.toml")

    def _root(self) -> Path:
        return Path(self._git("rev-parse", "--show-toplevel").strip() or self._directory)

    def _git(self, *words: str) -> str:
        try:
            done = subprocess.run(
                ["git", *words],
                cwd=self._directory,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=_PATIENCE,
                check=False,
            )
        except (OSError, subprocess.SubprocessError):
            return ""
        return done.stdout if done.returncode == 0 else ""


def _text(file: Path) -> str:
    try:
        with file.open(encoding="utf-8", errors="replace") as text:
            return text.read(_MAX_CHARS)
    except OSError:
        return ""


_Lookup = Callable[[Names, str], list[str]]
_BY_METAVAR: dict[str, _Lookup] = {
    "REV": lambda names, incomplete: names.versions(incomplete),
    "RUN": lambda names, _: [*names.runs(), *names.best()],
    "BRANCH": lambda names, _: names.branches(),
    "REMOTE": lambda names, _: names.remotes(),
    "TASK": lambda names, _: names.tasks(),
    "IDS": lambda names, incomplete: _listed(names.tasks(), incomplete),
}
_BY_NAME: dict[str | None, _Lookup] = {
    "skill": lambda names, _: names.skills(),
    "only": lambda names, _: names.skills(),
    "remote": lambda names, _: names.remotes(),
}


def _listed(names: list[str], incomplete: str) -> list[str]:
    """The names as they stand after those that a list with commas has already."""
    before, comma, _ = incomplete.rpartition(",")
    taken = before.split(",")
    return [f"{before}{comma}{name}" for name in names if name not in taken]


class Named(StringParamType):
    """A text that the shell completes with names of the repository."""

    def __init__(self, lookup: _Lookup) -> None:
        self._lookup = lookup

    @override
    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The names that begin as what has been typed."""
        invocation = ctx.find_object(Invocation)
        names = Names(invocation.directory if invocation else Path.cwd())
        found = self._lookup(names, incomplete)
        return [CompletionItem(name) for name in found if name.startswith(incomplete)]


def complete_names(command: click.Command) -> None:
    """Let the shell complete those parameters of a command that take names."""
    for parameter in command.params:
        lookup = _lookup_of(parameter)
        if lookup is not None and parameter.type is click.STRING:
            parameter.type = Named(lookup)


def _lookup_of(parameter: click.Parameter) -> _Lookup | None:
    metavar = (parameter.metavar or "").removesuffix("...").strip("[]")
    if metavar == "NAME":
        return _BY_NAME.get(parameter.name)
    return _BY_METAVAR.get(metavar)


class Bash(BashComplete):
    """Bash, with words taken from the line as typed: bash itself would cut `train-1@2` in three."""

    source_template = """\
%(complete_func)s_answer() {
    local line=$1 current kind value
    local -a words
    read -r -a words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    current=${words[${#words[@]}-1]}
    local cut=${current%%"${current##*[@:=]}"}
    COMPREPLY=()
    while IFS=, read -r kind value; do
        [[ $kind == plain ]] && COMPREPLY+=("${value#"$cut"}")
    done < <(COMP_WORDS="$line" COMP_CWORD=$((${#words[@]} - 1)) \
        %(complete_var)s=bash_complete %(prog_name)s 2>/dev/null)
}

%(complete_func)s() {
    %(complete_func)s_answer "${COMP_LINE:0:COMP_POINT}"
}

_git_%(prog_name)s() {
    local line=${COMP_LINE:0:COMP_POINT}
    %(complete_func)s_answer "%(prog_name)s${line#*[[:space:]]%(prog_name)s}"
}

complete -o bashdefault -o default -F %(complete_func)s %(prog_name)s
"""

    @override
    def source(self) -> str:
        """The script; every bash can read it."""
        return self.source_template % self.source_vars()


class Zsh(ZshComplete):
    """Zsh, for `git skillgit` as well."""

    @override
    def source(self) -> str:
        """The script."""
        same = f"function _git-{PROGRAM} {{ {self.func_name} }}\n"
        return super().source() + same


KINDS: dict[str, type[ShellComplete]] = {"bash": Bash, "zsh": Zsh, "fish": FishComplete}


def completion_script(shell: str) -> str:
    """The script that a shell has to read once to complete our words."""
    return KINDS[shell](click.Command(PROGRAM), {}, PROGRAM, VARIABLE).source()


def answer(root: click.Command, invocation: Invocation, asked: str) -> int:
    """Print what a shell asks for at a press of the tab key; the exit code."""
    shell, _, what = asked.partition("_")
    kind = KINDS.get(shell)
    if kind is None or what != "complete":
        return 1
    try:
        print(kind(root, {"obj": invocation}, PROGRAM, VARIABLE).complete())
    except (SkillgitError, click.ClickException, ValueError, KeyError):
        return 1
    return 0
