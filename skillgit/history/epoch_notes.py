"""What hangs on an epoch's commit: the comparison, the slow update, the meta skill.

Resume reads the meta skill back from here; the guidance stands in the skill itself.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from skillgit.history import Costs, NoteLine
from skillgit.records import Record, Score


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
