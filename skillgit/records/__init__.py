"""The nouns: what is passed between the stages. Frozen, and nothing unknown gets in.

Not yet known is `None`, never a number that means it.
"""

from __future__ import annotations

from skillgit.records.base import (
    Record,
    UnitInterval,
)
from skillgit.records.calls import (
    Message,
    ModelReply,
    ModelRequest,
    PaidCall,
    PaidReply,
    Role,
    Speaker,
    ToolCall,
    Usage,
)
from skillgit.records.edits import (
    Edit,
    EditOp,
    EditOutcome,
    FailurePattern,
    Lapse,
    LearningRate,
    Outcome,
    Patch,
    RawPatch,
    Selection,
    SourceType,
)
from skillgit.records.gate import (
    Action,
    GateResult,
    Metric,
    SkillT,
)
from skillgit.records.rollouts import (
    Grade,
    GradedRollout,
    Measurements,
    Rollout,
    Score,
)
from skillgit.records.skills import (
    MAIN_ALIAS,
    Skill,
    SkillDocument,
)
from skillgit.records.tasks import (
    JudgeSpec,
    Split,
    Task,
    TaskOrigin,
    ToolSpec,
)

__all__ = [
    "MAIN_ALIAS",
    "Action",
    "Edit",
    "EditOp",
    "EditOutcome",
    "FailurePattern",
    "GateResult",
    "Grade",
    "GradedRollout",
    "JudgeSpec",
    "Lapse",
    "LearningRate",
    "Measurements",
    "Message",
    "Metric",
    "ModelReply",
    "ModelRequest",
    "Outcome",
    "PaidCall",
    "PaidReply",
    "Patch",
    "RawPatch",
    "Record",
    "Role",
    "Rollout",
    "Score",
    "Selection",
    "Skill",
    "SkillDocument",
    "SkillT",
    "SourceType",
    "Speaker",
    "Split",
    "Task",
    "TaskOrigin",
    "ToolCall",
    "ToolSpec",
    "UnitInterval",
    "Usage",
]
