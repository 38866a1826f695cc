"""Updates that rewrite: a document written anew from suggestions, or by every analyst itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import BeforeValidator, Field, JsonValue

from skillgit.editing.rewrite import rewrite_document
from skillgit.errors import CallError, DocumentError, ReplyError
from skillgit.prompting.answers import MISSING_IS_NULL, Answer, Text
from skillgit.prompting.prompts import Optimizer, Prompt
from skillgit.records import (
    Edit,
    EditOp,
    EditOutcome,
    Outcome,
    RawPatch,
    Record,
    Skill,
    SkillDocument,
    SourceType,
)
from skillgit.runtime.pool import ordered_map
from skillgit.stages.reflect import Analysis, Analysts, Shown
from skillgit.stages.rendering import NOTHING_YET, fenced, shown_document, shown_edits, shown_skill
from skillgit.stages.schedule import in_batches

REWRITE = "rewrite"
MERGE = "merge_rewrites"
WHOLE = "(the whole document)"
"""The anchor of an edit that stands for a rewrite."""


def _document(value: JsonValue) -> str:
    if not isinstance(value, str):
        raise ReplyError("it has no document")
    return value


WholeText = Annotated[
    str,
    BeforeValidator(_document),
    MISSING_IS_NULL,
    Field(description="The whole new text of the document, without its frontmatter."),
]


class SuggestionFields(Record):
    """What whoever rewrites a document is shown."""

    path: str
    document: str
    suggestions: str
    step_buffer: str
    meta_skill: str


class RewrittenDocument(Answer):
    """A document rewritten from suggestions."""

    reasoning: Text
    document: WholeText


class RewriteFields(Record):
    """What an analyst that writes a whole document is shown."""

    skill: str
    path: str
    step_buffer: str
    meta_skill: str
    trajectories: str


class FailureRewriteFields(RewriteFields):
    """What the error analyst is shown: why the attempts fell short, too."""

    reasons: str


class DraftAnalysis(Analysis):
    """An analyst's answer that is a whole document; an empty one proposes nothing."""

    document: WholeText

    def as_patch(self, minibatch: RawPatch, shown: Shown) -> RawPatch:
        """The minibatch's patch with the document."""
        patch = super().as_patch(minibatch, shown)
        return patch.model_copy(update={"document": self.document.strip()})


class FailureRewrite(DraftAnalysis):
    """The error analyst's document."""


class SuccessRewrite(DraftAnalysis):
    """The success analyst's document."""


class DraftsFields(Record):
    """What whoever merges documents is shown."""

    skill: str
    path: str
    drafts: str
    meta_skill: str


class MergedDocument(Answer):
    """One document made of several."""

    reasoning: Text
    document: WholeText


FROM_SUGGESTIONS = Prompt("rewrite_from_suggestions", SuggestionFields, RewrittenDocument)
REWRITE_FAILURES = Prompt("rewrite_failures", FailureRewriteFields, FailureRewrite)
REWRITE_SUCCESSES = Prompt("rewrite_successes", RewriteFields, SuccessRewrite)
MERGE_DOCUMENTS = Prompt("merge_rewrites", DraftsFields, MergedDocument)


class Rewritten(Record):
    """The candidate with what became of each proposal, and why some rewrite could not be used."""

    skill: Skill
    outcomes: tuple[EditOutcome, ...]
    failures: tuple[str, ...] = ()


# ── from suggestions ─────────────────────────────────────────────────────────────────────────


def rewrite_from_suggestions(
    skill: Skill,
    suggestions: Sequence[Edit],
    optimizer: Optimizer,
    *,
    step_buffer: str,
    meta_skill: str,
) -> Rewritten:
    """The candidate whose documents were rewritten by the suggestions for each: a call apiece.

    A rewrite that cannot be used leaves its document alone, and its suggestions without effect.
    Shape: one outcome per suggestion, in their order.
    Raises: BlockedError, BudgetError.
    """
    paths = [skill.path_of(edit.target) for edit in suggestions]
    outcomes = [EditOutcome(edit=edit, outcome=Outcome.UNKNOWN_TARGET) for edit in suggestions]
    candidate, failures = skill, list[str]()
    for document in skill.documents:
        places = [place for place, path in enumerate(paths) if path == document.path]
        if not places:
            continue
        fields = SuggestionFields(
            path=document.path,
            document=shown_document(document),
            suggestions=shown_edits([suggestions[place] for place in places]),
            step_buffer=step_buffer or NOTHING_YET,
            meta_skill=meta_skill or NOTHING_YET,
        )
        data, failure = _ask_for_document(document, fields, optimizer)
        failures += [f"{document.path}: {failure}"] if failure else []
        candidate = candidate.with_document(document.path, data)
        outcome = Outcome.NOOP if data == document.data else Outcome.APPLIED
        for place in places:
            outcomes[place] = EditOutcome(edit=suggestions[place], outcome=outcome)
    return Rewritten(skill=candidate, outcomes=tuple(outcomes), failures=tuple(failures))


