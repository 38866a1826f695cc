"""Select: gradient clipping. At most as many edits pass as the learning rate allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field

from skillgit.errors import CallError, ReplyError
from skillgit.prompting.answers import Answer, Text, WholeNumbers, a_list
from skillgit.prompting.prompts import Optimizer, Prompt
from skillgit.records import Edit, Record, Selection, Skill, SourceType
from skillgit.stages.rendering import NOTHING_YET, shown_edits, shown_skill

PURPOSE = "select"


class RankFields(Record):
    """What the ranker is shown."""

    skill: str
    edits: str
    budget: str
    meta_skill: str


class Ranking(Answer):
    """The ranker's answer."""

    bare_list: ClassVar[str] = "selected_indices"

    reasoning: Text
    selected_indices: Annotated[WholeNumbers, BeforeValidator(a_list)] = Field(
        description="Indices of the edits to keep, the most valuable first."
    )


RANK = Prompt("rank", RankFields, Ranking)


def rank_and_select(
    edits: Sequence[Edit],
    budget: int | None,
    skill: Skill,
    optimizer: Optimizer,
    *,
    meta_skill: str,
    ask: bool = True,
) -> Selection:
    """The edits that pass, in the order they are tried, and those over the budget.

    Within the budget nothing is asked, nor without `ask`: support decides then. Above it the
    optimizer's ranking decides; of a ranking shorter than the budget nothing is made up: what it
    leaves out is cut.
    Shape: what is cut stays in its original order.
    Raises: BlockedError, BudgetError.
    """
    if budget is None or len(edits) <= budget:
        return Selection(edits=tuple(edits))
    if budget <= 0:
        return Selection(edits=(), over_budget=tuple(edits))
    if not ask:
        chosen = fallback_order(edits)[:budget]
        return _selection(edits, chosen, "by the attempts behind them", fallback=False)
    fields = RankFields(
        skill=shown_skill(skill),
        edits=shown_edits(edits),
        budget=str(budget),
        meta_skill=meta_skill or NOTHING_YET,
    )

    def usable(ranking: Ranking) -> Ranking:
        indices = [i for i in ranking.selected_indices if 0 <= i < len(edits)]
        if not indices:
            raise ReplyError("it names no edit")
        return ranking.model_copy(update={"selected_indices": indices})

    try:
        ranking = optimizer.ask(RANK, fields, purpose=PURPOSE, slot="rank", accept=usable).answer
    except (ReplyError, CallError) as error:
        return _selection(
            edits, fallback_order(edits)[:budget], f"no usable ranking: {error}", fallback=True
        )
    return _selection(edits, ranking.selected_indices[:budget], ranking.reasoning, fallback=False)


def fallback_order(edits: Sequence[Edit]) -> list[int]:
    """Indices by support, the highest first, then failure before success, then as they stand."""
    return sorted(
        range(len(edits)),
        key=lambda i: (-edits[i].support_count, edits[i].source_type is SourceType.SUCCESS, i),
    )


def _selection(
    edits: Sequence[Edit], indices: Sequence[int], reasoning: str, *, fallback: bool
) -> Selection:
    return Selection(
        edits=tuple(edits[i] for i in indices),
        over_budget=tuple(edit for i, edit in enumerate(edits) if i not in set(indices)),
        reasoning=reasoning,
        fallback=fallback,
    )
