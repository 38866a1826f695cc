"""Remotes: which one is meant, what goes to and comes from it, and the included git config file.

What is private is decided here, by name: nights and the state between them go nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

import pygit2

from skillgit.errors import UserError
from skillgit.history.run_names import NIGHT
from skillgit.records import Record
from skillgit.store.git.git_cli import GitCli, GitResult
from skillgit.store.git.names import HEADS, NIGHT_NOTES, NOTES, PROPOSALS, REMOTE_NOTES, RUNS, SLEEP

NETWORK_TIMEOUT = 600.0
INCLUDED = "skillgit/sharing.gitconfig"
REMOVE_INCLUDE = ("config", "--local", "--unset-all", "include.path", f"^{INCLUDED}$")

_PRIVATE = (
    "refs/skillopt/",
    f"{NOTES}-",
    f"{RUNS}{NIGHT}-",
    f"{PROPOSALS}{NIGHT}-",
)
_QUIET = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-gc")
_ONE_REF = re.compile(r"([0-9a-f]{40,64})\t(\S+)")


def is_private(ref: str) -> bool:
    """Whether a ref speaks of a person's own sessions, so that it must never leave by itself."""
    return ref.startswith(_PRIVATE)


def remote_notes(remote: str, ref: str = NOTES) -> str:
    """Where the notes of a remote are kept here, beside our own."""
    return f"{REMOTE_NOTES}{remote}/{ref.removeprefix('refs/notes/')}"


def remote_branch(remote: str, ref: str) -> str:
    """Where a branch of a remote is kept here."""
    return f"refs/remotes/{remote}/{ref.removeprefix(HEADS)}"


def refspecs(remote: str) -> tuple[str, ...]:
    """What is fetched from a remote: its notes and its runs, and nothing of nights.

    The star in the notes' name stands for nothing: git fails on a plain name that the remote
    does not have, and passes over a pattern.
    """
    pattern = NOTES.replace("skillopt", "skill*opt")
    return (
        f"+{pattern}:{remote_notes(remote, pattern)}",
        f"+{RUNS}*:{remote_branch(remote, RUNS)}*",
        f"^{RUNS}{NIGHT}-*",
    )


class Remotes:
    """The remotes of a repository, spoken to through the git command line."""

    def __init__(self, cli: GitCli) -> None:
        self._cli = cli

    def names(self) -> list[str]:
        """The remotes that have an address, in git's order."""
        named = self._cli.checked("remote").text.split("\n")
        return [name for name in named if name and self._setting(name, "url")]

    def choose(self, asked: str | None, *, onto: str) -> str:
        """The remote that is meant: the one asked for, the branch's own, `origin`, the only one.

        Raises: UserError when there is none, or no telling which.
        """
        names = self.names()
        if asked is not None:
            if asked in names:
                return asked
            raise UserError(
                f"there is no remote {asked!r}",
                hint=f"There are: {', '.join(names)}" if names else "git remote add origin URL",
            )
        own = self._cli.run("config", "--get", f"branch.{onto}.remote").text
        only = names if len(names) == 1 else []
        for name in (own, "origin", *only):
            if name in names:
                return name
        if not names:
            raise UserError("this repository has no remote", hint="git remote add origin URL")
        raise UserError(
            "there are several remotes, and none is called origin",
            hint=f"Name one of {', '.join(names)}.",
        )

    def fetching(self) -> list[str]:
        """Those that a plain `git fetch` fetches something from already."""
        own = ("--local", "--no-includes")
        return [name for name in self.names() if self._setting(name, "fetch", *own)]

    def _setting(self, remote: str, key: str, *options: str) -> str:
        return self._cli.run("config", *options, "--get-all", f"remote.{remote}.{key}").text

    def url(self, remote: str) -> str:
        """A remote's address as git would push to it."""
        return self._cli.checked("remote", "get-url", "--push", remote).text

    def listed(self, remote: str, *patterns: str) -> dict[str, str]:
        """The refs that a remote has right now, by name, of those that fit a pattern.

        Raises: UserError with git's own words when it cannot be reached.
        """
        result = self._cli.run("ls-remote", "--", remote, *patterns, timeout=NETWORK_TIMEOUT)
        if not result.ok:
            raise unreachable(remote, result)
        pairs = (_ONE_REF.fullmatch(line) for line in result.text.split("\n"))
        return {found[2]: found[1] for found in pairs if found}

    def lacks(self, commit: str, there: Mapping[str, str]) -> int:
        """How many commits up to this one no branch of a remote has, of those `there`."""
        heads = [f"^{target}" for ref, target in there.items() if ref.startswith(HEADS)]
        words = "\n".join((commit, *heads, "")).encode()
        asked = ("rev-list", "--ignore-missing", "--count", "--stdin")
        return int(self._cli.checked(*asked, stdin=words).text or 0)

    def fetch(self, remote: str, *specs: str) -> None:
        """Fetch by explicit refspecs alone.

        Raises: UserError with git's own words.
        """
        self._fetch(remote, "--", remote, *specs)

    def complete(self, remote: str, ref: str) -> None:
        """In a partial clone, fetch the files of a commit that are not here.

        A push looks at what the remote has, which brings its commits without their files; then
        no fetch asks for these any more.
        Raises: UserError with git's own words.
        """
        if self._setting(remote, "promisor") != "true":
            return
        listed = self._cli.run("rev-list", "--objects", "--missing=print", "--max-count=1", ref)
        missing = [line[1:] for line in listed.text.split("\n") if line.startswith("?")]
        if missing:
            self._fetch(remote, "--stdin", "--", remote, stdin="\n".join((*missing, "")).encode())

    def _fetch(self, remote: str, *words: str, stdin: bytes = b"") -> None:
        result = self._cli.run(
            *("-c", "fetch.prune=false", "fetch", *_QUIET, "--no-recurse-submodules"),
            *("--no-filter", *words),
            stdin=stdin,
            timeout=NETWORK_TIMEOUT,
        )
        if not result.ok:
            raise unreachable(remote, result)

    def push(self, remote: str, *specs: str, lease: str | None = None) -> GitResult:
        """Push by explicit refspecs; over what is there only with a lease, `<ref>:<expected>`."""
        for spec in specs:
            if spec.startswith("+"):
                raise ValueError(f"a push that forces: {spec}")
        leases = [] if lease is None else [f"--force-with-lease={lease}"]
        return self._cli.run(
            *("-c", "push.followTags=false", "push", "--quiet", "--recurse-submodules=no"),
            *(*leases, "--", remote, *specs),
            timeout=NETWORK_TIMEOUT,
        )


