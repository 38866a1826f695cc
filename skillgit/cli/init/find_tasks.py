"""Finding the task file that a person most likely means, or saying what one looks like."""

from __future__ import annotations

import json
from pathlib import PurePosixPath

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.app.worktree import Worktree
from skillgit.errors import TaskError
from skillgit.tasks.fields import NAMES

EXAMPLE = (
    '{"task_id": "t1", "task": "Write a brief on tidal power.", "judge": '
    '{"kind": "rule", "checks": [{"op": "contains", "arg": "## Key Risks"}]}}'
)
_LONGEST_LINE = 65_536


def find_task_file(tree: Worktree, skill: str, name: str, invocation: Invocation) -> str:
    """The one file of tasks that stands nearest to the skill or carries its name.

    Raises: TaskError when there is none, or several that are as near.
    """
    listed = tree.ask("ls-files", "-z", "--cached", "--others", "--exclude-standard") or ""
    found = [file for file in listed.split("\0") if _holds_tasks(tree, file)]
    nearest = [f for f in found if _nearness(f, skill, name) == _best(found, skill, name)]
    if len(nearest) == 1:
        return nearest[0]
    own = invocation.seen(tree.root / skill)
    init = ("init", own, "--tasks")
    if nearest:
        raise TaskError(
            f"there are several task files: {', '.join(sorted(nearest))}",
            hint="\n".join(
                invocation.typed(*init, invocation.seen(tree.root / file))
                for file in sorted(nearest)
            ),
        )
    wanted = f"tasks/{name}.jsonl"
    raise TaskError(
        "there is no task file, and training needs tasks to learn from and measure on",
        hint=f"Write {wanted}, at least 10 tasks, one a line, such as\n{EXAMPLE}\n"
        f"Then: {invocation.typed(*init, invocation.seen(tree.root / wanted))}\n"
        f"No tasks? {invocation.typed('init', own, '--nights')} has nights make them of your "
        "agent sessions.",
    )


def _best(files: list[str], skill: str, name: str) -> tuple[bool, int]:
    return max((_nearness(file, skill, name) for file in files), default=(False, 0))


def _nearness(file: str, skill: str, name: str) -> tuple[bool, int]:
    here, there = PurePosixPath(skill).parent.parts, PurePosixPath(file).parent.parts
    shared = 0
    for mine, other in zip(here, there, strict=False):
        if mine != other:
            break
        shared += 1
    return name in file.lower().replace("_", "-"), shared


def _holds_tasks(tree: Worktree, file: str) -> bool:
    if file.endswith("evals/evals.json"):
        return True
    if not file.endswith(".jsonl"):
        return False
    try:
        with (tree.root / file).open("rb") as handle:
            first = handle.readline(_LONGEST_LINE).decode("utf-8-sig")
        row = json.loads(first)
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(row, dict) and any(isinstance(row.get(key), str) for key in NAMES["prompt"])
