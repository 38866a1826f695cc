from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from skillgit.review.pull_request.forge import Host, Kind, PullRequest, PullRequestClient, read_host

ASKED = PullRequest(onto="main", branch="skillopt/train-1", title="A title", body="A body\n")
SOURCE, TARGET = (f"merge_request%5B{side}_branch%5D" for side in ("source", "target"))
GITHUB = Host(kind=Kind.GITHUB, name="github.com", path="org/skills")


@pytest.mark.parametrize(
    ("url", "kind", "name", "path"),
    [
        ("https://github.com/org/skills.git", Kind.GITHUB, "github.com", "org/skills"),
        ("https://user:pass@github.com/org/skills", Kind.GITHUB, "github.com", "org/skills"),
        ("git@github.com:org/skills.git", Kind.GITHUB, "github.com", "org/skills"),
        ("ssh://git@github.corp.example:22/org/skills/", Kind.GITHUB, "github.corp.example", None),
        ("git@gitlab.com:group/sub/skills.git", Kind.GITLAB, "gitlab.com", "group/sub/skills"),
        ("https://codeberg.org/me/skills", Kind.GITEA, "codeberg.org", "me/skills"),
        ("https://bitbucket.org/me/skills", Kind.BITBUCKET, "bitbucket.org", "me/skills"),
        ("https://git.corp.example/me/skills", Kind.UNKNOWN, "git.corp.example", "me/skills"),
    ],
)
def test_an_address_names_its_host(url: str, kind: Kind, name: str, path: str | None) -> None:
    host = read_host(url)
    assert host is not None
    assert (host.kind, host.name, host.path) == (kind, name, path or "org/skills")


@pytest.mark.parametrize(
    "url", ["../remote.git", "/srv/git/skills.git", "file:///srv/git/skills.git", "C", "https://x"]
)
def test_a_folder_is_no_host(url: str) -> None:
    assert read_host(url) is None


@pytest.mark.parametrize(
    ("kind", "address"),
    [
        (Kind.GITHUB, "https://h/o/r/compare/main...skillopt/night-7?expand=1"),
        (Kind.GITEA, "https://h/o/r/compare/main...skillopt/night-7"),
        (Kind.BITBUCKET, "https://h/o/r/pull-requests/new?source=skillopt%2Fnight-7&dest=main"),
        (
            Kind.GITLAB,
            f"https://h/o/r/-/merge_requests/new?{SOURCE}=skillopt%2Fnight-7&{TARGET}=main",
        ),
        (Kind.UNKNOWN, None),
    ],
)
def test_the_address_to_open_it_by_hand(kind: Kind, address: str | None) -> None:
    host = Host(kind=kind, name="h", path="o/r")
    assert host.compare_address("main", "skillopt/night-7") == address


# ── gh and glab, as programs that write down what they are asked ─────────────────────────────

PROGRAM = """#!{python}
import json, sys
words = sys.argv[1:]
with open({log!r}, "a") as log:
    print(json.dumps({{"words": words, "stdin": sys.stdin.read()}}), file=log)
if words[:2] == ["auth", "status"]:
    sys.exit({auth})
if words[1] in {fails!r}:
    print("no such pull request", file=sys.stderr)
    sys.exit(1)
print("https://host.example/org/skills/pull/12")
"""


class Desk:
    """A folder of programs on the path, and what they were asked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "log.jsonl"

    def install(self, name: str, auth: int = 0, fails: tuple[str, ...] = ()) -> None:
        import sys

        program = self.folder / name
        text = PROGRAM.format(python=sys.executable, log=str(self.log), auth=auth, fails=fails)
        program.write_text(text)
        program.chmod(program.stat().st_mode | stat.S_IXUSR)

    @property
    def asked(self) -> list[dict]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def client(self) -> PullRequestClient:
        return PullRequestClient(self.folder, {**os.environ, "PATH": str(self.folder)}, [])


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_gh_opens_the_pull_request_and_reads_its_body_from_stdin(desk: Desk) -> None:
    desk.install("gh")
    opened = desk.client().open_pull_request(GITHUB, ASKED, again=False)
    assert opened is not None
    assert (opened.program, opened.updated) == ("gh", False)
    assert opened.address == "https://host.example/org/skills/pull/12"
    signed_in, created = desk.asked
    assert signed_in["words"] == ["auth", "status", "--hostname", "github.com"]
    repo = ["--repo", "github.com/org/skills"]
    ends = ["--base", "main", "--head", "skillopt/train-1"]
    text = ["--title", "A title", "--body-file", "-"]
    assert created == {"words": ["pr", "create", *repo, *ends, *text], "stdin": "A body\n"}


def test_proposing_again_edits_the_one_that_is_open(desk: Desk) -> None:
    desk.install("gh")
    opened = desk.client().open_pull_request(GITHUB, ASKED, again=True)
    assert opened is not None
    assert opened.updated
    assert desk.asked[-1]["words"][:3] == ["pr", "edit", "skillopt/train-1"]


def test_where_none_is_open_a_new_one_is(desk: Desk) -> None:
    desk.install("gh", fails=("edit",))
    opened = desk.client().open_pull_request(GITHUB, ASKED, again=True)
    assert opened is not None
    assert not opened.updated


def test_glab_opens_merge_requests(desk: Desk) -> None:
    desk.install("glab")
    host = Host(kind=Kind.GITLAB, name="gitlab.com", path="org/skills")
    opened = desk.client().open_pull_request(host, ASKED, again=False)
    assert opened is not None
    words = desk.asked[-1]["words"]
    assert words[:2] == ["mr", "create"]
    assert words[words.index("--description") + 1] == "A body\n"
    assert "--yes" in words


def test_a_program_that_is_not_signed_in_is_left_alone(desk: Desk) -> None:
    desk.install("gh", auth=1)
    assert desk.client().open_pull_request(GITHUB, ASKED, again=False) is None
    assert len(desk.asked) == 1


def test_what_a_program_says_when_it_would_not_is_kept(desk: Desk) -> None:
    desk.install("gh", fails=("create",))
    client = desk.client()
    assert client.open_pull_request(GITHUB, ASKED, again=False) is None
    assert client.complaints == ["gh: no such pull request"]


def test_without_either_nothing_is_run(desk: Desk) -> None:
    assert desk.client().open_pull_request(GITHUB, ASKED, again=False) is None


def test_a_host_of_unknown_kind_is_tried_with_both(desk: Desk) -> None:
    desk.install("glab")
    opened = desk.client().open_pull_request(None, ASKED, again=False)
    assert opened is not None
    assert opened.program == "glab"
