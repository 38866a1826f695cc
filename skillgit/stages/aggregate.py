"""Aggregate: the patches of all minibatches become one list of edits, as gradients accumulate."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, JsonValue
from pydantic.json_schema import SkipJsonSchema

from skillgit.editing.numbered_lines import NumberedSkill, reworded
from skillgit.errors import CallError, ReplyError
from skillgit.prompting.answers import Items, Text, TextOrNull, WholeNumbers
from skillgit.prompting.edit_schema import EditAnswer, EditsAnswer, operation_named
from skillgit.prompting.prompts import Optimizer, Prompt
from skillgit.records import MAIN_ALIAS, Edit, EditOp, RawPatch, Record, Skill, SourceType
from skillgit.runtime.pool import ordered_map
from skillgit.stages.rendering import NOTHING_YET, shown_edits, shown_skill
from skillgit.stages.schedule import in_batches
from skillgit.stages.support import EditDeduplicator, SupportedEdit, supported_patches

PURPOSE = "aggregate"

_WORD = re.compile(r"\w+")


class MergeFields(Record):
    """What a merger is shown."""

    skill: str
    edits: str
    meta_skill: str


def _operation_if_any(value: JsonValue) -> str:
    return operation_named(value) if value else ""


class MergedEdit(EditAnswer):
    """One edit, as a merger is asked to write it: where it goes is settled by its first source."""

    op: Annotated[
        Literal["", "add", "replace", "delete"],
        BeforeValidator(_operation_if_any),
        SkipJsonSchema(),
    ] = Field(default="", exclude=True)  # type: ignore[assignment]
    line: Annotated[int, SkipJsonSchema()] = Field(default=0, exclude=True)
    sources: WholeNumbers = Field(description="The indices of the edits that this one stands for.")
    text: TextOrNull = Field(description="The clearest wording; empty to keep that of the first.")


class MergedPatch(EditsAnswer):
    """A merger's answer."""

    reasoning: Annotated[Text, SkipJsonSchema()] = Field(default="", exclude=True)
    edits: Items[MergedEdit]


MERGE_FAILURES = Prompt("merge_failures", MergeFields, MergedPatch)
MERGE_SUCCESSES = Prompt("merge_successes", MergeFields, MergedPatch)
MERGE_FINAL = Prompt("merge_final", MergeFields, MergedPatch)


class Merged(Record):
    """The step's edits; `fallback` says that some are only strung together, `failures` why."""

    edits: tuple[Edit, ...] = ()
    fallback: bool = False
    failures: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Group:
    """Edits that are merged, or were, and what went wrong on the way."""

    edits: tuple[SupportedEdit, ...]
    failures: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Job:
    """One merge to make: its prompt, its slot, and the groups that go into it."""

    prompt: Prompt[MergeFields, MergedPatch]
    slot: str
    groups: tuple[_Group, ...]


def merge_patches(
    raw_patches: Sequence[RawPatch],
    skill: Skill,
    optimizer: Optimizer,
    *,
    merge_batch_size: int,
    workers: int,
    meta_skill: str,
    ask: bool = True,
) -> Merged:
    """One list of edits: failures merged among themselves, successes too, then both.

    Without `ask`, nobody is asked: of the edits that answer the same reasons the first stands for
    all of them.

    Where a merge fails, its edits are strung together, failures first. An edit's support counts
    the distinct trajectories behind all the edits it stands for.
    Raises: BlockedError, BudgetError.
    """
    if merge_batch_size < 2:
        raise ValueError(f"a merge takes at least two patches, not {merge_batch_size}")
    fold = EditDeduplicator(skill)
    if not ask:
        return _merged_by_reason(raw_patches, fold)

    def merge(job: _Job) -> _Group:
        return _merge(job, skill, optimizer, fold, meta_skill)

    sides = {
        source_type: [_Group(edits) for edits in supported_patches(raw_patches, source_type)]
        for source_type in SourceType
    }
    level = 0
    while any(len(groups) > 1 for groups in sides.values()):
        jobs = {
            source_type: _jobs(source_type, groups, level, merge_batch_size)
            for source_type, groups in sides.items()
        }
        done = iter(ordered_map(merge, [job for side in jobs.values() for job in side], workers))
        sides = {source_type: [next(done) for _ in side] for source_type, side in jobs.items()}
        level += 1
    last = merge(_Job(MERGE_FINAL, "final", tuple(g for side in sides.values() for g in side)))
    return Merged(
        edits=tuple(supported.edit for supported in last.edits),
        fallback=bool(last.failures),
        failures=last.failures,
    )


