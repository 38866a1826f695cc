"""Reflect: the backward pass. Analysts read minibatches of trajectories and propose edits."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field, JsonValue

from skillgit.edit_reader import (
    ReadEdits,
    read_edits,
    strings,
    targets_of,
    text_or_nothing,
    whole_number,
)
from skillgit.errors import BlockedError, CallError, ReplyError
from skillgit.pool import ordered_map
from skillgit.prompts import Answer, Optimizer, Prompt
from skillgit.records import (
    Edit,
    FailurePattern,
    GradedRollout,
    Patch,
    RawPatch,
    Record,
    Skill,
    SourceType,
)
from skillgit.stages.failure_patterns import failure_patterns as failure_patterns
from skillgit.stages.rendering import NOTHING_YET, on_one_line, shown_skill
from skillgit.stages.trajectories import render_trajectories

PURPOSE = "reflect"
CALL_FAILED = "call failed: "
PATTERN_CHARS = 300


class ReflectFields(Record):
    """What an analyst is shown."""

    skill: str
    edit_budget: str
    step_buffer: str
    meta_skill: str
    trajectories: str


class ProposedEdit(Answer):
    """One edit, as an analyst is asked to write it."""

    op: Literal["add", "replace", "delete"]
    target: str = Field(description="The path of the document to edit.")
    anchor: str = Field(
        description="Text copied exactly from that document, occurring once in it; empty only for an add at the document's end."
    )
    content: str = Field(description="The new text; empty for a delete.")
    rationale: str = Field(description="One sentence: which evidence asks for this edit.")
    task_ids: list[str] = Field(description="The tasks whose trajectories ask for this edit.")


class FailureKind(Answer):
    """One kind of failure, as the error analyst is asked to write it."""

    failure_type: str = Field(description="A short name in snake_case.")
    description: str = Field(description="One sentence on what went wrong.")
    count: int
    task_ids: list[str]


class FailureAnalysis(Answer):
    """The error analyst's answer."""

    reasoning: str
    failure_summary: list[FailureKind]
    edits: list[ProposedEdit]


class SuccessAnalysis(Answer):
    """The success analyst's answer."""

    reasoning: str
    edits: list[ProposedEdit]


REFLECT_FAILURES = Prompt("reflect_failures", ReflectFields, FailureAnalysis)
REFLECT_SUCCESSES = Prompt("reflect_successes", ReflectFields, SuccessAnalysis)


@dataclass(frozen=True)
class Minibatch:
    """The rollouts one analyst reads, and its place among those of its kind."""

    source_type: SourceType
    index: int
    graded: tuple[GradedRollout, ...]

    @property
    def task_ids(self) -> tuple[str, ...]:
        """The tasks in it, each once."""
        return tuple(dict.fromkeys(item.task.id for item in self.graded))


def run_minibatch_reflect(
    graded: Sequence[GradedRollout],
    skill: Skill,
    optimizer: Optimizer,
    *,
    edit_budget: int | None,
    minibatch_size: int,
    failure_only: bool,
    max_chars: int,
    seed: int,
    step_buffer: str,
    meta_skill: str,
    workers: int,
) -> tuple[RawPatch, ...]:
    """Each minibatch's patch, or the record of why there is none; every call in parallel.

    More edits than the budget are kept as they were proposed: select cuts them.
    Shape: one patch per minibatch, failures first, in minibatch order.
    Unit: `max_chars` in characters of one trajectory.
    Raises: BlockedError, also when every call failed; BudgetError.
    """
    minibatches = cut_minibatches(
        graded, minibatch_size=minibatch_size, failure_only=failure_only, seed=seed
    )
    shown, targets = shown_skill(skill), targets_of(skill)

    def analyse(minibatch: Minibatch) -> RawPatch:
        fields = ReflectFields(
            skill=shown,
            edit_budget=_budget_words(edit_budget),
            step_buffer=step_buffer or NOTHING_YET,
            meta_skill=meta_skill or NOTHING_YET,
            trajectories=render_trajectories(minibatch.graded, max_chars),
        )
        return _ask_analyst(minibatch, fields, optimizer, targets)

    patches = tuple(ordered_map(analyse, minibatches, workers))
    _refuse_if_every_call_failed(patches)
    return patches


