"""The simulated optimizer merging patches and ranking edits."""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import JsonValue

from skillgit.models.simulated.exchange import Exchange
from skillgit.models.simulated.prompt_reading import ShownEdit, edits_in

DROPPED_FROM_A_MERGE = 0.03
SWAPPED_IN_A_RANKING = 0.1


@dataclass
class _Group:
    """Edits that say the same, the first of them as their form."""

    first: ShownEdit
    indices: list[int] = field(default_factory=list)


def merge(exchange: Exchange) -> dict[str, JsonValue]:
    """The union of the edits shown, equal ones joined, with the indices each came from."""
    groups: dict[tuple[str, str, str], _Group] = {}
    for edit in edits_in(exchange.text):
        group = groups.setdefault(edit.meaning, _Group(edit))
        group.indices.append(edit.index)
    kept = [
        group
        for group in groups.values()
        if len(groups) == 1 or exchange.luck("drop", *group.first.meaning) >= DROPPED_FROM_A_MERGE
    ]
    return {
        "reasoning": "Simulated: edits that say the same are joined; none is reworded.",
        "edits": [_merged(group) for group in kept],
    }


def _merged(group: _Group) -> dict[str, JsonValue]:
    sources: list[JsonValue] = list(group.indices)
    return {**group.first.fields, "sources": sources}


def rank(exchange: Exchange) -> dict[str, JsonValue]:
    """The indices of the edits shown, best supported first, with a slip now and then."""
    edits = sorted(edits_in(exchange.text), key=lambda edit: (-edit.support, edit.index))
    order: list[JsonValue] = [edit.index for edit in edits]
    if len(order) > 1 and exchange.luck("swap") < SWAPPED_IN_A_RANKING:
        order[0], order[1] = order[1], order[0]
    return {"reasoning": "Simulated: by support.", "selected_indices": order}
