"""The lines of notes: on a commit of a run, and on a skill object."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from enum import StrEnum
from typing import ClassVar, Literal, TypeVar

from pydantic import Field, JsonValue

from skillgit.history.run_state import CandidateScore, Phase, RunHead, RunState
from skillgit.records import (
    Action,
    Edit,
    EditOutcome,
    FailurePattern,
    LearningRate,
    RawPatch,
    Record,
    Score,
    Skill,
    SourceType,
)
from skillgit.records.canonical import canonical_json


class HangsOn(StrEnum):
    """What a note hangs on."""

    STEP = "a step's commit"
    START = "a run's step 0"
    EPOCH = "the commit of an epoch's end"
    END = "a run's end commit"
    PROPOSAL = "a proposal's tip"
    SKILL = "a skill object: a blob, or a tree of several documents"


class NoteLine(Record):
    """One line of a note. `kind` tells which; a reader skips kinds it does not know."""

    kind: str
    hangs_on: ClassVar[HangsOn]

    def to_line(self) -> str:
        """Canonical JSON without a line end; what equals its default is left out."""
        fields = self.model_dump(mode="json", exclude_defaults=True)
        return canonical_json({**fields, "kind": self.kind})


KindT = TypeVar("KindT", bound=type[NoteLine])

NOTE_KINDS: dict[str, type[NoteLine]] = {}
"""Every kind of line that is read, by its name."""


def note_kind(name: str, *, on: HangsOn) -> Callable[[KindT], KindT]:
    """Registers a record as the kind of line of that name, which hangs on that.

    Raises: ValueError for a name that is taken, or that is not the default of the field `kind`.
    """

    def register(record: KindT) -> KindT:
        fields = record.__pydantic_fields__
        if fields["kind"].default != name:
            raise ValueError(f"{record.__name__} does not say that its kind is {name!r}")
        if NOTE_KINDS.setdefault(name, record) is not record:
            raise ValueError(f"there is a kind of note {name!r} already")
        record.hangs_on = on
        return record

    return register


class Costs(Record):
    """What a step took; `calls` by role, tokens as endpoints counted them.

    Unit: milliseconds, summed over calls.
    """

    calls: dict[str, int] = Field(default_factory=dict)
    prompt_tokens: int = 0
    completion_tokens: int = 0
    milliseconds: int = 0


class Refresh(Record):
    """A re-measurement of current within a step: its score and best's, before and after pooling.

    `best` is the origin of the version that is best now, when another became it.
    """

    before: float | None
    after: float | None
    best_before: float | None
    best_after: float | None
    best: str | None = None


class AppendixRecord(Record):
    """What a step did to the skill's appendix: the notes it added, and how they were made to fit.

    `failure` says why the oldest notes went instead of being consolidated.
    """

    added: tuple[str, ...] = ()
    consolidated: bool = False
    failure: str = ""


@note_kind("step", on=HangsOn.STEP)
class StepNote(NoteLine):
    """The whole record of one step, on its candidate's commit.

    In other update modes than `patch`, the edits are what a rewrite followed, not the change
    itself; `update_failures` says why a rewrite could not be used.
    """

    kind: Literal["step"] = "step"
    run: str
    step: int
    action: Action
    n_total: int
    n_fail: int
    n_unscored: int = 0
    rollout_hard: float | None = None
    rollout_soft: float | None = None
    failure_patterns: tuple[FailurePattern, ...] = ()
    raw_patches: tuple[RawPatch, ...] = ()
    merge_fallback: bool = False
    update_mode: str = "patch"
    update_failures: tuple[str, ...] = ()
    appendix: AppendixRecord | None = None
    learning_rate: LearningRate | None = None
    edits: tuple[EditOutcome, ...] = ()
    ranking: str = ""
    ranking_fallback: bool = False
    score_before: float | None = None
    score_after: float | None = None
    score_after_is_bound: bool = False
    gate_reason: str = ""
    tasks_needed: int | None = None
    refresh: Refresh | None = None
    warnings: tuple[str, ...] = ()
    scores_from_ledger: int = 0
    scores_measured: int = 0
    scores_unscored: int = 0
    scores_not_sent: int = 0
    costs: Costs = Costs()
    prompts: dict[str, str] = Field(default_factory=dict)

    @property
    def rejected_edits(self) -> tuple[Edit, ...]:
        """The edits that were tried and did not pass, in rank order; what could not be judged did not fail."""
        if self.action is not Action.REJECT:
            return ()
        return tuple(o.edit for o in self.edits if o.outcome.changed_text)


@note_kind("config", on=HangsOn.START)
class ConfigNote(NoteLine):
    """The resolved configuration, on a run's step 0: no secrets, no user info in URLs.

    `identity` is what the run's fingerprint is made of, `tasks` has each task's key by its id.
    """

    kind: Literal["config"] = "config"
    run: str
    identity: dict[str, JsonValue]
    epochs: int
    tasks: dict[str, str]
    costs: Costs = Costs()
    warnings: tuple[str, ...] = ()


@note_kind("test", on=HangsOn.END)
class TestNote(NoteLine):
    """The scores on the test split, on a run's end commit."""

    __test__ = False
    kind: Literal["test"] = "test"
    run: str
    n_tasks: int
    baseline: float | None
    best: float | None
    final: float | None


