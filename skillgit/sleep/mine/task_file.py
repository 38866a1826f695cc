"""The file of mined tasks: JSON Lines that a person reads, edits and marks `reviewed`.

What a person has edited or marked is never written over; a task's split is kept.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

from pydantic import JsonValue

from skillgit.errors import TaskError
from skillgit.records import Split
from skillgit.sleep.mine.mined import MinedTask
from skillgit.sleep.mine.placing import PlacedTask, Placement, place

Row = Mapping[str, JsonValue]


class Updated(NamedTuple):
    """The file's new text, with how many tasks were there, came, and were dropped or left out."""

    text: str
    tasks: int
    new: tuple[tuple[MinedTask, Split], ...]
    dropped: tuple[MinedTask, ...]
    over_limit: int


def update(
    text: str,
    mined: Sequence[MinedTask],
    *,
    ratio: tuple[float, float, float],
    max_tasks: int,
) -> Updated:
    """The file with what was mined added to it, at most `max_tasks` tasks in all.

    Lines that are there stay as they are; a task that is there already, by its id, is not added
    again.
    Raises: TaskError naming the line that is no task.
    """
    lines = [line for line in text.split("\n") if line.strip()]
    rows = [_row(number, line) for number, line in enumerate(lines, start=1)]
    known = {row.get("id") for row in rows}
    fresh = [task for task in mined if task.id not in known]
    room = max(0, max_tasks - len(rows))
    placed: Placement = place(fresh, [s for s in map(_placed_task, rows) if s is not None], ratio)
    kept = placed.tasks[:room]
    lines += [json.dumps(_as_row(task, split), ensure_ascii=False) for task, split in kept]
    return Updated(
        text="".join(f"{line}\n" for line in lines),
        tasks=len(rows) + len(kept),
        new=tuple(kept),
        dropped=tuple(placed.dropped),
        over_limit=len(placed.tasks) - len(kept),
    )


def _as_row(task: MinedTask, split: Split) -> dict[str, JsonValue]:
    evidence: list[JsonValue] = [
        item.model_dump(mode="json", exclude_none=True) for item in task.evidence
    ]
    return {
        "id": task.id,
        "prompt": task.prompt,
        "judge": {"kind": task.judge.kind, **task.judge.settings},
        "split": split.value,
        "tags": list(task.tags),
        "origin": "real",
        "reviewed": False,
        "lineages": list(task.lineages),
        "evidence": evidence,
    }


def _row(number: int, line: str) -> Row:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise TaskError(
            f"line {number} of the tasks file is no task",
            hint="Mend or delete the line, or name another file with -o.",
        )
    return cast("Row", value)


def _placed_task(row: Row) -> PlacedTask | None:
    prompt, split = row.get("prompt"), row.get("split")
    lineages = row.get("lineages")
    names = tuple(n for n in lineages if isinstance(n, str)) if isinstance(lineages, list) else ()
    if not isinstance(prompt, str) or split not in [s.value for s in Split]:
        return None
    return PlacedTask(prompt, names, Split(str(split)))
