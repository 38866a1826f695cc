"""A task set, and the keys by which tasks and sets are known everywhere."""

from __future__ import annotations

from collections.abc import Mapping

from skillgit.records import Record, Split, Task
from skillgit.records.canonical import JsonLike, fingerprint


class TaskSet(Record):
    """All tasks of a training, in the order of their files."""

    tasks: tuple[Task, ...]

    @property
    def train(self) -> tuple[Task, ...]:
        """The tasks that the optimizer learns from."""
        return self.of(Split.TRAIN)

    @property
    def val(self) -> tuple[Task, ...]:
        """The tasks that the gate measures on."""
        return self.of(Split.VAL)

    @property
    def test(self) -> tuple[Task, ...]:
        """The tasks that are scored once, at a run's end."""
        return self.of(Split.TEST)

    def of(self, split: Split) -> tuple[Task, ...]:
        """The tasks of one split, in order."""
        return tuple(task for task in self.tasks if task.split is split)

    @property
    def task_set_id(self) -> str:
        """16 hex digits of which task is in which split, whatever their order."""
        return fingerprint(sorted([task.id, task.split.value] for task in self.tasks))


def task_key(task: Task, judge: Mapping[str, JsonLike]) -> str:
    """16 hex digits of what a task asks and how it is judged: the key of its scores.

    `judge` is the judge's identity (`judges.ReadJudge.identity`): kind, version, settings without
    hints, and for a rubric its model. Name, split, tags and hints do not count.
    """
    return fingerprint(
        {
            "prompt": task.prompt,
            "context": task.context,
            "system": task.system,
            "turns": list(task.turns),
            "tools": [tool.model_dump(mode="json") for tool in task.tools],
            "reference": task.reference,
            "judge": judge,
        }
    )
