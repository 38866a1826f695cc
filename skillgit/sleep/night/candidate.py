"""The edits of a night's step: asked for, merged, sifted, and tried in one learned region."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from skillgit.config import Style
from skillgit.editing.document import Region
from skillgit.prompting.prompts import Optimizer, Prompt
from skillgit.records import (
    Edit,
    EditOutcome,
    GradedRollout,
    Outcome,
    RawPatch,
    Selection,
    Skill,
    SkillDocument,
)
from skillgit.records.canonical import slot_seed
from skillgit.records.skills import path_meant
from skillgit.redaction import MARK, redact
from skillgit.sleep.memory.privacy import quotes_request
from skillgit.sleep.memory.state import MEMORY, says_any
from skillgit.sleep.night.plan import MAX_EDITS, Night
from skillgit.stages.aggregate import merge_patches
from skillgit.stages.comparison import build_comparison_pairs, shown_pairs
from skillgit.stages.reflect import (
    RULE_WRITERS,
    Analysts,
    FailureAnalysis,
    FailureFields,
    ReflectFields,
    SuccessAnalysis,
    run_minibatch_reflect,
)
from skillgit.stages.select import rank_and_select
from skillgit.stages.step_buffer import format_step_buffer
from skillgit.stages.support import unsupported
from skillgit.stages.update import update_within
from skillgit.training.state import TrainingState


@dataclass(frozen=True)
class Tried:
    """What became of the edits of a step: the candidate, and one outcome for each edit."""

    candidate: Skill
    outcomes: tuple[EditOutcome, ...] = ()
    raw_patches: tuple[RawPatch, ...] = ()
    merge_fallback: bool = False
    selection: Selection | None = None
    known: bool = False


def try_edits(
    setup: Night,
    state: TrainingState,
    path: str,
    graded: Sequence[GradedRollout],
    optimizer: Optimizer,
    step: int,
) -> Tried:
    """Reflect, aggregate, select and update, for the learned region of one document."""
    config, progress = setup.config, setup.evaluator.progress
    is_plain = config.optimizer.style is Style.PLAIN
    current = _with_document(state.current.skill, path)
    shown = shown_to_edit(current, path)
    progress.begin("reflect")
    raw_patches = run_minibatch_reflect(
        graded,
        shown,
        optimizer,
        edit_budget=MAX_EDITS,
        minibatch_size=config.train.minibatch_size,
        failure_only=config.train.failure_only,
        max_chars=config.reflect.max_chars,
        seed=slot_seed(config.train.seed, "reflect", step),
        step_buffer=_feedback(setup, state, graded),
        meta_skill=setup.plan.slow_memory,
        workers=config.train.workers,
        analysts=RULE_WRITERS if is_plain else NIGHT_ANALYSTS,
        region=Region.LEARNED,
    )
    progress.begin("aggregate")
    merged = merge_patches(
        raw_patches,
        shown,
        optimizer,
        merge_batch_size=config.train.merge_batch_size,
        workers=config.train.workers,
        meta_skill=setup.plan.slow_memory,
        ask=not is_plain,
    )
    named = [_naming(edit, path, setup.plan.memory) for edit in merged.edits]
    settled = {
        i: outcome for i, e in enumerate(named) if (outcome := _settled(setup, state, e, step))
    }
    fresh = [edit for i, edit in enumerate(named) if i not in settled]
    progress.begin("select")
    selection = rank_and_select(
        fresh,
        MAX_EDITS,
        shown,
        optimizer,
        meta_skill=setup.plan.slow_memory,
        ask=not is_plain,
    )
    candidate, done = update_within(
        current, selection.edits, max_tokens=config.skill.max_tokens, region=Region.LEARNED
    )
    outcomes = (
        *done,
        *(EditOutcome(edit=e, outcome=Outcome.OVER_BUDGET) for e in selection.over_budget),
        *(EditOutcome(edit=named[i], outcome=outcome) for i, outcome in settled.items()),
        *(
            EditOutcome(edit=_naming(e, path, setup.plan.memory), outcome=Outcome.UNSUPPORTED)
            for e in unsupported(raw_patches)
        ),
    )
    tried = Tried(candidate, outcomes, raw_patches, merged.fallback, selection)
    if not any(outcome.outcome.changed_text for outcome in done):
        return replace(tried, candidate=state.current.skill)
    return _unless_known(setup, state, tried, step)


def _with_document(skill: Skill, path: str) -> Skill:
    """The skill with a document of that path, an empty one where there is none yet."""
    if any(document.path == path for document in skill.documents):
        return skill
    new = SkillDocument(path=path, data=b"")
    return Skill(name=skill.name, documents=(*skill.documents, new))


def _feedback(setup: Night, state: TrainingState, graded: Sequence[GradedRollout]) -> str:
    parts = (setup.plan.earlier, format_step_buffer(state.epoch_notes), contrasts(graded))
    return "\n".join(part for part in parts if part)


def _naming(edit: Edit, path: str, memory: str | None) -> Edit:
    """The edit with its document's path; one that names nothing means the document at hand."""
    aliases = {MEMORY: memory or MEMORY}
    meant = aliases.get(edit.target, path_meant(edit.target, path))
    return edit.model_copy(update={"target": meant})


