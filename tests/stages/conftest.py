"""A scripted optimizer at the model port, and the records that stages are tested with."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from skillgit.ports import ReplyT
from skillgit.prompting.prompts import Optimizer, load_prompts
from skillgit.records import (
    Edit,
    EditOp,
    Grade,
    GradedRollout,
    JudgeSpec,
    ModelReply,
    ModelRequest,
    PaidCall,
    Record,
    Rollout,
    Score,
    Skill,
    SkillDocument,
    Split,
    Task,
)

Answerer = Callable[[ModelRequest, PaidCall], object]


@dataclass
class ScriptedModel:
    """Answers by the call's slot: what `answerer` gives is sent as text, or raised."""

    answerer: Answerer
    calls: list[PaidCall] = field(default_factory=list)
    requests: list[ModelRequest] = field(default_factory=list)
    finish_reason: str = "stop"
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _now: threading.local = field(default_factory=threading.local)

    def complete(self, request: ModelRequest) -> ModelReply:
        call: PaidCall = self._now.call
        with self._lock:
            self.calls.append(call)
            self.requests.append(request)
        answer = self.answerer(request, call)
        if isinstance(answer, Exception):
            raise answer
        text = answer if isinstance(answer, str) else json.dumps(answer)
        return ModelReply(text=text, finish_reason=self.finish_reason)

    def paid(
        self, call: PaidCall, request: Record, reply: type[ReplyT], perform: Callable[[], ReplyT]
    ) -> ReplyT:
        self._now.call = call
        return perform()

    @property
    def slots(self) -> list[str]:
        return sorted(call.slot for call in self.calls)

    def prompt(self, slot: str) -> str:
        """The text that was sent in a slot."""
        index = [call.slot for call in self.calls].index(slot)
        return self.requests[index].messages[-1].content


Script = Callable[[Answerer], tuple[Optimizer, ScriptedModel]]


@pytest.fixture
def script() -> Script:
    def make(answerer: Answerer) -> tuple[Optimizer, ScriptedModel]:
        model = ScriptedModel(answerer)
        optimizer = Optimizer(
            model=model, model_name="scripted", paid=model.paid, texts=load_prompts(), seed=1
        )
        return optimizer, model

    return make


@pytest.fixture
def skill() -> Skill:
    text = b"---\nname: brief\n---\n# Brief\n\n- Write short sentences.\n"
    return Skill(name="brief", documents=(SkillDocument(path="brief/SKILL.md", data=text),))


GradedMaker = Callable[..., GradedRollout]
EditMaker = Callable[..., Edit]


@pytest.fixture
def graded() -> GradedMaker:
    def make(
        task_id: str,
        hard: float | None,
        *,
        reason: str = "no risks section",
        reasons: tuple[str, ...] = (),
        answer: str = "Hi.",
    ) -> GradedRollout:
        score = None if hard is None else Score(hard=hard, soft=hard)
        return GradedRollout(
            task=Task(
                id=task_id,
                prompt=f"Write a brief on {task_id}.",
                reference="the secret reference",
                judge=JudgeSpec(kind="exact"),
                split=Split.TRAIN,
            ),
            rollout=Rollout(task_id=task_id, answer=answer),
            grade=Grade(score=score, reason=reason, reasons=reasons),
        )

    return make


@pytest.fixture
def add() -> EditMaker:
    def make(content: str, **fields: object) -> Edit:
        return Edit.model_validate({"op": EditOp.ADD, "content": content, **fields})

    return make
