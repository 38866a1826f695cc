"""Reflect: the backward pass. Analysts read minibatches of trajectories and propose edits."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Generic, TypeVar

from pydantic import Field, field_validator, model_validator
from pydantic.json_schema import SkipJsonSchema

from skillgit.editing.document import Region
from skillgit.editing.matching import LIST_MARK, fold
from skillgit.editing.numbered_lines import NumberedSkill
from skillgit.errors import BlockedError, CallError, ContextError, ReplyError
from skillgit.prompting.answers import Answer, Count, Items, ItemsIfAny, Text, Texts, WholeNumbers
from skillgit.prompting.edit_schema import EditAnswer, EditsAnswer, Number
from skillgit.prompting.prompts import Optimizer, Prompt
from skillgit.records import (
    Edit,
    EditOp,
    FailurePattern,
    GradedRollout,
    Patch,
    RawPatch,
    Record,
    Skill,
    SourceType,
)
from skillgit.runtime.pool import ordered_map
from skillgit.stages.reasons import Reasons
from skillgit.stages.reasons import failure_patterns as failure_patterns
from skillgit.stages.rendering import (
    NOTHING_YET,
    numbered_skill,
    on_one_line,
    render_attempts,
    shown_skill,
)

PURPOSE = "reflect"
PATTERN_CHARS = 300
SHORTEST_ATTEMPT = 250
"""Less of an attempt is not shown, however short a context is. Unit: characters."""
SHORTEST_COPY = 20
"""What is shorter may stand in a prompt by chance. Unit: characters."""


class ReflectFields(Record):
    """What an analyst is shown."""

    skill: str
    edit_budget: str
    step_buffer: str
    meta_skill: str
    trajectories: str


class FailureFields(ReflectFields):
    """What the error analyst is shown: why the attempts fell short, too."""

    reasons: str


class PlainFields(Record):
    """What an analyst is shown who only writes rules."""

    skill: str
    edit_budget: str
    step_buffer: str
    reasons: str
    trajectories: str


class ProposedEdit(EditAnswer):
    """One edit, as an analyst writes it: for numbered reasons, or shown by numbered answers."""

    reasons: Annotated[WholeNumbers, SkipJsonSchema()] = Field(default_factory=list, exclude=True)
    attempts: Annotated[WholeNumbers, SkipJsonSchema()] = Field(default_factory=list, exclude=True)


class MendingEdit(ProposedEdit):
    """One edit of the error analyst."""

    reasons: WholeNumbers = Field(description="The numbers of the reasons that it answers.")


class KeepingEdit(ProposedEdit):
    """One edit of the success analyst."""

    attempts: WholeNumbers = Field(description="The numbers of the answers that show it.")


class FailureKind(Answer):
    """One kind of failure as an analyst may name it; nobody is asked to."""

    failure_type: Text
    description: Text
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


ProposedT = TypeVar("ProposedT", bound=ProposedEdit)


@dataclass(frozen=True)
class Shown:
    """What an analyst saw of a minibatch: the skill's numbered lines, the reasons, the prompt."""

    numbered: NumberedSkill
    reasons: Reasons
    prompt: str = ""

    def is_copied(self, content: str) -> bool:
        """Whether a rule is only what the prompt says itself, as a small model may answer."""
        words = fold(LIST_MARK.sub("", content, count=1))
        return len(words) > SHORTEST_COPY and words in fold(self.prompt)


class Analysis(Answer):
    """An analyst's answer: the root of what minibatches' patches are made of."""

    thought: Text = Field(description="Two sentences at most.")
    reasoning: Annotated[Text, SkipJsonSchema()] = Field(default="", exclude=True)
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

    def as_patch(self, minibatch: RawPatch, shown: Shown) -> RawPatch:  # noqa: ARG002 - analyses with edits need it
        """The minibatch's patch."""
        return minibatch.model_copy(
            update={
                "patch": Patch(reasoning=self.thought or self.reasoning),
                "failure_summary": tuple(k.as_pattern(minibatch) for k in self.failure_summary),
            }
        )


