"""The simulated optimizer: the answer a schema's title names, in the optimizer's own manner.

Which answer is wanted is told by the schema alone, never by a prompt's wording. A new answer is a
function and a line in `ANSWERS`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from pydantic import JsonValue

from skillgit.models.simulated.combining import merge, rank
from skillgit.models.simulated.exchange import Exchange, exchange_of
from skillgit.models.simulated.judging import judge
from skillgit.models.simulated.manners import written
from skillgit.models.simulated.mining import mine_tasks
from skillgit.models.simulated.reflecting import analyse_failures, analyse_successes
from skillgit.models.simulated.remembering import decide_rate, guide, remember, remember_nights
from skillgit.models.simulated.rewriting import (
    consolidate,
    merge_documents,
    rewrite_failures,
    rewrite_from_suggestions,
    rewrite_successes,
    tell_failures_apart,
    tell_successes_apart,
)
from skillgit.models.simulated.schemas import instance
from skillgit.records import ModelReply, ModelRequest

RUBRIC = "RubricAnswer"
"""A judge's answer always comes plain: an unscored task would say nothing about the skill."""

ANSWERS: Mapping[str, Callable[[Exchange], dict[str, JsonValue]]] = {
    "FailureAnalysis": analyse_failures,
    "SuccessAnalysis": analyse_successes,
    "MergedPatch": merge,
    "Ranking": rank,
    "MineAnswer": mine_tasks,
    "AwareFailureAnalysis": tell_failures_apart,
    "AwareSuccessAnalysis": tell_successes_apart,
    "ConsolidatedNotes": consolidate,
    "FailureRewrite": rewrite_failures,
    "SuccessRewrite": rewrite_successes,
    "MergedDocument": merge_documents,
    "RewrittenDocument": rewrite_from_suggestions,
    "LearningRateDecision": decide_rate,
    "SlowUpdateGuidance": guide,
    "MetaSkillMemory": remember,
    "SlowMemory": remember_nights,
}


def answer(request: ModelRequest) -> ModelReply:
    """The optimizer's answer; for a title it does not know, the smallest that fits the schema."""
    exchange = exchange_of(request)
    if not exchange.schema:
        return ModelReply(text="This is the simulated optimizer; it answers in JSON schemas only.")
    if exchange.title == RUBRIC:
        return ModelReply(text=json.dumps(exchange.fitted(judge(exchange)), ensure_ascii=False))
    make = ANSWERS.get(exchange.title, smallest)
    return ModelReply(text=written(exchange.fitted(make(exchange)), exchange))


def smallest(exchange: Exchange) -> dict[str, JsonValue]:
    """The smallest answer that fits the schema."""
    value = instance(exchange.schema)
    return value if isinstance(value, dict) else {}
