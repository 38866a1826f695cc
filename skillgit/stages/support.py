"""The support of edits: which trajectories of which minibatch ask for them. Pure.

Minibatches share no trajectory, so support adds up between them; within one, the tasks that
edits name tell which trajectories they share.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from skillgit.records import Edit, RawPatch, Skill, SourceType
from skillgit.records.skills import path_meant


@dataclass(frozen=True)
class MinibatchSupport:
    """What one minibatch says for an edit: the tasks it names, and how many trajectories."""

    minibatch: int
    task_ids: tuple[str, ...]
    count: int


@dataclass(frozen=True)
class SupportedEdit:
    """An edit with its support, at most one entry for each minibatch."""

    edit: Edit
    support: tuple[MinibatchSupport, ...]

    @classmethod
    def of(cls, edit: Edit, sources: Sequence[SupportedEdit], *, merged: bool) -> SupportedEdit:
        """The edit with the support of all its sources; failure wins over success."""
        support = _united(one for source in sources for one in source.support)
        kinds = {source.edit.source_type for source in sources}
        known = sum(one.count for one in support)
        update = {
            "support_count": max(1, known),
            "task_ids": tuple(dict.fromkeys(i for one in support for i in one.task_ids)),
            "source_type": SourceType.joined(kinds),
            "merge_level": max(source.edit.merge_level for source in sources) + merged,
        }
        return cls(edit.model_copy(update=update), support)


class EditDeduplicator:
    """Makes one of edits that say the same on the same document."""

    def __init__(self, skill: Skill) -> None:
        self._main = skill.main.path

    def __call__(self, edits: Iterable[SupportedEdit]) -> tuple[SupportedEdit, ...]:
        """The edits, each once, where it first stood, with all the support."""
        same: dict[tuple[str, ...], list[SupportedEdit]] = {}
        for supported in edits:
            same.setdefault(self.key(supported.edit), []).append(supported)
        return tuple(
            group[0] if len(group) == 1 else SupportedEdit.of(group[0].edit, group, merged=False)
            for group in same.values()
        )

    def key(self, edit: Edit) -> tuple[str, ...]:
        """What two edits have in common when they are the same."""
        return (edit.op.value, path_meant(edit.target, self._main), edit.anchor, edit.content)


def supported_patches(
    raw_patches: Sequence[RawPatch], source_type: SourceType
) -> list[tuple[SupportedEdit, ...]]:
    """The edits of one kind of analyst, patch by patch; patches without edits do not count."""
    return [
        tuple(
            SupportedEdit(edit, (MinibatchSupport(index, edit.task_ids, edit.support_count),))
            for edit in raw.patch.edits
            if edit.support_count
        )
        for index, raw in enumerate(raw_patches)
        if raw.source_type is source_type and raw.patch.edits
    ]


def unsupported(raw_patches: Sequence[RawPatch]) -> tuple[Edit, ...]:
    """The edits that nothing stands behind: they answer no reason that was shown."""
    return tuple(e for raw in raw_patches for e in raw.patch.edits if not e.support_count)


def _united(support: Iterable[MinibatchSupport]) -> tuple[MinibatchSupport, ...]:
    by_minibatch: dict[int, list[MinibatchSupport]] = {}
    for one in support:
        by_minibatch.setdefault(one.minibatch, []).append(one)
    united: list[MinibatchSupport] = []
    for minibatch, same in sorted(by_minibatch.items()):
        task_ids = tuple(dict.fromkeys(i for one in same for i in one.task_ids))
        count = max(len(task_ids), *(one.count for one in same), 0)
        united.append(MinibatchSupport(minibatch, task_ids, count))
    return tuple(united)