def cut_minibatches(
    graded: Sequence[GradedRollout], *, minibatch_size: int, failure_only: bool, seed: int
) -> list[Minibatch]:
    """Failures, then successes, each shuffled by the seed and cut; unscored rollouts are in none.

    Shape: every minibatch has `minibatch_size` rollouts, the last of its kind perhaps fewer.
    """
    scored = [item for item in graded if item.grade.score is not None]
    kinds = {SourceType.FAILURE: [item for item in scored if not item.grade.passed]}
    if not failure_only:
        kinds[SourceType.SUCCESS] = [item for item in scored if item.grade.passed]
    minibatches: list[Minibatch] = []
    for source_type, items in kinds.items():
        random.Random(f"{seed}/{source_type.value}").shuffle(items)  # noqa: S311 - no secret
        starts = range(0, len(items), minibatch_size)
        minibatches += [
            Minibatch(source_type, index, tuple(items[start : start + minibatch_size]))
            for index, start in enumerate(starts)
        ]
    return minibatches


def _budget_words(edit_budget: int | None) -> str:
    if edit_budget is None:
        return "as many edits as the evidence asks for"
    return f"at most {edit_budget} edit{'' if edit_budget == 1 else 's'}"


def _ask_analyst(
    minibatch: Minibatch, fields: ReflectFields, optimizer: Optimizer, targets: Sequence[str]
) -> RawPatch:
    empty = RawPatch(
        source_type=minibatch.source_type,
        batch_size=len(minibatch.graded),
        task_ids=minibatch.task_ids,
    )
    slot = f"{minibatch.source_type.value}/{minibatch.index}"
    read = _patch_reader(empty, targets)
    try:
        if minibatch.source_type is SourceType.FAILURE:
            answered = optimizer.ask_for(read, REFLECT_FAILURES, fields, purpose=PURPOSE, slot=slot)
        else:
            answered = optimizer.ask_for(
                read, REFLECT_SUCCESSES, fields, purpose=PURPOSE, slot=slot
            )
    except ReplyError as error:
        return empty.model_copy(update={"parse_failure": str(error)})
    except CallError as error:
        return empty.model_copy(update={"parse_failure": f"{CALL_FAILED}{error}"})
    return answered.answer


def _refuse_if_every_call_failed(patches: Sequence[RawPatch]) -> None:
    failures = [p.parse_failure or "" for p in patches]
    if failures and all(failure.startswith(CALL_FAILED) for failure in failures):
        raise BlockedError(
            f"none of the optimizer's {len(failures)} calls came back; "
            f"the first: {failures[0].removeprefix(CALL_FAILED)}",
            hint="Put right what the reason says and run the same command again.",
        )


# ── reading an analyst's answer ──────────────────────────────────────────────────────────────


def _patch_reader(empty: RawPatch, targets: Sequence[str]) -> Callable[[JsonValue], RawPatch]:
    def read(value: JsonValue) -> RawPatch:
        found: ReadEdits = read_edits(value, targets=targets)
        around = value if isinstance(value, dict) else {}
        inner = around.get("patch")
        reasoning = around.get("reasoning") or (
            inner.get("reasoning") if isinstance(inner, dict) else None
        )
        return empty.model_copy(
            update={
                "patch": Patch(
                    edits=tuple(_with_evidence(edit, empty) for edit in found.edits),
                    reasoning=text_or_nothing(reasoning),
                ),
                "failure_summary": _failure_summary(around.get("failure_summary"), empty),
                "dropped": found.dropped,
            }
        )

    return read


def _with_evidence(edit: Edit, minibatch: RawPatch) -> Edit:
    """The edit with its claims checked: only the minibatch's tasks, at most its size."""
    task_ids = tuple(i for i in edit.task_ids if i in minibatch.task_ids)
    support = len(task_ids) or min(edit.support_count, minibatch.batch_size)
    return edit.model_copy(
        update={
            "task_ids": task_ids,
            "support_count": support,
            "source_type": minibatch.source_type,
        }
    )


def _failure_summary(value: JsonValue, minibatch: RawPatch) -> tuple[FailurePattern, ...]:
    """The entries that can be read; a summary is only there to be read, so none is an error."""
    patterns: list[FailurePattern] = []
    for entry in value if isinstance(value, list) else []:
        kind = text_or_nothing(entry.get("failure_type")) if isinstance(entry, dict) else ""
        if not isinstance(entry, dict) or not kind.strip():
            continue
        task_ids = tuple(i for i in strings(entry.get("task_ids")) if i in minibatch.task_ids)
        claimed = max(1, whole_number(entry.get("count")) or 1)
        patterns.append(
            FailurePattern(
                failure_type=on_one_line(kind, PATTERN_CHARS),
                description=on_one_line(text_or_nothing(entry.get("description")), PATTERN_CHARS),
                count=len(task_ids) or min(claimed, minibatch.batch_size),
                task_ids=task_ids,
            )
        )
    return tuple(patterns)
