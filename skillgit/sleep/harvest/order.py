"""The order of turns: a parent before its children, then by time, and by line only in the end."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from skillgit.sleep.harvest.raw_turns import RawTurn

_BEGINNING = datetime.min.replace(tzinfo=UTC)


class Node(NamedTuple):
    """A record's place among the others; `turn` is `None` where only its place matters."""

    id: str
    parent: str
    time: datetime | None
    turn: RawTurn | None


def in_order(nodes: Sequence[Node]) -> list[RawTurn]:
    """The turns of the nodes, each id once: the first record of an id is the one that counts.

    A node without a time has that of the line before it. A parent that is missing, or is
    its own descendant, counts as none.
    """
    times = _times(nodes)
    first: dict[str, int] = {}
    for index, node in enumerate(nodes):
        if node.id:
            first.setdefault(node.id, index)
    kept = [i for i, node in enumerate(nodes) if not node.id or first[node.id] == i]
    children: dict[int, list[int]] = {}
    roots = []
    for index in kept:
        parent = first.get(nodes[index].parent) if nodes[index].parent else None
        if parent is None or parent == index:
            roots.append(index)
        else:
            children.setdefault(parent, []).append(index)
    out: list[int] = []
    _walk(roots, children, times, out)
    if len(out) < len(kept):
        seen = set(out)
        circling = [index for index in kept if index not in seen]
        out += sorted(circling, key=lambda index: (times[index], index))
    return [turn for index in out if (turn := nodes[index].turn) is not None]


def _walk(
    roots: Sequence[int],
    children: dict[int, list[int]],
    times: Sequence[datetime],
    out: list[int],
) -> None:
    heap = [(times[index], index) for index in roots]
    heapq.heapify(heap)
    while heap:
        _, index = heapq.heappop(heap)
        out.append(index)
        for child in children.get(index, ()):
            heapq.heappush(heap, (times[child], child))


def _times(nodes: Sequence[Node]) -> list[datetime]:
    known = next((node.time for node in nodes if node.time is not None), _BEGINNING)
    times = []
    for node in nodes:
        known = node.time or known
        times.append(known)
    return times