def _settled(setup: Night, state: TrainingState, edit: Edit, step: int) -> Outcome | None:
    """What is known of an edit without trying it; a secret or a request is never tried."""
    if edit.target != setup.document(step):
        return Outcome.UNKNOWN_TARGET
    requests = tuple(task.prompt for task in setup.tasks.tasks)
    if MARK in redact(edit.content) or quotes_request(edit.content, requests):
        return Outcome.PROTECTED
    if says_any(edit, setup.plan.banned, anywhere=True):
        return Outcome.KNOWN_REJECTED
    if says_any(edit, setup.rejected_alone(state, step)):
        return Outcome.KNOWN_REJECTED
    return Outcome.DUPLICATE if says_any(edit, setup.plan.pending, anywhere=True) else None


def _unless_known(setup: Night, state: TrainingState, tried: Tried, step: int) -> Tried:
    """The candidate, unless this very set was rejected on this very text before."""
    made = setup.store.object_id(tried.candidate)
    lines = setup.store.rejections(made, setup.run_head.target, before=setup.position(step))
    on = state.current.measurements.object_id
    if not any(line.tried_on == on and line.object == made for line in lines):
        return tried
    outcomes = tuple(
        o.model_copy(update={"outcome": Outcome.KNOWN_REJECTED}) if o.outcome.changed_text else o
        for o in tried.outcomes
    )
    return replace(tried, candidate=state.current.skill, outcomes=outcomes, known=True)


# ── How a night asks for edits: the analysts' prompts for bullets in a learned region.

NIGHT_FAILURES = Prompt("night_failures", FailureFields, FailureAnalysis)
NIGHT_SUCCESSES = Prompt("night_successes", ReflectFields, SuccessAnalysis)

NIGHT_ANALYSTS = Analysts(NIGHT_FAILURES, NIGHT_SUCCESSES)

CONTRAST_CHARS = 2_000
"""How much of each attempt of a contrast is shown. Unit: characters."""

MOST_CONTRASTS = 6


def shown_to_edit(skill: Skill, path: str) -> Skill:
    """The skill with the document that is edited first, which is how an analyst knows it."""
    own = [document for document in skill.documents if document.path == path]
    others = [document for document in skill.documents if document.path != path]
    return Skill(name=skill.name, documents=(*own, *others))


def contrasts(graded: Sequence[GradedRollout]) -> str:
    """Tasks of which one attempt passed and another did not, side by side; empty without any."""
    by_task = sorted(graded, key=lambda g: g.task.id)
    worse: list[GradedRollout] = []
    better: list[GradedRollout] = []
    for _, attempts in groupby(by_task, key=lambda g: g.task.id):
        scored = [g for g in attempts if g.grade.score is not None]
        passed = [g for g in scored if g.grade.passed]
        failed = [g for g in scored if not g.grade.passed]
        if passed and failed and len(worse) < MOST_CONTRASTS:
            worse.append(failed[0])
            better.append(passed[0])
    if not worse:
        return ""
    pairs = shown_pairs(build_comparison_pairs(worse, better), CONTRAST_CHARS)
    return (
        "The same skill did these tasks badly once (before) and well once (now). What made the "
        f"difference is worth a rule.\n\n{pairs}\n"
    )
