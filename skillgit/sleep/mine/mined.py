"""What mining gives: tasks with their judge, the words they stand on, and whether a person looked."""

from __future__ import annotations

from datetime import datetime

from pydantic import JsonValue

from skillgit.errors import TaskError
from skillgit.judges import JudgeResources, build_judge
from skillgit.judges.registry import looks_at_shape_only
from skillgit.records import JudgeSpec, Record, Split, Task, TaskOrigin
from skillgit.records.canonical import fingerprint
from skillgit.redaction import redact
from skillgit.sleep.harvest import Origin, Session, Turn

MINED = "mined"
SHAPE_ONLY = "shape-only"
EVIDENCE_CHARS = 400
"""Unit: characters."""


class PersonTurn(Record):
    """A person's turn that a task stands on."""

    session: str
    turn: str
    time: datetime | None = None
    origin: Origin
    text: str


class MinedTask(Record):
    """A task before it has a split. `lineages` are those of all the sessions behind it.

    `weight` is how much speaks for it: tasks with more come first.
    """

    id: str
    prompt: str
    judge: JudgeSpec
    tags: tuple[str, ...]
    evidence: tuple[PersonTurn, ...]
    lineages: tuple[str, ...]
    weight: float
    newest: datetime | None = None

    def as_task(self, split: Split) -> Task:
        """The task, in a split."""
        return Task(
            id=self.id,
            prompt=self.prompt,
            judge=self.judge,
            split=split,
            tags=self.tags,
            origin=TaskOrigin.REAL,
        )


def mined_task(
    prompt: str,
    judge: JudgeSpec,
    evidence: tuple[tuple[Session, Turn], ...],
    *,
    tags: tuple[str, ...],
    weight: float,
) -> MinedTask | None:
    """The task, redacted once more, or `None` when its judge cannot be built."""
    clean = JudgeSpec(kind=judge.kind, settings=_redacted_settings(judge.settings))
    text = redact(prompt).strip()
    settings: dict[str, JsonValue] = dict(clean.settings)
    task = MinedTask(
        id="mined-" + fingerprint([text, clean.kind, settings], digits=10),
        prompt=text,
        judge=clean,
        tags=(MINED, *tags),
        evidence=tuple(_evidence(session, turn) for session, turn in evidence),
        lineages=tuple(sorted({session.lineage for session, _ in evidence})),
        weight=weight,
        newest=max((t.time for _, t in evidence if t.time is not None), default=None),
    )
    try:
        build_judge(task.as_task(Split.TRAIN), JudgeResources())
        shape_only = looks_at_shape_only(task.as_task(Split.TRAIN))
    except (TaskError, ValueError):
        return None
    if not text:
        return None
    return task.model_copy(update={"tags": (*task.tags, SHAPE_ONLY)}) if shape_only else task


def _evidence(session: Session, turn: Turn) -> PersonTurn:
    text = redact(turn.text)
    if len(text) > EVIDENCE_CHARS:
        text = text[: EVIDENCE_CHARS - 1] + "…"
    return PersonTurn(
        session=session.id, turn=turn.id, time=turn.time, origin=turn.origin, text=text
    )


def _redacted_settings(settings: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {name: _redacted(value) for name, value in settings.items()}


def _redacted(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [_redacted(item) for item in value]
    if isinstance(value, dict):
        return {name: _redacted(item) for name, item in value.items()}
    return value