class EditAnalysis(Analysis, EditsAnswer, Generic[ProposedT]):
    """An analyst's answer that proposes edits."""

    edits: Items[ProposedT]

    def as_patch(self, minibatch: RawPatch, shown: Shown) -> RawPatch:
        """The minibatch's patch with the edits that could be read."""
        edits = tuple(_with_support(edit, minibatch, shown) for edit in self.edits)
        patch = super().as_patch(minibatch, shown)
        return patch.model_copy(
            update={
                "patch": patch.patch.model_copy(update={"edits": edits}),
                "dropped": self.left_out("edits"),
            }
        )


class FailureAnalysis(EditAnalysis[MendingEdit]):
    """The error analyst's answer."""


class SuccessAnalysis(EditAnalysis[KeepingEdit]):
    """The success analyst's answer."""


class PlainRule(Answer):
    """One rule against one fault."""

    fault: Number = Field(description="The number of the fault.")
    rule: str = Field(description="The order to the agent.")


class PlainAnalysis(Analysis):
    """The answer of an analyst who only writes rules: where they stand is for the program."""

    bare_list: ClassVar[str] = "rules"

    thought: Annotated[Text, SkipJsonSchema()] = Field(default="", exclude=True)
    rules: Items[PlainRule]

    def as_patch(self, minibatch: RawPatch, shown: Shown) -> RawPatch:
        """The minibatch's patch: each rule an addition."""
        edits = tuple(
            _supported(
                shown.numbered.edit(EditOp.ADD, 0, rule.rule), [rule.fault], minibatch, shown
            )
            for rule in self.rules
        )
        return minibatch.model_copy(
            update={"patch": Patch(edits=edits), "dropped": self.left_out("rules")}
        )


REFLECT_FAILURES = Prompt("reflect_failures", FailureFields, FailureAnalysis)
REFLECT_SUCCESSES = Prompt("reflect_successes", ReflectFields, SuccessAnalysis)
REFLECT_PLAIN = Prompt("reflect_plain", PlainFields, PlainAnalysis)


@dataclass(frozen=True)
class Analysts:
    """One way to reflect: the prompts of the two analysts, whose answers are analyses.

    `successes` is `None` where nobody looks at good attempts. `is_plain` says that the skill is
    shown without numbers, for models that would take them for the thing itself.
    """

    failures: Prompt[Any, Any]
    successes: Prompt[Any, Any] | None
    item: str = "edit"
    is_plain: bool = False

    def prompt(self, source_type: SourceType) -> Prompt[Any, Any]:
        """The prompt of the analyst who looks at attempts of a kind."""
        if source_type is SourceType.SUCCESS and self.successes is not None:
            return self.successes
        return self.failures


EDITORS = Analysts(REFLECT_FAILURES, REFLECT_SUCCESSES)
"""The usual analysts: they propose edits."""

RULE_WRITERS = Analysts(REFLECT_PLAIN, None, item="rule", is_plain=True)
"""The analyst that a small model can be: one rule against each fault, and nothing else."""


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
    region: Region | None = None,
    slots: str = "",
) -> tuple[RawPatch, ...]:
    """Each minibatch's patch, or the record of why there is none; every call in parallel.

    Without other `analysts`, those that propose edits are asked. With a `region`, they may change
    its bullets alone. `slots` is what the calls' slots begin with, where a step reflects more
    than once. More edits than the budget are kept as they were proposed: select cuts them. An
    edit that answers no reason has a support of 0.
    Shape: one patch per minibatch, failures first, in minibatch order.
    Unit: `max_chars` in characters of one trajectory.
    Raises: BlockedError, also when every call failed; BudgetError.
    """
    who = analysts or EDITORS
    minibatches = cut_minibatches(
        graded,
        minibatch_size=minibatch_size,
        failure_only=failure_only or who.successes is None,
        seed=seed,
    )
    numbered = NumberedSkill(skill, region)
    fields = {
        "skill": shown_skill(skill) if who.is_plain else numbered_skill(numbered),
        "path": skill.main.path,
        "edit_budget": _budget_words(edit_budget, who.item),
        "step_buffer": step_buffer or NOTHING_YET,
        "meta_skill": meta_skill or NOTHING_YET,
    }

    def analyse(minibatch: Minibatch) -> RawPatch | CallError:
        result = ask(minibatch, max_chars)
        for number, chars in _smaller(len(minibatch.graded), max_chars):
            if not isinstance(result, ContextError):
                break
            result = ask(replace(minibatch, graded=minibatch.graded[:number]), chars)
            if isinstance(result, RawPatch):
                told = f"{number} of {len(minibatch.graded)} attempts, {chars} characters of each"
                result = result.model_copy(update={"shortened": told})
        return result

    def ask(minibatch: Minibatch, chars: int) -> RawPatch | CallError:
        reasons = Reasons.of(minibatch.graded)
        shown = fields | {
            "reasons": reasons.shown(),
            "trajectories": render_attempts(minibatch.graded, reasons.numbers_at, chars),
        }
        slot = f"{slots}{minibatch.source_type.value}/{minibatch.index}"
        prompt = who.prompt(minibatch.source_type)
        seen = Shown(numbered, reasons, optimizer.texts[prompt.name])
        return _ask_analyst(minibatch, shown, seen, optimizer, prompt, slot)

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


