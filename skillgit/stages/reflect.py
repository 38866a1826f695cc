"""Reflect: the backward pass. Analysts read minibatches of trajectories and propose edits."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, field_validator, model_validator
from pydantic.json_schema import SkipJsonSchema

from skillgit.errors import BlockedError, CallError, ReplyError
from skillgit.prompting.answers import Answer, Count, Items, ItemsIfAny, Text, Texts
from skillgit.prompting.edit_schema import EditAnswer, EditsAnswer, targets_of
from skillgit.prompting.prompts import Optimizer, Prompt
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
from skillgit.stages.schedule import in_batches

PURPOSE = "reflect"
PATTERN_CHARS = 300


class ReflectFields(Record):
    """What an analyst is shown."""

    skill: str
    edit_budget: str
    step_buffer: str
    meta_skill: str
    trajectories: str


class ProposedEdit(EditAnswer):
    """One edit, as an analyst is asked to write it."""

    task_ids: Texts = Field(description="The tasks whose trajectories ask for this edit.")


class FailureKind(Answer):
    """One kind of failure, as the error analyst is asked to write it."""

    failure_type: Text = Field(description="A short name in snake_case.")
    description: Text = Field(description="One sentence on what went wrong.")
    count: Count
    task_ids: Texts

    @field_validator("failure_type")
    @classmethod
    def _has_a_name(cls, name: str) -> str:
        if not name.strip():
            raise ReplyError("a failure without a name")
        return name

    def as_pattern(self, minibatch: RawPatch) -> FailurePattern:
        """The pattern, its claims checked: only the minibatch's tasks, at most its size."""
        task_ids = tuple(i for i in self.task_ids if i in minibatch.task_ids)
        return FailurePattern(
            failure_type=on_one_line(self.failure_type, PATTERN_CHARS),
            description=on_one_line(self.description, PATTERN_CHARS),
            count=len(task_ids) or min(self.count, minibatch.batch_size),
            task_ids=task_ids,
        )


class Analysis(Answer):
    """An analyst's answer: the root of what minibatches' patches are made of."""

    reasoning: Text
    failure_summary: Annotated[ItemsIfAny[FailureKind], SkipJsonSchema()] = Field(
        default_factory=list, exclude=True
    )

    @model_validator(mode="before")
    @classmethod
    def _reasoning_may_be_in_the_patch(cls, value: Any) -> Any:
        patch = value.get("patch") if isinstance(value, dict) else None
        if not isinstance(patch, dict):
            return value
        return {**value, "reasoning": value.get("reasoning") or patch.get("reasoning")}

    def as_patch(self, minibatch: RawPatch, targets: Sequence[str]) -> RawPatch:  # noqa: ARG002 - analyses with edits need it
        """The minibatch's patch; `targets` are the names of the skill's documents."""
        return minibatch.model_copy(
            update={
                "patch": Patch(reasoning=self.reasoning),
                "failure_summary": tuple(k.as_pattern(minibatch) for k in self.failure_summary),
            }
        )


class EditAnalysis(Analysis, EditsAnswer):
    """An analyst's answer that proposes edits."""

    edits: Items[ProposedEdit]

    def as_patch(self, minibatch: RawPatch, targets: Sequence[str]) -> RawPatch:
        """The minibatch's patch with the edits that could be read."""
        edits = (_with_evidence(edit.as_edit(targets), minibatch) for edit in self.edits)
        return (
            super()
            .as_patch(minibatch, targets)
            .model_copy(
                update={
                    "patch": Patch(edits=tuple(edits), reasoning=self.reasoning),
                    "dropped": self.left_out("edits"),
                }
            )
        )


class FailureAnalysis(EditAnalysis):
    """The error analyst's answer."""

    failure_summary: ItemsIfAny[FailureKind]


class SuccessAnalysis(EditAnalysis):
    """The success analyst's answer."""


REFLECT_FAILURES = Prompt("reflect_failures", ReflectFields, FailureAnalysis)
REFLECT_SUCCESSES = Prompt("reflect_successes", ReflectFields, SuccessAnalysis)


@dataclass(frozen=True)
class Analysts:
    """One way to reflect: the prompts of the two analysts, whose answers are analyses."""

    failures: Prompt[Any, Any]
    successes: Prompt[Any, Any]

    def prompt(self, source_type: SourceType) -> Prompt[Any, Any]:
        """The prompt for one kind of minibatch."""
        return self.failures if source_type is SourceType.FAILURE else self.successes


EDITORS = Analysts(REFLECT_FAILURES, REFLECT_SUCCESSES)
"""The usual analysts: they propose edits."""


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

    def without_patch(self, parse_failure: str | None = None) -> RawPatch:
        """The minibatch's patch with nothing in it, and why, if there is a reason."""
        return RawPatch(
            source_type=self.source_type,
            batch_size=len(self.graded),
            task_ids=self.task_ids,
            parse_failure=parse_failure,
        )


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

    def analyse(minibatch: Minibatch) -> RawPatch | CallError:
        trajectories = render_trajectories(minibatch.graded, max_chars)
        slot = f"{slots}{minibatch.source_type.value}/{minibatch.index}"
        return _ask_analyst(
            minibatch, {**shown, "trajectories": trajectories}, optimizer, targets, who, slot
        )

    results = list(ordered_map(analyse, minibatches, workers))
    errors = [result for result in results if isinstance(result, CallError)]
    if errors and len(errors) == len(results):
        raise BlockedError(
            f"none of the optimizer's {len(errors)} calls came back; the first: {errors[0]}",
            hint="Put right what the reason says and run the same command again.",
        )
    return tuple(
        minibatch.without_patch(f"call failed: {result}")
        if isinstance(result, CallError)
        else result
        for minibatch, result in zip(minibatches, results, strict=True)
    )


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
        minibatches += [
            Minibatch(source_type, index, batch)
            for index, batch in enumerate(in_batches(items, minibatch_size))
        ]
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
) -> RawPatch | CallError:
    """The minibatch's patch, or the call's error, which is for the caller to judge."""
    prompt = analysts.prompt(minibatch.source_type)
    fields = prompt.fields(**{name: shown[name] for name in prompt.fields.model_fields})
    try:
        analysis: Analysis = optimizer.ask(prompt, fields, purpose=PURPOSE, slot=slot).answer
    except ReplyError as error:
        return minibatch.without_patch(str(error))
    except CallError as error:
        return error
    return analysis.as_patch(minibatch.without_patch(), targets)


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