def _ask_for_document(
    document: SkillDocument, fields: SuggestionFields, optimizer: Optimizer
) -> tuple[bytes, str]:
    """The document's new bytes, or those it has with the reason why."""

    def rewritten(answer: RewrittenDocument) -> bytes:
        return _rewritten(answer.document, document)

    try:
        answered = optimizer.ask(
            FROM_SUGGESTIONS, fields, purpose=REWRITE, slot=document.path, accept=rewritten
        )
    except (ReplyError, CallError) as error:
        return document.data, str(error)
    return answered.answer, ""


def _rewritten(text: str, document: SkillDocument) -> bytes:
    try:
        return rewrite_document(document.data, text)
    except DocumentError as error:
        raise ReplyError(error.message) from error


# ── by every analyst itself ──────────────────────────────────────────────────────────────────


AUTHORS = Analysts(REWRITE_FAILURES, REWRITE_SUCCESSES)
"""Analysts that write the whole main document instead of edits."""


class MergedDraft(Record):
    """One whole document as the edit it stands for; `None` when nobody wrote one."""

    edit: Edit | None
    fallback: bool = False
    failures: tuple[str, ...] = ()


def merge_drafts(
    raw_patches: Sequence[RawPatch],
    skill: Skill,
    optimizer: Optimizer,
    *,
    merge_batch_size: int,
    workers: int,
    meta_skill: str,
) -> MergedDraft:
    """The analysts' documents merged into one, so many at a time, those on failures first.

    Where a merge fails, the first of its documents stands for them, and the result says so.
    Raises: BlockedError, BudgetError.
    """
    writers = [patch for patch in raw_patches if patch.document]
    texts = list(dict.fromkeys(patch.document for patch in writers))
    failures: list[str] = []
    level = 0
    while len(texts) > 1:
        groups = in_batches(texts, merge_batch_size)

        def merge(numbered: tuple[int, tuple[str, ...]], level: int = level) -> tuple[str, str]:
            number, group = numbered
            if len(group) == 1:
                return group[0], ""
            return _merged(group, skill, optimizer, meta_skill, f"{level}/{number}")

        done = ordered_map(merge, list(enumerate(groups)), workers)
        texts = [text for text, _ in done]
        failures += [failure for _, failure in done if failure]
        level += 1
    edit = _as_edit(texts[0], writers) if texts else None
    return MergedDraft(edit=edit, fallback=bool(failures), failures=tuple(failures))


def _merged(
    group: Sequence[str], skill: Skill, optimizer: Optimizer, meta_skill: str, slot: str
) -> tuple[str, str]:
    fields = DraftsFields(
        skill=shown_skill(skill),
        path=skill.main.path,
        drafts="\n\n".join(f"### Draft {n}\n\n{fenced(text)}" for n, text in enumerate(group)),
        meta_skill=meta_skill or NOTHING_YET,
    )

    def usable(answer: MergedDocument) -> str:
        text = answer.document.strip()
        _rewritten(text, skill.main)
        return text

    try:
        answered = optimizer.ask(MERGE_DOCUMENTS, fields, purpose=MERGE, slot=slot, accept=usable)
    except (ReplyError, CallError) as error:
        return group[0], f"{slot}: {error}"
    return answered.answer, ""


def _as_edit(text: str, writers: Sequence[RawPatch]) -> Edit:
    kinds = {patch.source_type for patch in writers}
    reasoning = next((p.patch.reasoning for p in writers if p.patch.reasoning), "")
    return Edit(
        op=EditOp.REPLACE,
        anchor=WHOLE,
        content=text,
        rationale=reasoning,
        support_count=sum(patch.batch_size for patch in writers),
        source_type=SourceType.joined(kinds),
        task_ids=tuple(dict.fromkeys(i for patch in writers for i in patch.task_ids)),
    )


def apply_draft(skill: Skill, edit: Edit) -> Rewritten:
    """The candidate whose main document is the one that an edit of `merge_drafts` stands for."""
    try:
        data = rewrite_document(skill.main.data, edit.content)
    except DocumentError as error:
        outcome = EditOutcome(edit=edit, outcome=Outcome.NOOP)
        return Rewritten(skill=skill, outcomes=(outcome,), failures=(error.message,))
    outcome = EditOutcome(
        edit=edit, outcome=Outcome.NOOP if data == skill.main.data else Outcome.APPLIED
    )
    return Rewritten(skill=skill.with_document(skill.main.path, data), outcomes=(outcome,))