def _smaller(attempts: int, max_chars: int) -> Iterator[tuple[int, int]]:
    """What to show instead where a model's context is too short: fewer attempts, then less of one.

    Unit: attempts, and characters of each.
    """
    while attempts > 1:
        attempts //= 2
        yield attempts, max_chars
    while max_chars >= 2 * SHORTEST_ATTEMPT:
        max_chars //= 2
        yield attempts, max_chars


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


def _budget_words(edit_budget: int | None, item: str) -> str:
    if edit_budget is None:
        return f"as many {item}s as the evidence asks for"
    return f"at most {edit_budget} {item}{'' if edit_budget == 1 else 's'}"


def _ask_analyst(
    minibatch: Minibatch,
    fields: Mapping[str, str],
    shown: Shown,
    optimizer: Optimizer,
    prompt: Prompt[Any, Any],
    slot: str,
) -> RawPatch | CallError:
    """The minibatch's patch, or the call's error, which is for the caller to judge."""
    filled = prompt.fields(**{name: fields[name] for name in prompt.fields.model_fields})
    try:
        analysis: Analysis = optimizer.ask(prompt, filled, purpose=PURPOSE, slot=slot).answer
    except ReplyError as error:
        return minibatch.without_patch(str(error))
    except CallError as error:
        return error
    return analysis.as_patch(minibatch.without_patch(), shown)


def _with_support(proposed: ProposedEdit, minibatch: RawPatch, shown: Shown) -> Edit:
    """The edit with what stands behind it, which the program works out; claims do not count."""
    edit = proposed.as_edit(shown.numbered)
    if proposed.task_ids or not (proposed.reasons or proposed.attempts):
        named = tuple(i for i in edit.task_ids if i in minibatch.task_ids)
        known = len(named) or int(not proposed.is_by_line)
        update = {"task_ids": named, "support_count": known}
        return edit.model_copy(update=update | {"source_type": minibatch.source_type})
    if minibatch.source_type is SourceType.FAILURE:
        return _supported(edit, proposed.reasons, minibatch, shown)
    numbers = () if shown.is_copied(edit.content) else proposed.attempts
    tasks = shown.reasons.tasks_at(number - 1 for number in numbers)
    return edit.model_copy(
        update={
            "task_ids": tasks,
            "support_count": len(tasks),
            "source_type": minibatch.source_type,
        }
    )


def _supported(edit: Edit, numbers: Sequence[int], minibatch: RawPatch, shown: Shown) -> Edit:
    """The edit with the attempts behind the reasons that it answers, by number or by their words."""
    reasons = shown.reasons.meant(numbers) or shown.reasons.named_in(edit.content)
    if shown.is_copied(edit.content):
        reasons = ()
    places = {place for reason in reasons for place in reason.attempts}
    return edit.model_copy(
        update={
            "task_ids": shown.reasons.tasks(reasons),
            "support_count": len(places),
            "source_type": minibatch.source_type,
            "rationale": edit.rationale or "; ".join(reason.text for reason in reasons),
        }
    )
