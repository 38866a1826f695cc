"""The nouns: what is passed between the stages. Frozen, and nothing unknown gets in.

Not yet known is `None`, never a number that means it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Generic, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

SkillT = TypeVar("SkillT")

UnitInterval = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]


class Record(BaseModel):
    """The root of all records: frozen, and unknown fields are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


# ── tasks ────────────────────────────────────────────────────────────────────────────────────


class Split(StrEnum):
    """Which part of the task set a task belongs to."""

    TRAIN = "train"
    VAL = "val"
    TEST = "test"


class TaskOrigin(StrEnum):
    """Where a task comes from: a person's words, or a variant made of them."""

    REAL = "real"
    DREAM = "dream"


class ToolSpec(Record):
    """A tool that a task declares, answered by its fixed `result`."""

    name: str
    description: str = ""
    parameters: dict[str, JsonValue] = Field(default_factory=dict)
    result: str = ""


class JudgeSpec(Record):
    """How a task is judged: the judge's kind and its settings, as the judge's file reads them."""

    kind: str
    settings: dict[str, JsonValue] = Field(default_factory=dict)


class Task(Record):
    """One training item. `turns` are the user messages that follow the prompt.

    `skills` are those of a repository's skills that it is for; none: all.
    """

    id: str
    prompt: str
    context: str = ""
    system: str = ""
    turns: tuple[str, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    reference: JsonValue = None
    judge: JudgeSpec
    split: Split
    tags: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    origin: TaskOrigin = TaskOrigin.REAL

    def is_for(self, skill: str | None) -> bool:
        """Whether the skill trains on it; `None` is the one skill there is."""
        return skill is None or not self.skills or skill in self.skills


# ── skills ───────────────────────────────────────────────────────────────────────────────────


class SkillDocument(Record):
    """One document of a skill: its path from the repository's root, and its bytes."""

    path: str
    data: bytes


class Skill(Record):
    """The documents being trained, in path order except that the main one stands first."""

    name: str
    documents: tuple[SkillDocument, ...]

    @property
    def main(self) -> SkillDocument:
        """The document that the alias `skill` means."""
        return self.documents[0]

    def with_document(self, path: str, data: bytes) -> Skill:
        """This skill with one document's bytes replaced."""
        documents = tuple(
            SkillDocument(path=d.path, data=data) if d.path == path else d for d in self.documents
        )
        return Skill(name=self.name, documents=documents)


# ── calls to models and programs ─────────────────────────────────────────────────────────────


class Role(StrEnum):
    """Whose work a paid call is."""

    TARGET = "target"
    OPTIMIZER = "optimizer"
    JUDGE = "judge"


class Usage(Record):
    """Tokens that a call took, as the endpoint counted them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def total(self) -> int:
        """Both together."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
        )


class ToolCall(Record):
    """A model's wish to call a tool; `arguments` is the JSON text as the model wrote it."""

    id: str
    name: str
    arguments: str = ""


class Speaker(StrEnum):
    """Who says a message, in the words of chat completions."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Message(Record):
    """One message of a conversation."""

    role: Speaker
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


class ModelRequest(Record):
    """What is asked of a model, before it is fitted to what an endpoint takes.

    `answer_schema` is the JSON schema the answer has to fit; its `title` names the answer.
    """

    model: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    answer_schema: dict[str, JsonValue] | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None


class PaidReply(Record):
    """What came back from something paid for.

    Unit: milliseconds.
    """

    usage: Usage = Usage()
    milliseconds: int = 0


class ModelReply(PaidReply):
    """A model's answer."""

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str = "stop"


class PaidCall(Record):
    """Which paid call this is: with the request's hash, its key in the journal.

    `purpose` is the phase (`rollout`, `evaluate`, `reflect`, …), `slot` what tells its calls
    apart there (`t12/0/1`: task, repeat, turn; or a minibatch).
    """

    role: Role
    purpose: str
    slot: str


# ── rollouts and grades ──────────────────────────────────────────────────────────────────────


class Rollout(Record):
    """The target's attempt at one task with one skill.

    `failure` says why there is no answer to judge (a time-out, a refused call); such a rollout
    is unscored, never 0. `files` are what a program wrote, by path.
    Unit: milliseconds.
    """

    task_id: str
    answer: str = ""
    trajectory: tuple[Message, ...] = ()
    usage: Usage = Usage()
    milliseconds: int = 0
    files: dict[str, str] = Field(default_factory=dict)
    failure: str | None = None


class Score(Record):
    """What one measurement of a task, or a mean of several, came to."""

    hard: UnitInterval
    soft: UnitInterval


class Grade(Record):
    """A judge's verdict on a rollout; `score` is `None` when it could not be judged."""

    score: Score | None
    reason: str = ""

    @property
    def passed(self) -> bool:
        """A success is a full score; anything below is a failure."""
        return self.score is not None and self.score.hard >= 1.0


class GradedRollout(Record):
    """A rollout with its task and its grade."""

    task: Task
    rollout: Rollout
    grade: Grade


class Measurements(Record):
    """An evaluated skill and its scores per task, by task key (16 hex of the task's content).

    A task is `None` when it was tried and could not be scored, and absent when it was not sent.
    """

    object_id: str
    scores: dict[str, Score | None]


# ── edits ────────────────────────────────────────────────────────────────────────────────────


class EditOp(StrEnum):
    """The three kinds of change there are."""

    ADD = "add"
    DELETE = "delete"
    REPLACE = "replace"


class SourceType(StrEnum):
    """Which analyst an edit comes from."""

    FAILURE = "failure"
    SUCCESS = "success"


class Edit(Record):
    """One bounded change, as the optimizer proposed it.

    `support_count` is how many distinct trajectories stand behind it (`task_ids` names them);
    `merge_level` is how often it went through a merge.
    """

    op: EditOp
    target: str = "skill"
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

    @property
    def changed_text(self) -> bool:
        """Whether the edit is in the new text."""
        return self in (Outcome.APPLIED, Outcome.APPLIED_NORMALIZED)


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


# ── the gate ─────────────────────────────────────────────────────────────────────────────────


class Metric(StrEnum):
    """Which score the gate compares."""

    HARD = "hard"
    SOFT = "soft"
    MIXED = "mixed"


class Action(StrEnum):
    """What a commit of a run stands for: a verdict, or one of the run's own marks."""

    BASELINE = "baseline"
    ACCEPT_NEW_BEST = "accept_new_best"
    ACCEPT = "accept"
    REJECT = "reject"
    SKIP = "skip"
    NOOP = "noop"
    FORCE_ACCEPT = "force_accept"
    REJECT_UNVERIFIED = "reject_unverified"
    REVERT = "revert"
    EPOCH = "epoch"
    END = "end"

    @property
    def accepted(self) -> bool:
        """Whether training goes on from the candidate."""
        return self in (Action.ACCEPT_NEW_BEST, Action.ACCEPT, Action.FORCE_ACCEPT)

    @property
    def rejected(self) -> bool:
        """Whether the candidate is followed by its revert."""
        return self in (Action.REJECT, Action.REJECT_UNVERIFIED)


class GateResult(Record, Generic[SkillT]):
    """The gate's decision: what training goes on from, and what is best, after it."""

    action: Action
    current_skill: SkillT
    current_score: float
    best_skill: SkillT
    best_score: float
    best_step: int

    @model_validator(mode="after")
    def _only_a_gates_verdict(self) -> Self:
        if self.action not in (Action.ACCEPT_NEW_BEST, Action.ACCEPT, Action.REJECT):
            raise ValueError(f"a gate does not say {self.action.value!r}")
        return self
