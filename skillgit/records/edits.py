"""Edits, where they come from, and what became of them."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

from skillgit.records.base import Record
from skillgit.records.skills import MAIN_ALIAS


class EditOp(StrEnum):
    """The three kinds of change there are."""

    ADD = "add"
    DELETE = "delete"
    REPLACE = "replace"


class Phrase(Record):
    """How an operation is put into words: `{anchor}` and `{content}` stand for those of the edit.

    `anchored` is for an operation that may have an anchor, and has one.
    """

    plain: str
    anchored: str | None = None

    def fill(self, anchor: str, content: str, *, is_anchored: bool) -> str:
        """The phrase with an edit's texts in it, as they are to be shown."""
        template = self.anchored if is_anchored and self.anchored is not None else self.plain
        return template.format(anchor=anchor, content=content)


class Operation(Record):
    """A kind of change: what a model may call it, what it does, and how it is put into words.

    `in_message` is for commits, `in_prompt` for the optimizer, `in_markdown` for pull requests.
    """

    aliases: tuple[str, ...]
    takes_out_anchor: bool
    brings_content: bool
    in_message: Phrase
    in_prompt: Phrase
    in_markdown: Phrase


OPERATIONS: dict[EditOp, Operation] = {
    EditOp.ADD: Operation(
        aliases=("add", "append", "insert_after"),
        takes_out_anchor=False,
        brings_content=True,
        in_message=Phrase(plain="add {content}", anchored="add {content} after {anchor}"),
        in_prompt=Phrase(plain="{content}", anchored="after={anchor} {content}"),
        in_markdown=Phrase(plain="**add** {content}", anchored="**add** {content} after {anchor}"),
    ),
    EditOp.DELETE: Operation(
        aliases=("delete", "remove"),
        takes_out_anchor=True,
        brings_content=False,
        in_message=Phrase(plain="delete {anchor}"),
        in_prompt=Phrase(plain="target={anchor}"),
        in_markdown=Phrase(plain="**delete** {anchor}"),
    ),
    EditOp.REPLACE: Operation(
        aliases=("replace",),
        takes_out_anchor=True,
        brings_content=True,
        in_message=Phrase(plain="replace {anchor} with {content}"),
        in_prompt=Phrase(plain="target={anchor} → {content}"),
        in_markdown=Phrase(plain="**replace** {anchor} **by** {content}"),
    ),
}
"""Every operation. A new one is an entry here, and a plan in `skillgit.editing.apply`."""


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

    @property
    def operation(self) -> Operation:
        """What there is to know of its kind of change."""
        return OPERATIONS[self.op]


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
    text in place of edits, `lapses` are for the skill's appendix. `shortened` says what was shown
    where all of it did not fit the model's context.
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
    shortened: str = ""


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
