"""Recall: the past train tasks that are most like tonight's. Pure; val and test never come back."""

from __future__ import annotations

import re
from collections.abc import Sequence

from skillgit.records import Split, Task
from skillgit.tasks.near_duplicates import clusters

_WORD = re.compile(r"\w{2,}")


def recall(tonight: Sequence[Task], archive: Sequence[Task], k: int) -> list[Task]:
    """For each of tonight's train tasks the `k` most similar train tasks of the archive.

    A near-duplicate of a val or test task, tonight's or the archive's, is left out.
    Shape: each task once, in the archive's order.
    """
    if k <= 0:
        return []
    ids = {task.id for task in tonight}
    past = [t for t in archive if t.split is Split.TRAIN and t.id not in ids]
    held_out = [t for t in (*tonight, *archive) if t.split is not Split.TRAIN]
    past = apart_from(past, held_out)
    chosen: set[str] = set()
    for task in tonight:
        if task.split is Split.TRAIN:
            ranked = sorted(past, key=lambda other: (-similarity(task, other), other.id))
            chosen |= {other.id for other in ranked[:k] if similarity(task, other) > 0}
    return [task for task in past if task.id in chosen]


def similarity(left: Task, right: Task) -> float:
    """The share of words that two requests have in common (Jaccard)."""
    a, b = _words(left.prompt), _words(right.prompt)
    return len(a & b) / len(a | b) if a and b else 0.0


def apart_from(tasks: Sequence[Task], held_out: Sequence[Task]) -> list[Task]:
    """The tasks without a near-duplicate among the held-out ones."""
    texts = [task.prompt for task in (*tasks, *held_out)]
    near = {i for group in clusters(texts) if any(j >= len(tasks) for j in group) for i in group}
    return [task for i, task in enumerate(tasks) if i not in near]


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))
