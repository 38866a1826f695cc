"""Edits, where they come from, and what became of them."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

from skillgit.records.base import Record

MAIN_ALIAS = "skill"
"""What an edit's target may call the main document instead of its path."""


class EditOp(StrEnum):
    """The three kinds of change there are."""

    ADD = "add"
    DELETE = "delete"
    REPLACE = "replace"


class SourceType(StrEnum):
    """Which analyst an edit comes from."""

    FAILURE = "failure"
    SUCCESS = "success"

    @classmethod
    def joined(cls, sources: Collection[SourceType]) -> SourceType:
        """What an edit made of several is: failure wins over success."""
        return cls.FAILURE if cls.FAILURE in sources else cls.SUCCESS


class Edit(Record):
    """One bounded change, as the optimizer proposed it.

    `support_count` is how many distinct trajectories stand behind it (`task_ids` names them);
    `merge_level` is how often it went through a merge.
    """

    op: EditOp
    target: str = MAIN_ALIAS
    anchor: str = ""
    content: str = ""
    rationale: str = ""
    support_count: int = 1
    source_type: SourceType = SourceType.FAILURE
    merge_level: int = 0
    task_ids: tuple[str, ...] = ()


class Outcome(StrEnum):
    """What became of a proposed edit."""

    APPLIED = "applied"
    APPLIED_NORMALIZED = "applied_normalized"
    PLACED_AT_END = "placed_at_end"
    """Added at the end of a section, or of the body: the place that was named is not there."""
    DUPLICATE = "duplicate"
    NOOP = "noop"
    ANCHOR_MISSING = "anchor_missing"
    ANCHOR_AMBIGUOUS = "anchor_ambiguous"
    PROTECTED = "protected"
    FRONTMATTER = "frontmatter"
    FENCE = "fence"
    EMPTY = "empty"
    OVER_BUDGET = "over_budget"
    TOO_LONG = "too_long"
    UNKNOWN_TARGET = "unknown_target"
    KNOWN_REJECTED = "known_rejected"
    UNSUPPORTED = "unsupported"
    """It answers no reason for which an attempt fell short."""

    @property
    def changed_text(self) -> bool:
        """Whether the edit is in the new text."""
        return self in (Outcome.APPLIED, Outcome.APPLIED_NORMALIZED, Outcome.PLACED_AT_END)


class EditOutcome(Record):
    """An edit with what became of it; `occurrences` goes with an ambiguous anchor."""

    edit: Edit
    outcome: Outcome
    occurrences: int | None = None

    def __str__(self) -> str:
        if self.occurrences is None:
            return self.outcome.value
        return f"{self.outcome.value}({self.occurrences})"


class FailurePattern(Record):
    """A kind of failure an analyst saw, with how many tasks and which."""

    failure_type: str
    description: str = ""
    count: int = 1
    task_ids: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.description:
            return self.failure_type
        return f"{self.failure_type}: {self.description}"


class Patch(Record):
    """Edits with the reasoning that led to them."""

    edits: tuple[Edit, ...] = ()
    reasoning: str = ""


class Lapse(Record):
    """A note on a lapse: the skill says what to do, and it was not done."""

    note: str
    task_ids: tuple[str, ...] = ()


class RawPatch(Record):
    """One analyst's patch, or the record that its answer could not be used (`parse_failure`).

    `dropped` says of each proposed item that was no edit why it was none. `document` is a whole
    text in place of edits, `lapses` are for the skill's appendix.
    """

    patch: Patch = Patch()
    source_type: SourceType
    batch_size: int
    failure_summary: tuple[FailurePattern, ...] = ()
    task_ids: tuple[str, ...] = ()
    parse_failure: str | None = None
    dropped: tuple[str, ...] = ()
    document: str = ""
    lapses: tuple[Lapse, ...] = ()


class LearningRate(Record):
    """How many edits a step may apply, and how that was decided; `None` is no limit."""

    learning_rate: int | None
    raw_learning_rate: int | None = None
    available_update_items: int
    clamped: bool = False
    fallback: bool = False
    confidence: str | None = None
    reasoning: str = ""
    risk_notes: tuple[str, ...] = ()
    raw_response: str = ""


class Selection(Record):
    """The edits that pass the clipping, in the order they are tried, and those cut."""

    edits: tuple[Edit, ...]
    over_budget: tuple[Edit, ...] = ()
    reasoning: str = ""
    fallback: bool = False