def unreachable(remote: str, result: GitResult) -> UserError:
    """The error for a remote that does not do what it was asked, in git's own words."""
    return UserError(
        f"{remote} does not answer as it should: {result.words}",
        hint=f"git ls-remote {remote} shows whether git itself can reach it.",
    )


# ── the included file ────────────────────────────────────────────────────────────────────────


def included_text(remotes: list[str]) -> str:
    """The git config file that has a plain `git fetch` bring notes and runs along."""
    lines = [
        "# Written by skillgit, included by the config file beside this folder. To be rid of it:",
        f"#   git {' '.join(REMOVE_INCLUDE)}",
        "# It only adds to what `git fetch` brings; nothing here is ever pushed.",
    ]
    for remote in remotes:
        lines.append(f"[remote {_quoted(remote)}]")
        lines += [f"\tfetch = {_quoted(spec)}" for spec in refspecs(remote)]
    return "\n".join(lines) + "\n"


def include(cli: GitCli, common: Path) -> Path:
    """Write the file for the remotes there are, and have the repository's config include it."""
    file = write_included(cli, common)
    if not is_included(cli):
        cli.checked("config", "--local", "--add", "include.path", INCLUDED)
    return file


def is_included(cli: GitCli) -> bool:
    """Whether the repository's config includes the file."""
    return INCLUDED in cli.run("config", "--local", "--get-all", "include.path").text.split("\n")


def write_included(cli: GitCli, common: Path) -> Path:
    """Write the file anew for the remotes there are by now."""
    file = common / INCLUDED
    file.parent.mkdir(mode=0o700, exist_ok=True)
    file.write_text(included_text(Remotes(cli).fetching()), encoding="utf-8")
    return file


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


# ── Remotes that a plain `git push` would send private refs to: those that speak of sessions.

_EXAMPLES = (NIGHT_NOTES, SLEEP, f"{RUNS}{NIGHT}-1", f"{PROPOSALS}{NIGHT}-1")
"""One of each kind of private ref, to try a setting with."""


class PrivatePush(Record):
    """A remote's setting that sends private refs, and those that are there to be sent."""

    remote: str
    setting: str
    refs: tuple[str, ...]


def leaks(git: pygit2.Repository) -> list[PrivatePush]:
    """The settings of remotes by which a push takes private refs along."""
    there = [ref for ref in git.references if is_private(ref)]
    found = []
    for remote, setting, sent in _settings(git):
        if any(sent(example) for example in _EXAMPLES):
            refs = tuple(sorted(ref for ref in there if sent(ref)))
            found.append(PrivatePush(remote=remote, setting=setting, refs=refs))
    return found


class _Sent:
    """What one refspec of a remote sends."""

    def __init__(self, source: str) -> None:
        self._glob = source if source.startswith("refs/") else HEADS + source

    def __call__(self, ref: str) -> bool:
        return fnmatchcase(ref, self._glob)


def _settings(git: pygit2.Repository) -> Iterator[tuple[str, str, _Sent]]:
    for entry in git.config:
        section, _, key = entry.name.rpartition(".")
        if not section.startswith("remote."):
            continue
        remote, value = section.removeprefix("remote."), entry.value or ""
        if key == "mirror" and value.lower() in ("", "true", "yes", "on", "1"):
            yield remote, "mirror = true", _Sent("refs/*")
        elif key == "push" and not value.startswith("^"):
            yield remote, f"push = {value}", _Sent(value.lstrip("+").partition(":")[0])
