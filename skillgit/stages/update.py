"""The update stage: the selected edits become a candidate skill."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from skillgit.editing.apply import apply_edits
from skillgit.editing.document import Document, Region
from skillgit.errors import DocumentError
from skillgit.gate.guards.length import is_too_long
from skillgit.records import Edit, EditOutcome, Outcome, Skill, SkillDocument


def update_skill(
    skill: Skill,
    edits: Sequence[Edit],
    *,
    known_rejected: Collection[Edit] = (),
    region: Region | None = None,
) -> tuple[Skill, tuple[EditOutcome, ...]]:
    """The candidate that the edits make of a skill, with what became of each edit.

    With a `region`, they are bullets inside it.
    Shape: one outcome per edit, in the edits' order.
    Raises: DocumentError when a document that is named cannot be used; the message has its path.
    """
    outcomes = [EditOutcome(edit=edit, outcome=Outcome.UNKNOWN_TARGET) for edit in edits]
    candidate = skill
    for document in skill.documents:
        places = [i for i, edit in enumerate(edits) if skill.path_of(edit.target) == document.path]
        if not places:
            continue
        rejected = [edit for edit in known_rejected if skill.path_of(edit.target) == document.path]
        try:
            data, done = apply_edits(
                document.data,
                [edits[i] for i in places],
                known_rejected=rejected,
                region=region,
                place_missing=region is None,
            )
        except DocumentError as error:
            raise _naming(document, error) from error
        candidate = candidate.with_document(document.path, data)
        for place, outcome in zip(places, done, strict=True):
            outcomes[place] = outcome
    return candidate, tuple(outcomes)


def update_within(
    skill: Skill,
    edits: Sequence[Edit],
    *,
    max_tokens: int | None,
    region: Region | None = None,
) -> tuple[Skill, tuple[EditOutcome, ...]]:
    """The candidate that the edits make of a skill, none of which may make it too long.

    What goes beyond the length budget is left out from the end of the ranking on.
    Shape: one outcome per edit, in the edits' order.
    Raises: DocumentError as `update_skill` does.
    """
    kept = list(range(len(edits)))
    while True:
        candidate, done = update_skill(skill, [edits[i] for i in kept], region=region)
        outcomes = dict(zip(kept, done, strict=True))
        growing = [i for i in kept if _adds_text(outcomes[i])]
        if not growing or not is_too_long(candidate, skill, max_tokens):
            break
        kept.remove(growing[-1])
    return candidate, tuple(
        outcomes.get(i, EditOutcome(edit=edit, outcome=Outcome.TOO_LONG))
        for i, edit in enumerate(edits)
    )


def _adds_text(outcome: EditOutcome) -> bool:
    return outcome.outcome.changed_text and outcome.edit.operation.brings_content


def check_skill(skill: Skill) -> None:
    """Look whether each document of a skill can be used, frontmatter values included.

    Raises: DocumentError with the path and the line.
    """
    for document in skill.documents:
        try:
            _ = Document.parse(document.data).frontmatter
        except DocumentError as error:
            raise _naming(document, error) from error


def _naming(document: SkillDocument, error: DocumentError) -> DocumentError:
    return DocumentError(f"{document.path}: {error.message}", hint=error.hint)
