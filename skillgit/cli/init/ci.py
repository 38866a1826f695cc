"""The workflow that `init --ci` writes: it runs `skillgit verify` on pull requests."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence
from pathlib import Path

from skillgit import __version__
from skillgit.cli.app.worktree import Worktree
from skillgit.config import CONFIG_FILE, Config
from skillgit.errors import ConfigError, RepositoryError

GITHUB = "github"
WORKFLOW = ".github/workflows/skillgit.yml"

# Dollars and braces are the workflow's own: only the words in double angle brackets are filled in.
_GITHUB = """\
# Runs `skillgit verify` on pull requests that touch a skill, its tasks, or how it is measured.
#
# It is the base branch's own copy of this file that runs (pull_request_target), so a pull request
# cannot change what checks it. That is safe because nothing of the pull request is checked out or
# run: its commits are fetched as objects and read. Keep it so: no checkout of the head, no secrets.
name: skillgit

on:
  pull_request_target:
    branches: [<<onto>>]
    paths:
<<paths>>

permissions:
  contents: read

jobs:
  verify:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4 # the base branch
        with:
          fetch-depth: 0
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - run: pip install skillgit==<<version>>
      - name: Fetch the proposal's commits and the notes with the scores
        env:
          NUMBER: ${{ github.event.pull_request.number }}
        run: |
          git fetch --no-tags origin \\
            "+refs/pull/$NUMBER/head:refs/remotes/origin/proposal" \\
            "+refs/notes/skill*opt:refs/notes/remotes/origin/skill*opt"
      - name: Verify
        env:
          BASE: ${{ github.event.pull_request.base.sha }}
          BODY: ${{ github.event.pull_request.body }}
        run: |
          printf '%s' "$BODY" > "$RUNNER_TEMP/body.md"
          skillgit verify "$BASE...refs/remotes/origin/proposal" \\
            --body "$RUNNER_TEMP/body.md" --summary "$GITHUB_STEP_SUMMARY"
"""


def github_workflow(configs: Sequence[Config]) -> str:
    """The workflow's text for the skills of a repository."""
    lines = "\n".join(f"      - {_quoted(pattern)}" for pattern in _patterns(configs))
    filled = {"onto": _quoted(configs[0].repo.onto), "paths": lines, "version": __version__}
    text = _GITHUB
    for word, value in filled.items():
        text = text.replace(f"<<{word}>>", value)
    return text


def write_workflow(tree: Worktree, configs: Sequence[Config]) -> Path:
    """Write the workflow where GitHub looks for it; where it is.

    Raises: ConfigError when a file is there: nothing is overwritten.
    """
    file = tree.root / WORKFLOW
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8", newline="\n") as workflow:
            workflow.write(github_workflow(configs))
    except FileExistsError as error:
        raise ConfigError(
            f"{WORKFLOW} is already there, and init overwrites nothing",
            hint="Move it away first, or add the steps that docs/how-to/review-in-ci.md shows.",
        ) from error
    except OSError as error:
        raise RepositoryError(f"cannot write {file}: {error.strerror}") from error
    return file


def _patterns(configs: Iterable[Config]) -> list[str]:
    """The paths whose change asks for a verification."""
    found = [CONFIG_FILE, ".skillgit/**"]
    for config in configs:
        folder = posixpath.dirname(config.skill.path)
        found.append(f"{folder}/**" if folder else config.skill.path)
        found += [] if folder else config.skill.files
        tasks = config.tasks.path.rstrip("/")
        found.append(tasks if "." in posixpath.basename(tasks) else f"{tasks}/**")
    return list(dict.fromkeys(found))


def _quoted(text: str) -> str:
    """A YAML scalar in single quotes."""
    return "'" + text.replace("'", "''") + "'"
