"""Reflect: the backward pass. Analysts read minibatches of trajectories and propose edits."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field, JsonValue

from skillgit.errors import BlockedError, CallError, ReplyError
from skillgit.prompting.edit_parser import (
    AskedEdit,
    ReadEdits,
    read_edits,
    strings,
    targets_of,
    text_or_nothing,
    whole_number,
)
from skillgit.prompting.prompts import Answer, Optimizer, Prompt
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
from skillgit.runtime.pool import ordered_map
from skillgit.stages.rendering import NOTHING_YET, on_one_line, render_trajectories, shown_skill
from skillgit.stages.rendering import failure_patterns as failure_patterns

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


class ProposedEdit(AskedEdit):
    """One edit, as an analyst is asked to write it."""

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
class Analysts:
    """One way to reflect: the prompts of the two analysts, and how their answers are read.

    `read` gets the answer, the minibatch's patch with nothing in it yet, and the names of the
    skill's documents; it raises ReplyError for what is no answer.
    """

    failures: Prompt[Any, Any]
    successes: Prompt[Any, Any]
    read: Callable[[JsonValue, RawPatch, Sequence[str]], RawPatch]

    def prompt(self, source_type: SourceType) -> Prompt[Any, Any]:
        """The prompt for one kind of minibatch."""
        return self.failures if source_type is SourceType.FAILURE else self.successes


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
    analysts: Analysts | None = None,
    slots: str = "",
) -> tuple[RawPatch, ...]:
    """Each minibatch's patch, or the record of why there is none; every call in parallel.

    Without other `analysts`, those that propose edits are asked. `slots` is what the calls'
    slots begin with, where a step reflects more than once. More edits than the budget are kept as they were proposed: select cuts them.
    Shape: one patch per minibatch, failures first, in minibatch order.
    Unit: `max_chars` in characters of one trajectory.
    Raises: BlockedError, also when every call failed; BudgetError.
    """
    minibatches = cut_minibatches(
        graded, minibatch_size=minibatch_size, failure_only=failure_only, seed=seed
    )
    targets, who = targets_of(skill), analysts or EDITORS
    shown = {
        "skill": shown_skill(skill),
        "path": skill.main.path,
        "edit_budget": _budget_words(edit_budget),
        "step_buffer": step_buffer or NOTHING_YET,
        "meta_skill": meta_skill or NOTHING_YET,
    }

    def analyse(minibatch: Minibatch) -> RawPatch:
        trajectories = render_trajectories(minibatch.graded, max_chars)
        slot = f"{slots}{minibatch.source_type.value}/{minibatch.index}"
        return _ask_analyst(
            minibatch, {**shown, "trajectories": trajectories}, optimizer, targets, who, slot
        )

    patches = tuple(ordered_map(analyse, minibatches, workers))
    _refuse_if_every_call_failed(patches)
    return patches


def cut_minibatches(
    graded: Sequence[GradedRollout], *, minibatch_size: int, failure_only: bool, seed: int
) -> list[Minibatch]:
    """Failures, then successes, each shuffled by the seed and cut; unscored rollouts are in none.

    Shape: as few minibatches of at most `minibatch_size` rollouts as hold all of a kind; their
    sizes differ by one at most, the larger first.
    """
    scored = [item for item in graded if item.grade.score is not None]
    kinds = {SourceType.FAILURE: [item for item in scored if not item.grade.passed]}
    if not failure_only:
        kinds[SourceType.SUCCESS] = [item for item in scored if item.grade.passed]
    minibatches: list[Minibatch] = []
    for source_type, items in kinds.items():
        random.Random(f"{seed}/{source_type.value}").shuffle(items)  # noqa: S311 - no secret
        count = -(-len(items) // minibatch_size)
        for index in range(count):
            size = -(-len(items) // (count - index))
            minibatches.append(Minibatch(source_type, index, tuple(items[:size])))
            items = items[size:]
    return minibatches


def _budget_words(edit_budget: int | None) -> str:
    if edit_budget is None:
        return "as many edits as the evidence asks for"
    return f"at most {edit_budget} edit{'' if edit_budget == 1 else 's'}"


def _ask_analyst(
    minibatch: Minibatch,
    shown: Mapping[str, str],
    optimizer: Optimizer,
    targets: Sequence[str],
    analysts: Analysts,
    slot: str,
) -> RawPatch:
    empty = RawPatch(
        source_type=minibatch.source_type,
        batch_size=len(minibatch.graded),
        task_ids=minibatch.task_ids,
    )
    prompt = analysts.prompt(minibatch.source_type)
    fields = prompt.fields(**{name: shown[name] for name in prompt.fields.model_fields})

    def read(value: JsonValue) -> RawPatch:
        return analysts.read(value, empty, targets)

    try:
        return optimizer.ask_for(read, prompt, fields, purpose=PURPOSE, slot=slot).answer
    except ReplyError as error:
        return empty.model_copy(update={"parse_failure": str(error)})
    except CallError as error:
        return empty.model_copy(update={"parse_failure": f"{CALL_FAILED}{error}"})


def _refuse_if_every_call_failed(patches: Sequence[RawPatch]) -> None:
    failures = [p.parse_failure or "" for p in patches]
    if failures and all(failure.startswith(CALL_FAILED) for failure in failures):
        raise BlockedError(
            f"none of the optimizer's {len(failures)} calls came back; "
            f"the first: {failures[0].removeprefix(CALL_FAILED)}",
            hint="Put right what the reason says and run the same command again.",
        )


# ── reading an analyst's answer ──────────────────────────────────────────────────────────────


def read_patch(value: JsonValue, empty: RawPatch, targets: Sequence[str]) -> RawPatch:
    """An answer with edits as the minibatch's patch.

    Raises: ReplyError.
    """
    found: ReadEdits = read_edits(value, targets=targets)
    patch = Patch(
        edits=tuple(_with_evidence(edit, empty) for edit in found.edits),
        reasoning=read_reasoning(value),
    )
    return empty.model_copy(
        update={
            "patch": patch,
            "failure_summary": read_failure_summary(value, empty),
            "dropped": found.dropped,
        }
    )


EDITORS = Analysts(REFLECT_FAILURES, REFLECT_SUCCESSES, read_patch)
"""The usual analysts: they propose edits."""


def read_reasoning(value: JsonValue) -> str:
    """The reasoning beside an answer's patch or in it."""
    around = value if isinstance(value, dict) else {}
    inner = around.get("patch")
    within = inner.get("reasoning") if isinstance(inner, dict) else None
    return text_or_nothing(around.get("reasoning") or within)


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


def read_failure_summary(value: JsonValue, minibatch: RawPatch) -> tuple[FailurePattern, ...]:
    """An answer's summary, as far as it can be read; it is only there to be read: none is no error."""
    patterns: list[FailurePattern] = []
    summary = value.get("failure_summary") if isinstance(value, dict) else None
    for entry in summary if isinstance(summary, list) else []:
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
