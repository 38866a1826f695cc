"""Dreams: a train split enlarged by made-up variants of its tasks. Val and test stay real.

A variant has its task's own judge, since it is about the same wish on another subject.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from pydantic import Field

from skillgit.errors import CallError, ReplyError
from skillgit.prompting.answers import Answer, Texts
from skillgit.prompting.prompts import Optimizer, Prompt
from skillgit.records import Record, Split, Task, TaskOrigin
from skillgit.records.canonical import fingerprint
from skillgit.redaction import redact
from skillgit.runtime.pool import ordered_map
from skillgit.sleep.memory.recall import apart_from
from skillgit.sleep.night.consolidate import ConsolidationResult, consolidate
from skillgit.sleep.night.plan import Night
from skillgit.stages.rendering import fenced
from skillgit.tasks.near_duplicates import clusters

PURPOSE = "dream"
MAX_REQUEST = 4_000
"""The longest made-up request. Unit: characters."""


class DreamFields(Record):
    """What the optimizer is shown."""

    request: str
    wish: str
    count: str


class DreamAnswer(Answer):
    """The optimizer's made-up requests."""

    bare_list: ClassVar[str] = "requests"

    requests: Texts = Field(description="The requests, each complete in itself.")


DREAM = Prompt("dream", DreamFields, DreamAnswer)


def dream_consolidate(open_night: Callable[[Sequence[Task]], Night]) -> ConsolidationResult:
    """Consolidate with the train split that dreams enlarge.

    `open_night` opens the night with tasks added to its own.
    Raises: BlockedError, BudgetError, ConflictError, WaitingError.
    """
    setup = open_night(())
    factor = setup.config.sleep.dream_factor
    if not factor:
        return consolidate(setup)
    setup.evaluator.progress.begin("dream", len(setup.tasks.train))
    optimizer = setup.optimizer(setup.account(0))
    made = dream(
        setup.tasks.train,
        (*setup.tasks.val, *setup.tasks.test),
        optimizer,
        factor=factor,
        workers=setup.config.train.workers,
    )
    return consolidate(open_night(made))


def dream(
    train: Sequence[Task],
    held_out: Sequence[Task],
    optimizer: Optimizer,
    *,
    factor: int,
    workers: int,
) -> list[Task]:
    """Up to `factor` variants of each train task, none like a held-out one or like each other.

    An answer that cannot be used makes no variant.
    Raises: BlockedError, BudgetError, WaitingError.
    """

    def variants(task: Task) -> list[Task]:
        fields = DreamFields(request=fenced(task.prompt), wish=wish_of(task), count=str(factor))
        try:
            requests = optimizer.ask(
                DREAM, fields, purpose=PURPOSE, slot=task.id, accept=_usable
            ).answer
        except (ReplyError, CallError):
            return []
        return [_variant(task, request) for request in requests[:factor]]

    made = [task for found in ordered_map(variants, list(train), workers) for task in found]
    unlike = apart_from(made, [*held_out, *train])
    return [unlike[group[0]] for group in clusters([task.prompt for task in unlike])]


def wish_of(task: Task) -> str:
    """What a person wanted of the answer, as far as the task's judge says it in words."""
    settings = task.judge.settings
    checks, criteria = settings.get("checks"), settings.get("criteria")
    told = (
        [c.get("hint") for c in checks if isinstance(c, dict)] if isinstance(checks, list) else []
    )
    told += list(criteria) if isinstance(criteria, list) else []
    lines = [f"- {text}" for text in told if isinstance(text, str) and text]
    return "\n".join(lines) or "The answer is to be such that the person need not correct it."


def _variant(task: Task, request: str) -> Task:
    return task.model_copy(
        update={
            "id": "dream-" + fingerprint([task.id, request], digits=10),
            "prompt": request,
            "split": Split.TRAIN,
            "origin": TaskOrigin.DREAM,
        }
    )


def _usable(answer: DreamAnswer) -> list[str]:
    requests = [redact(text).strip()[:MAX_REQUEST] for text in answer.requests]
    usable = list(dict.fromkeys(filter(None, requests)))
    if not usable:
        raise ReplyError("it has no requests")
    return usable
