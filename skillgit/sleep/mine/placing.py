"""Which split a mined task goes to: relatives together, and a split once given is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from skillgit.records import Split
from skillgit.records.canonical import fingerprint
from skillgit.sleep.mine.mined import MinedTask
from skillgit.tasks.near_duplicates import clusters
from skillgit.tasks.splits import cut


class PlacedTask(NamedTuple):
    """A task that has a split already."""

    prompt: str
    lineages: tuple[str, ...]
    split: Split


class Placement(NamedTuple):
    """The newcomers with their splits, and those that would have joined two splits."""

    tasks: list[tuple[MinedTask, Split]]
    dropped: list[MinedTask]


def place(
    newcomers: Sequence[MinedTask],
    placed: Sequence[PlacedTask],
    ratio: tuple[float, float, float],
) -> Placement:
    """Each newcomer's split: its relatives' where it has any, else by rank of a hash, cut at the ratio.

    Relatives are near-duplicates and tasks of one lineage. Where the relatives are in two splits
    the newcomer is dropped.
    Shape: the newcomers in order, without those dropped.
    """
    chosen: dict[int, Split] = {}
    dropped: set[int] = set()
    free: list[list[int]] = []
    for group in _groups(newcomers, placed):
        new = [index for index in group if index < len(newcomers)]
        kin = {placed[index - len(newcomers)].split for index in group if index not in new}
        if len(kin) > 1:
            taken = _one_by_one(
                {index: newcomers[index] for index in new},
                [placed[index - len(newcomers)] for index in group if index not in new],
            )
            chosen |= taken
            dropped |= set(new) - taken.keys()
        elif kin:
            chosen |= dict.fromkeys(new, next(iter(kin)))
        elif new:
            free.append(new)
    free.sort(key=lambda group: min(_rank(newcomers[index]) for index in group))
    for group, split in zip(free, cut([len(group) for group in free], ratio), strict=True):
        chosen |= dict.fromkeys(group, split)
    return Placement(
        [(task, chosen[index]) for index, task in enumerate(newcomers) if index in chosen],
        [task for index, task in enumerate(newcomers) if index in dropped],
    )


def _one_by_one(newcomers: dict[int, MinedTask], kin: Sequence[PlacedTask]) -> dict[int, Split]:
    """The newcomers of a family that lives in two splits: each by its own nearest relatives."""
    accepted, taken = list(kin), {}
    for index, task in newcomers.items():
        own = {other.split for other in accepted if _related(task, other)}
        if len(own) == 1:
            taken[index] = next(iter(own))
            accepted.append(PlacedTask(task.prompt, task.lineages, taken[index]))
    return taken


def _related(task: MinedTask, other: PlacedTask) -> bool:
    return bool(set(task.lineages) & set(other.lineages)) or (
        len(clusters([task.prompt, other.prompt])) == 1
    )


def _groups(newcomers: Sequence[MinedTask], placed: Sequence[PlacedTask]) -> list[list[int]]:
    """Indices of relatives, the newcomers counted first and then those that are placed."""
    texts = [task.prompt for task in newcomers] + [task.prompt for task in placed]
    lineages = [task.lineages for task in newcomers] + [task.lineages for task in placed]
    parent = list(range(len(texts)))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    def join(left: int, right: int) -> None:
        a, b = sorted((root(left), root(right)))
        parent[b] = a

    for near in clusters(texts):
        for index in near[1:]:
            join(near[0], index)
    holders: dict[str, int] = {}
    for index, names in enumerate(lineages):
        for name in names:
            join(holders.setdefault(name, index), index)
    groups: dict[int, list[int]] = {}
    for index in range(len(texts)):
        groups.setdefault(root(index), []).append(index)
    return list(groups.values())


def _rank(task: MinedTask) -> str:
    return fingerprint([task.prompt], digits=64)
