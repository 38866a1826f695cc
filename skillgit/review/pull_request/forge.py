"""Hosts of pull requests: what a remote's address tells, and `gh` or `glab` run as programs.

Credentials are those of the two programs; none is looked for or handed on here.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from urllib.parse import quote, urlsplit

from skillgit.records import Record

_PATIENCE = 120.0
_SCP_LIKE = re.compile(r"(?:[^@/:]+@)?(?P<host>[^@/:\[\]]+):(?P<path>(?!/?/).+)")
_ADDRESS = re.compile(r"https?://\S+")
_QUIET = {
    "GH_PROMPT_DISABLED": "1",
    "NO_PROMPT": "1",
    "NO_COLOR": "1",
    "GH_NO_UPDATE_NOTIFIER": "1",
}


class Kind(StrEnum):
    """Whose software a host runs, as far as its name tells."""

    GITHUB = "github"
    GITLAB = "gitlab"
    BITBUCKET = "bitbucket"
    GITEA = "gitea"
    UNKNOWN = "unknown"


_BY_NAME = {
    "github": Kind.GITHUB,
    "gitlab": Kind.GITLAB,
    "bitbucket": Kind.BITBUCKET,
    "gitea": Kind.GITEA,
    "forgejo": Kind.GITEA,
    "codeberg": Kind.GITEA,
}
_COMPARE = {
    Kind.GITHUB: "{at}/compare/{onto}...{branch}?expand=1",
    Kind.GITLAB: "{at}/-/merge_requests/new?merge_request%5Bsource_branch%5D={branch_all}"
    "&merge_request%5Btarget_branch%5D={onto_all}",
    Kind.BITBUCKET: "{at}/pull-requests/new?source={branch_all}&dest={onto_all}",
    Kind.GITEA: "{at}/compare/{onto}...{branch}",
}


class Host(Record):
    """A repository on a host: `path` is its name there, `owner/repository`."""

    kind: Kind
    name: str
    path: str

    def compare_address(self, onto: str, branch: str) -> str | None:
        """Where a person opens a pull request by hand; `None` where that is not known."""
        pattern = _COMPARE.get(self.kind)
        if pattern is None:
            return None
        return pattern.format(
            at=f"https://{self.name}/{quote(self.path)}",
            onto=quote(onto),
            branch=quote(branch),
            onto_all=quote(onto, safe=""),
            branch_all=quote(branch, safe=""),
        )


def read_host(url: str) -> Host | None:
    """The host that a remote's address names; `None` for a folder, or what is no address."""
    if "://" in url:
        try:
            parts = urlsplit(url)
            name, path = parts.hostname or "", parts.path
        except ValueError:
            return None
        if parts.scheme == "file":
            return None
    else:
        found = _SCP_LIKE.fullmatch(url)
        if found is None or url.startswith((".", "/")):
            return None
        name, path = found["host"], found["path"]
    path = path.strip("/").removesuffix(".git")
    if not name or "/" not in path:
        return None
    known = (kind for word, kind in _BY_NAME.items() if word in name.lower())
    return Host(kind=next(known, Kind.UNKNOWN), name=name.lower(), path=path)


class Opened(Record):
    """A pull request that is open: by which program, whether it was there before, its address."""

    program: str
    updated: bool
    address: str | None


class PullRequest(Record):
    """What is to be opened."""

    onto: str
    branch: str
    title: str
    body: str


@dataclass(frozen=True)
class PullRequestClient:
    """Opens pull requests with the programs that are on the path and signed in.

    `complaints` collects what a program said when it would not.
    """

    folder: Path
    environment: Mapping[str, str]
    complaints: list[str]

    def open_pull_request(
        self, host: Host | None, asked: PullRequest, *, again: bool
    ) -> Opened | None:
        """The pull request, opened or (`again`) brought up to date; `None` if nobody could."""
        for program in _programs(host):
            if not self._is_ready(program, host):
                continue
            create, update = _words(program, host, asked)
            if again and (done := self._run(program, update, asked.body)).returncode == 0:
                return Opened(program=program, updated=True, address=_address(done.stdout))
            done = self._run(program, create, asked.body)
            if done.returncode == 0:
                return Opened(program=program, updated=False, address=_address(done.stdout))
            said = (done.stderr.strip() or done.stdout.strip()).splitlines()
            self.complaints.append(f"{program}: {said[0] if said else done.returncode}")
        return None

    def _is_ready(self, program: str, host: Host | None) -> bool:
        """Whether a program is installed and signed in to the host."""
        if shutil.which(program, path=self.environment.get("PATH", "")) is None:
            return False
        which = [] if host is None else ["--hostname", host.name]
        return self._run(program, ["auth", "status", *which]).returncode == 0

    def _run(
        self, program: str, words: Sequence[str], stdin: str = ""
    ) -> subprocess.CompletedProcess[str]:
        found = shutil.which(program, path=self.environment.get("PATH", "")) or program
        try:
            return subprocess.run(
                [found, *words],
                cwd=self.folder,
                env={**self.environment, **_QUIET},
                input=stdin,
                capture_output=True,
                text=True,
                encoding="utf-8",
                errors="replace",
                timeout=_PATIENCE,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return _failed(f"no answer in {_PATIENCE:.0f} s")
        except OSError as error:
            return _failed(str(error))


def _failed(said: str) -> subprocess.CompletedProcess[str]:
    return subprocess.CompletedProcess([], 1, "", said)


def _programs(host: Host | None) -> tuple[str, ...]:
    """The programs that may know a host, the likelier one first."""
    match host.kind if host else Kind.UNKNOWN:
        case Kind.GITHUB:
            return ("gh",)
        case Kind.GITLAB:
            return ("glab",)
        case Kind.UNKNOWN:
            return ("gh", "glab")
        case _:
            return ()


def _words(program: str, host: Host | None, asked: PullRequest) -> tuple[list[str], list[str]]:
    """What a program is told: to open a pull request, and to bring one up to date."""
    if program == "gh":
        where = [] if host is None else ["--repo", f"{host.name}/{host.path}"]
        text = ["--title", asked.title, "--body-file", "-"]
        return (
            ["pr", "create", *where, "--base", asked.onto, "--head", asked.branch, *text],
            ["pr", "edit", asked.branch, *where, *text],
        )
    where = [] if host is None else ["--repo", f"https://{host.name}/{host.path}"]
    text = ["--title", asked.title, "--description", asked.body]
    ends = ["--source-branch", asked.branch, "--target-branch", asked.onto]
    return (
        ["mr", "create", *where, *ends, *text, "--yes"],
        ["mr", "update", asked.branch, *where, *text],
    )


def _address(said: str) -> str | None:
    """The last address in what a program printed."""
    found = _ADDRESS.findall(said)
    return found[-1] if found else None
