"""Proposing a candidate: reflect, aggregate, learning rate, select, update.

The backward pass of a step, in each of its update modes. It is told which skill, which graded
rollouts and what came before, and knows nothing of epochs or of a run's state.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from skillgit.config import Config, LrMode, Style, UpdateMode
from skillgit.gate import mean_score
from skillgit.gate.guards.length import is_too_long
from skillgit.history import AppendixRecord
from skillgit.prompting.prompts import Optimizer
from skillgit.records import (
    Edit,
    EditOutcome,
    GradedRollout,
    LearningRate,
    Outcome,
    RawPatch,
    Record,
    Selection,
    Skill,
)
from skillgit.records.canonical import slot_seed
from skillgit.runtime.progress import Progress
from skillgit.stages.aggregate import Merged, merge_patches
from skillgit.stages.appendix import append_notes, aware_analysts
from skillgit.stages.learning_rate import (
    decide_autonomous_learning_rate,
    scheduled_learning_rate,
)
from skillgit.stages.reflect import RULE_WRITERS, Analysts, run_minibatch_reflect
from skillgit.stages.rewrite import (
    AUTHORS,
    Rewritten,
    apply_draft,
    merge_drafts,
    rewrite_from_suggestions,
)
from skillgit.stages.select import rank_and_select
from skillgit.stages.support import unsupported
from skillgit.stages.update import update_within


@dataclass(frozen=True)
class StepInputs:
    """What a candidate is made from: the skill, what came before, and whom to ask.

    `rejected` are edits that were rejected alone on this very text.
    """

    config: Config
    skill: Skill
    step: int
    total_steps: int
    step_buffer: str
    meta_skill: str
    rejected: Collection[Edit]
    optimizer: Optimizer
    progress: Progress


class Candidate(Record):
    """A candidate with all that led to it; every edit proposed has one outcome.

    `edited` is its skill before notes were added to its appendix.
    """

    skill: Skill
    edited: Skill
    raw_patches: tuple[RawPatch, ...]
    merge_fallback: bool
    learning_rate: LearningRate | None
    outcomes: tuple[EditOutcome, ...]
    ranking: str = ""
    ranking_fallback: bool = False
    failures: tuple[str, ...] = ()
    appendix: AppendixRecord | None = None


def build_candidate(inputs: StepInputs, batches: Sequence[Sequence[GradedRollout]]) -> Candidate:
    """The candidate that a step's rollouts ask for.

    Shape: the rollouts batch by batch; each batch is reflected on by itself.
    Raises: BlockedError, BudgetError.
    """
    raw_patches = _reflect(inputs, batches)
    inputs.progress.begin("aggregate")
    if inputs.config.train.update_mode is UpdateMode.FULL_REWRITE_MINIBATCH:
        candidate = _by_draft(inputs, raw_patches)
    else:
        candidate = _by_edits(inputs, raw_patches, [g for batch in batches for g in batch])
    return _with_notes(inputs, candidate)


# ── reflect ──────────────────────────────────────────────────────────────────────────────────


def _reflect(
    inputs: StepInputs, batches: Sequence[Sequence[GradedRollout]]
) -> tuple[RawPatch, ...]:
    """The backward pass, one optimizer call for each minibatch of each batch."""
    config, patches = inputs.config, list[RawPatch]()
    inputs.progress.begin("reflect")
    for number, graded in enumerate(batches):
        slots = f"batch{number}/" if number else ""
        patches += run_minibatch_reflect(
            graded,
            inputs.skill,
            inputs.optimizer,
            edit_budget=config.lr.max,
            minibatch_size=config.train.minibatch_size,
            failure_only=config.train.failure_only,
            max_chars=config.reflect.max_chars,
            seed=slot_seed(config.train.seed, f"{slots}reflect", inputs.step),
            step_buffer=inputs.step_buffer,
            meta_skill=inputs.meta_skill,
            workers=inputs.optimizer.workers,
            analysts=_analysts(config),
            slots=slots,
        )
    return tuple(patches)


def _analysts(config: Config) -> Analysts | None:
    if config.train.update_mode is UpdateMode.FULL_REWRITE_MINIBATCH:
        return AUTHORS
    if config.optimizer.style is Style.PLAIN:
        return RULE_WRITERS
    if config.reflect.skill_aware:
        return aware_analysts(config.reflect.appendix_source)
    return None


# ── edits, and suggestions ───────────────────────────────────────────────────────────────────


def _by_edits(
    inputs: StepInputs, raw_patches: tuple[RawPatch, ...], graded: Sequence[GradedRollout]
) -> Candidate:
    """The patches merged into one list, clipped to the learning rate, and made into a text."""
    config, skill = inputs.config, inputs.skill

    # Aggregate: the patches of all minibatches become one list of edits.
    merged: Merged = merge_patches(
        raw_patches,
        skill,
        inputs.optimizer,
        merge_batch_size=config.train.merge_batch_size,
        workers=inputs.optimizer.workers,
        meta_skill=inputs.meta_skill,
        ask=config.optimizer.style is Style.FULL,
    )
    known, fresh = _known_apart(inputs, merged.edits)

    # Learning rate and select: how many edits this step may apply, and which.
    inputs.progress.begin("select")
    rate = _learning_rate(inputs, fresh, graded)
    selection = rank_and_select(
        fresh,
        rate.learning_rate,
        skill,
        inputs.optimizer,
        meta_skill=inputs.meta_skill,
        ask=config.optimizer.style is Style.FULL,
    )

    # Update: the edits are tried on the documents, each with its outcome.
    updated = _updated(inputs, selection)
    return Candidate(
        skill=updated.skill,
        edited=updated.skill,
        raw_patches=raw_patches,
        merge_fallback=merged.fallback,
        learning_rate=rate,
        outcomes=(
            *updated.outcomes,
            *(EditOutcome(edit=e, outcome=Outcome.OVER_BUDGET) for e in selection.over_budget),
            *(EditOutcome(edit=e, outcome=Outcome.KNOWN_REJECTED) for e in known),
            *(EditOutcome(edit=e, outcome=Outcome.UNSUPPORTED) for e in unsupported(raw_patches)),
        ),
        ranking=selection.reasoning,
        ranking_fallback=selection.fallback,
        failures=updated.failures,
    )


def _known_apart(inputs: StepInputs, edits: Sequence[Edit]) -> tuple[list[Edit], list[Edit]]:
    """The edits that were rejected alone on this very text, and all others."""

    def content(edit: Edit) -> tuple[str | None, ...]:
        return (edit.op, inputs.skill.path_of(edit.target), edit.anchor, edit.content)

    alone = {content(edit) for edit in inputs.rejected}
    known = [edit for edit in edits if content(edit) in alone]
    return known, [edit for edit in edits if content(edit) not in alone]


def _learning_rate(
    inputs: StepInputs, edits: Sequence[Edit], graded: Sequence[GradedRollout]
) -> LearningRate:
    config = inputs.config.lr
    if config.mode is not LrMode.AUTONOMOUS:
        return scheduled_learning_rate(config, inputs.step, inputs.total_steps, len(edits))
    return decide_autonomous_learning_rate(
        edits,
        inputs.skill,
        inputs.optimizer,
        rollout_score=mean_score(g.grade.score for g in graded if g.grade.score is not None),
        n_rollouts=len(graded),
        step_buffer=inputs.step_buffer,
        meta_skill=inputs.meta_skill,
    )


def _updated(inputs: StepInputs, selection: Selection) -> Rewritten:
    """The candidate that the selected edits make, one by one or as suggestions for a rewrite."""
    config, skill = inputs.config, inputs.skill
    if config.train.update_mode is UpdateMode.PATCH:
        candidate, outcomes = update_within(
            skill, selection.edits, max_tokens=config.skill.max_tokens
        )
        return Rewritten(skill=candidate, outcomes=outcomes)
    inputs.progress.begin("rewrite")
    rewritten = rewrite_from_suggestions(
        skill,
        selection.edits,
        inputs.optimizer,
        step_buffer=inputs.step_buffer,
        meta_skill=inputs.meta_skill,
    )
    return _within_length(inputs, rewritten)


def _within_length(inputs: StepInputs, rewritten: Rewritten) -> Rewritten:
    """A rewrite that goes beyond the length budget is left out whole."""
    if not is_too_long(rewritten.skill, inputs.skill, inputs.config.skill.max_tokens):
        return rewritten
    return Rewritten(
        skill=inputs.skill,
        outcomes=tuple(
            EditOutcome(edit=o.edit, outcome=Outcome.TOO_LONG) if o.outcome.changed_text else o
            for o in rewritten.outcomes
        ),
        failures=rewritten.failures,
    )


# ── whole documents ──────────────────────────────────────────────────────────────────────────


def _by_draft(inputs: StepInputs, raw_patches: tuple[RawPatch, ...]) -> Candidate:
    """The documents that the analysts wrote, merged into one; no learning rate bounds it."""
    config, skill = inputs.config, inputs.skill
    merged = merge_drafts(
        raw_patches,
        skill,
        inputs.optimizer,
        merge_batch_size=config.train.merge_batch_size,
        workers=inputs.optimizer.workers,
        meta_skill=inputs.meta_skill,
    )
    updated = _drafted(inputs, merged.edit)
    return Candidate(
        skill=updated.skill,
        edited=updated.skill,
        raw_patches=raw_patches,
        merge_fallback=merged.fallback,
        learning_rate=None,
        outcomes=updated.outcomes,
        failures=(*merged.failures, *updated.failures),
    )


def _drafted(inputs: StepInputs, edit: Edit | None) -> Rewritten:
    if edit is None:
        return Rewritten(skill=inputs.skill, outcomes=())
    known, _ = _known_apart(inputs, [edit])
    if known:
        outcome = EditOutcome(edit=edit, outcome=Outcome.KNOWN_REJECTED)
        return Rewritten(skill=inputs.skill, outcomes=(outcome,))
    return _within_length(inputs, apply_draft(inputs.skill, edit))


# ── notes on lapses ──────────────────────────────────────────────────────────────────────────


def _with_notes(inputs: StepInputs, candidate: Candidate) -> Candidate:
    """The candidate with a note in its appendix for every lapse that the analysts saw."""
    lapses = [lapse for patch in candidate.raw_patches for lapse in patch.lapses]
    if not lapses:
        return candidate
    inputs.progress.begin("appendix")
    config = inputs.config
    appended = append_notes(
        candidate.edited, lapses, inputs.optimizer, most=config.reflect.appendix_max
    )
    if not appended.added:
        return candidate
    if is_too_long(appended.skill, inputs.skill, config.skill.max_tokens):
        failure = "the notes would make the skill too long"
        return candidate.model_copy(update={"appendix": AppendixRecord(failure=failure)})
    record = AppendixRecord(
        added=appended.added, consolidated=appended.consolidated, failure=appended.failure
    )
    return candidate.model_copy(update={"skill": appended.skill, "appendix": record})