@note_kind("report", on=HangsOn.PROPOSAL)
class ReportNote(NoteLine):
    """The report a person reads, as Markdown, on a proposal's tip."""

    kind: Literal["report"] = "report"
    run: str
    markdown: str


@note_kind("turned_down", on=HangsOn.PROPOSAL)
class TurnedDownNote(NoteLine):
    """A person's word that a proposal is not wanted, on its tip: `why`, and when."""

    kind: Literal["turned_down"] = "turned_down"
    run: str
    why: str
    time: datetime


@note_kind("night", on=HangsOn.END)
class NightNote(NoteLine):
    """What a night came to, on its end: scores on val, the last one of a fresh measurement.

    `taken_back` says that what its steps accepted did not hold there.
    """

    kind: Literal["night"] = "night"
    run: str
    baseline: float | None
    candidate: float | None
    taken_back: bool = False
    reason: str = ""
    costs: Costs = Costs()


@note_kind("scores", on=HangsOn.SKILL)
class ScoresLine(NoteLine):
    """One measurement of a skill object: per task key `[hard, soft]`, or null."""

    kind: Literal["scores"] = "scores"
    repeat: int
    run: str
    step: int
    phase: Phase = Phase.STEP
    target: str
    tasks: dict[str, tuple[float, float] | None]


@note_kind("rejected", on=HangsOn.SKILL)
class RejectedLine(NoteLine):
    """A set of edits tried on one skill object and rejected, with the object they made.

    It stands on the object made; an edit that was alone stands on the object tried on, too.
    """

    kind: Literal["rejected"] = "rejected"
    run: str
    step: int
    phase: Phase = Phase.STEP
    target: str
    tried_on: str
    object: str
    edits: tuple[Edit, ...]
    before: float | None
    after: float | None
    after_is_bound: bool = False
    source: SourceType | None = None


# ── What hangs on an epoch's commit: the comparison, the slow update, the meta skill.


class PairKind(StrEnum):
    """What became of one task from one skill to the next; the order is that of their weight."""

    REGRESSED = "regressed"
    PERSISTENT_FAIL = "persistent_fail"
    IMPROVED = "improved"
    STABLE_SUCCESS = "stable_success"


class PairScores(Record):
    """One task's scores under two skills."""

    task_id: str
    kind: PairKind
    before: Score
    after: Score


@note_kind("comparison", on=HangsOn.EPOCH)
class ComparisonNote(NoteLine):
    """The same tasks attempted with two skills: the objects `before` and `after`.

    `left_out` are the tasks of which a side has no score.
    """

    kind: Literal["comparison"] = "comparison"
    run: str
    epoch: int
    before: str
    after: str
    pairs: tuple[PairScores, ...] = ()
    left_out: tuple[str, ...] = ()
    costs: Costs = Costs()


class Renewal(StrEnum):
    """What became of a memory at an epoch's end."""

    UPDATED = "updated"
    NO_CONTENT = "no_content"
    """No usable answer came back."""
    REJECTED = "rejected"
    """The gate, or a guard of what a text may hold, did not let it pass."""
    SAME_SKILL = "same_skill"
    """Both skills are the same bytes, so there was nothing to compare."""
    NO_PAIRS = "no_pairs"
    """No pair of the kind that is looked at."""


@note_kind("slow_update", on=HangsOn.EPOCH)
class SlowUpdateNote(NoteLine):
    """What was written into the protected region, or why nothing was.

    `reflection` is about the guidance before: what helped, what hurt. `failure` says what was
    wrong with an answer. Scores are there when the gate judged; the one after is only an upper
    bound where validation was cut short.
    """

    kind: Literal["slow_update"] = "slow_update"
    run: str
    epoch: int
    outcome: Renewal
    guidance: str = ""
    reflection: str = ""
    reasoning: str = ""
    failure: str = ""
    gate_reason: str = ""
    warnings: tuple[str, ...] = ()
    score_before: float | None = None
    score_after: float | None = None
    score_after_is_bound: bool = False
    prompts: dict[str, str] = Field(default_factory=dict)


@note_kind("meta_skill", on=HangsOn.EPOCH)
class MetaSkillNote(NoteLine):
    """The optimizer's memory that holds from here on, new or kept."""

    kind: Literal["meta_skill"] = "meta_skill"
    run: str
    epoch: int
    outcome: Renewal
    text: str = ""
    reasoning: str = ""
    failure: str = ""
    prompts: dict[str, str] = Field(default_factory=dict)


# ── What the loop hands to the store.


class Entry(Record):
    """One moment of a run, complete: everything the store needs to make its commits and notes.

    `candidate` is the skill of the commit (`None`: the tree stays). A rejected candidate is
    followed by its revert in the same move. `lines` go on the (candidate's) commit,
    `object_lines` on the skill objects named. `finished_at` is the latest finish time of the
    paid calls; `None` when nothing was paid. `takes_back` are commits that are reverted first,
    the newest of them first.
    """

    run: RunHead
    step: int
    phase: Phase
    action: Action
    score: CandidateScore
    state: RunState
    candidate: Skill | None = None
    body: tuple[str, ...] = ()
    lines: tuple[NoteLine, ...] = ()
    object_lines: tuple[tuple[str, NoteLine], ...] = ()
    finished_at: datetime | None = None
    summary: str = ""
    takes_back: tuple[str, ...] = ()
