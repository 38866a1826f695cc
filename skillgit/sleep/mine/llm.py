"""The miner that asks the optimizer: checkable tasks from sessions, each on a person's own words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pydantic import Field, JsonValue

from skillgit.errors import CallError, ReplyError
from skillgit.prompting.answers import Answer, Items
from skillgit.prompting.prompts import Optimizer, Prompt
from skillgit.records import JudgeSpec, Record, Speaker
from skillgit.redaction import redact
from skillgit.runtime.pool import ordered_map
from skillgit.sleep.harvest import Session, Turn
from skillgit.sleep.mine.mined import MinedTask, mined_task
from skillgit.stages.rendering import cut, fenced, on_one_line

PURPOSE = "mine"
SESSIONS_CHARS = 24_000
TURN_CHARS = 1_500
AGENT_CHARS = 500
"""How much one call is shown: of all, of a person's turn, of the agent's. Unit: characters."""

MOST_TASKS_A_CALL = 8


class MineFields(Record):
    """What the optimizer is shown."""

    sessions: str
    max_tasks: str


class MinedCheck(Answer):
    """One check of a proposed task's answer."""

    op: str = Field(
        description="contains, not_contains, regex, section_present, max_chars, min_chars or no_refusal."
    )
    arg: str | int | None = None
    hint: str = ""


class MinedProposal(Answer):
    """One proposed task."""

    prompt: str = Field(description="The request, complete in itself, as the person would put it.")
    checks: list[MinedCheck] = Field(
        default_factory=list, description="What a program can check of the answer."
    )
    criteria: list[str] = Field(
        default_factory=list, description="What a reader judges; only if no check can."
    )
    evidence: list[str] = Field(description="The labels of the person's turns it stands on.")
    reason: str = Field(default="", description="Why the person would want this.")


class MineAnswer(Answer):
    """The optimizer's tasks."""

    bare_list: ClassVar[str] = "tasks"

    tasks: Items[MinedProposal]


MINE = Prompt("mine", MineFields, MineAnswer)


@dataclass(frozen=True)
class Mined:
    """The tasks, and what came of the calls: how many were made, and why proposals were dropped."""

    tasks: list[MinedTask]
    calls: int = 0
    dropped: tuple[str, ...] = ()


def mine_llm(sessions: Sequence[Session], optimizer: Optimizer, *, workers: int = 4) -> Mined:
    """Tasks that the optimizer proposes, those on a person's words whose judge can be built.

    Raises: BlockedError, BudgetError.
    """
    batches = batched(sessions)

    def ask(numbered: tuple[int, Sequence[Session]]) -> tuple[list[MinedTask], list[str]]:
        number, batch = numbered
        text, labels = shown_sessions(batch)
        fields = MineFields(sessions=text, max_tasks=str(MOST_TASKS_A_CALL))
        try:
            answered = optimizer.ask(MINE, fields, purpose=PURPOSE, slot=f"sessions/{number}")
        except (ReplyError, CallError) as error:
            return [], [f"no usable answer: {error}"]
        return _on_new_words(answered.answer.tasks, labels)

    results = ordered_map(ask, list(enumerate(batches)), workers)
    tasks = {task.id: task for mined, _ in results for task in mined}
    dropped = tuple(reason for _, reasons in results for reason in reasons)
    return Mined(list(tasks.values()), len(batches), dropped)


def batched(sessions: Sequence[Session]) -> list[list[Session]]:
    """The sessions in order, as many together as one call is shown."""
    batches: list[list[Session]] = []
    room = 0
    for session in sessions:
        size = len(_shown_session("s1", session)[0])
        if not batches or size > room:
            batches.append([])
            room = SESSIONS_CHARS
        batches[-1].append(session)
        room -= size
    return batches


def shown_sessions(sessions: Sequence[Session]) -> tuple[str, dict[str, tuple[Session, Turn]]]:
    """The sessions as the optimizer sees them, redacted once more, and the person's turns by label."""
    texts: list[str] = []
    labels: dict[str, tuple[Session, Turn]] = {}
    for number, session in enumerate(sessions, start=1):
        text, own = _shown_session(f"s{number}", session)
        texts.append(text)
        labels |= own
    return "\n\n".join(texts), labels


def _shown_session(name: str, session: Session) -> tuple[str, dict[str, tuple[Session, Turn]]]:
    lines, labels = [], {}
    for number, turn in enumerate(session.turns, start=1):
        label = f"{name}.{number}"
        if turn.origin.is_person:
            labels[label] = (session, turn)
            lines.append(f"[{label} {turn.origin.value}] {cut(turn.text, TURN_CHARS)}")
        elif turn.speaker is Speaker.ASSISTANT:
            lines.append(f"[{label} agent] {on_one_line(turn.text, AGENT_CHARS)}")
        elif turn.failed:
            lines.append(f"[{label} error] {on_one_line(turn.text, AGENT_CHARS)}")
    body = redact(cut("\n".join(lines), SESSIONS_CHARS - 200))
    return f"### Session `{name}`\n\n{fenced(body)}", labels


def _on_new_words(
    proposals: Sequence[MinedProposal], labels: dict[str, tuple[Session, Turn]]
) -> tuple[list[MinedTask], list[str]]:
    tasks, dropped = [], []
    for proposal in proposals[:MOST_TASKS_A_CALL]:
        named = on_one_line(redact(proposal.prompt), 60)
        evidence = [labels[label] for label in dict.fromkeys(proposal.evidence) if label in labels]
        if not any(session.is_new(turn) for session, turn in evidence):
            dropped.append(f"{named!r} stands on no new words of a person")
            continue
        task = mined_task(
            proposal.prompt, _judge(proposal), tuple(evidence), tags=("llm",), weight=len(evidence)
        )
        if task is None:
            dropped.append(f"{named!r} has a judge that cannot be built")
        else:
            tasks.append(task)
    return tasks, dropped


def _judge(proposal: MinedProposal) -> JudgeSpec:
    if proposal.checks:
        checks: list[JsonValue] = [
            check.model_dump(mode="json", exclude_none=True) for check in proposal.checks
        ]
        return JudgeSpec(kind="rule", settings={"checks": checks})
    criteria: list[JsonValue] = [c for c in proposal.criteria if c.strip()]
    return JudgeSpec(kind="rubric", settings={"criteria": criteria})