def _merged_by_reason(raw_patches: Sequence[RawPatch], fold: EditDeduplicator) -> Merged:
    groups: dict[str, list[SupportedEdit]] = {}
    for source_type in SourceType:
        for edits in supported_patches(raw_patches, source_type):
            for supported in fold(edits):
                groups.setdefault(supported.edit.rationale, []).append(supported)
    merged = [SupportedEdit.of(g[0].edit, g, merged=len(g) > 1) for g in groups.values()]
    return Merged(edits=tuple(supported.edit for supported in fold(merged)))


def _jobs(
    source_type: SourceType, groups: Sequence[_Group], level: int, merge_batch_size: int
) -> list[_Job]:
    prompt = MERGE_FAILURES if source_type is SourceType.FAILURE else MERGE_SUCCESSES
    return [
        _Job(prompt, f"{source_type.value}/{level}/{index}", batch)
        for index, batch in enumerate(in_batches(groups, merge_batch_size))
    ]


def _merge(
    job: _Job, skill: Skill, optimizer: Optimizer, fold: EditDeduplicator, meta_skill: str
) -> _Group:
    """The groups as one; a group alone, or edits of which no two touch, need no call."""
    if len(job.groups) == 1:
        return job.groups[0]
    edits = fold(supported for group in job.groups for supported in group.edits)
    failures = tuple(failure for group in job.groups for failure in group.failures)
    if not _has_something_to_decide([supported.edit for supported in edits], skill):
        return _Group(edits, failures)
    fields = MergeFields(
        skill=shown_skill(skill),
        edits=shown_edits([supported.edit for supported in edits]),
        meta_skill=meta_skill or NOTHING_YET,
    )
    numbered = NumberedSkill(skill)

    def supported(answer: MergedPatch) -> tuple[SupportedEdit, ...]:
        if not answer.edits:
            raise ReplyError("it keeps none of the edits")
        return fold(_supported(merged, edits, fold, numbered) for merged in answer.edits)

    try:
        answered = optimizer.ask(
            job.prompt, fields, purpose=PURPOSE, slot=job.slot, accept=supported
        )
    except (ReplyError, CallError) as error:
        return _Group(edits, (*failures, f"{job.slot}: {error}"))
    return _Group(answered.answer, failures)


def _supported(
    merged: MergedEdit,
    sources: tuple[SupportedEdit, ...],
    fold: EditDeduplicator,
    numbered: NumberedSkill,
) -> SupportedEdit:
    """A merged edit with the support of what it stands for, at the place of the first of it.

    In the older form it is a whole edit, which may stand for what it is equal to.
    """
    behind = [sources[index] for index in merged.sources if 0 <= index < len(sources)]
    if merged.is_by_line:
        if not behind:
            raise ReplyError("an edit that stands for none of the edits")
        if len(behind) == 1 and not merged.text.strip():
            return behind[0]
        first = behind[0].edit
        edit = reworded(first, merged.text) if merged.text.strip() else first
        return SupportedEdit.of(edit, behind, merged=True)
    edit = merged.as_edit(numbered)
    behind = behind or [source for source in sources if fold.key(source.edit) == fold.key(edit)]
    if not behind:
        # What it stands for is not known: one trajectory, and of the kind that all of them are.
        kinds = {source.edit.source_type for source in sources}
        kind = SourceType.joined(kinds)
        level = 1 + max(source.edit.merge_level for source in sources)
        update = {"support_count": 1, "task_ids": (), "source_type": kind, "merge_level": level}
        return SupportedEdit(edit.model_copy(update=update), ())
    return SupportedEdit.of(edit, behind, merged=True)


# ── what needs no merger ─────────────────────────────────────────────────────────────────────

ALIKE = 0.25
"""From this share of common words on, two texts may say the same."""


def _has_something_to_decide(edits: Sequence[Edit], skill: Skill) -> bool:
    return any(touch(one, other, skill.main.path) for one, other in combinations(edits, 2))


def touch(one: Edit, other: Edit, main: str) -> bool:
    """Whether two edits may say the same, contradict each other or want the same place."""
    if MAIN_ALIAS in (one.target, other.target):
        one, other = (
            e.model_copy(update={"target": main if e.target == MAIN_ALIAS else e.target})
            for e in (one, other)
        )
    same_document = one.target == other.target
    if same_document and one.anchor and one.anchor == other.anchor:
        return True
    ours, theirs = _words(one), _words(other)
    return len(ours & theirs) >= ALIKE * max(1, min(len(ours), len(theirs)))


def _words(edit: Edit) -> frozenset[str]:
    text = f"{edit.content} {edit.anchor if edit.op is not EditOp.ADD else ''}"
    return frozenset(word for word in _WORD.findall(text.casefold()) if len(word) > 3)
