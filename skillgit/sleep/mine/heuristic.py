"""The miner that needs no model: what was asked again, corrected, or ruled outright.

A task is a request in a person's words. What the person said about the answers to it, and the
rules typed beside it, are its judge: checks where they name something, else criteria.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from pydantic import JsonValue

from skillgit.records import JudgeSpec, Speaker
from skillgit.records.canonical import fingerprint
from skillgit.sleep.harvest import Origin, Session, Turn
from skillgit.sleep.mine.feedback import Mood, mood
from skillgit.sleep.mine.mined import MinedTask, mined_task
from skillgit.sleep.mine.rules import TypedRule, checks_in, typed_rules
from skillgit.stages.rendering import on_one_line
from skillgit.tasks.near_duplicates import clusters

LONGEST_REQUEST = 4_000
"""Unit: characters."""

INTERRUPTED = "[Request interrupted by user"
"""What stands in a transcript where a person stopped the agent: as good as an answer to complain of."""

COMPLAINT_CHARS = 300
"""Unit: characters, of a complaint that becomes a criterion."""

MOST_CHECKS = 6
MOST_CRITERIA = 5
RULE_WEIGHT, COMPLAINT_WEIGHT, RETRY_WEIGHT, RECURRENCE_WEIGHT = 3.0, 2.0, 1.5, 1.0

_GO_ON = re.compile(
    r"(?i)^(?:y(?:es|ep|eah|up)?|ok(?:ay)?|sure|go(?: ahead| on)?|continue|proceed|do it|please|thanks?(?: you)?|"
    r"great|perfect|good|nice|cool|done|next|lgtm|ja|oui|sí|si|weiter|[\d\W]+|hi|hello|hey)(?:[\s,.!]+(?:please|thanks?|continue|go ahead|do it|now|then|ok|next))*[\s.!]*$"
)
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")

GENERAL_CRITERIA = (
    "It does all that the request asks for, so that the person need not ask again.",
    "It does nothing that was not asked for.",
)


@dataclass
class Request:
    """What a person asked for, once, with what was said of the answer."""

    session: Session
    turn: Turn
    complaints: list[Turn] = field(default_factory=list)
    rules: list[tuple[Turn, TypedRule]] = field(default_factory=list)
    retried: list[Turn] = field(default_factory=list)

    @property
    def is_new(self) -> bool:
        """Whether anything of it is from after the last harvest."""
        about = [self.turn, *self.complaints, *self.retried, *(turn for turn, _ in self.rules)]
        return any(self.session.is_new(turn) for turn in about)


def mine_heuristic(sessions: Sequence[Session], *, most: int | None = None) -> list[MinedTask]:
    """Tasks from what persons said, those with the most behind them first, at most so many."""
    requests = [request for session in sessions for request in requests_in(session)]
    groups = clusters([request.turn.text for request in requests])
    subjects = [_Subject.of([requests[index] for index in group]) for group in groups]
    worth = [subject for subject in subjects if subject.is_worth_a_task]
    worth.sort(key=lambda subject: (-subject.weight, fingerprint(subject.prompt)))
    tasks = (subject.task() for subject in worth)
    return list(islice((task for task in tasks if task is not None), most))


def requests_in(session: Session) -> list[Request]:
    """A session's requests; a correction belongs to the request before it, and so does a rule."""
    requests: list[Request] = []
    answered = False
    for turn in session.turns:
        if not turn.origin.is_person:
            stopped = turn.text.startswith(INTERRUPTED)
            answered = answered or turn.speaker is Speaker.ASSISTANT or stopped
            continue
        _take(session, turn, requests, answered=answered or turn.origin is Origin.STEERING)
        answered = False
    return requests


def _take(session: Session, turn: Turn, requests: list[Request], *, answered: bool) -> None:
    last = requests[-1] if requests else None
    rules = [(turn, rule) for rule in typed_rules(turn.text)]
    if last is not None and answered and mood(turn.text) is Mood.COMPLAINT:
        last.complaints.append(turn)
        last.rules += rules
    elif last is not None and answered and _is_retry(last.turn, turn):
        last.retried.append(turn)
    elif last is not None and rules and _is_only_rules(turn, rules):
        last.rules += rules
    elif is_request(turn.text):
        requests.append(Request(session, turn, rules=rules))


def is_request(text: str) -> bool:
    """Whether a message asks for something that can be understood by itself."""
    stripped = text.strip()
    if not stripped or len(stripped) > LONGEST_REQUEST or _GO_ON.match(stripped[:200]):
        return False
    return len(stripped.split()) >= 3 or len(_CJK.findall(stripped)) >= 6


def _is_retry(first: Turn, second: Turn) -> bool:
    return len(clusters([first.text, second.text])) == 1


def _is_only_rules(turn: Turn, rules: Sequence[tuple[Turn, TypedRule]]) -> bool:
    length = sum(len(rule.text) for _, rule in rules)
    return length >= 0.7 * len(" ".join(turn.text.split()))


@dataclass(frozen=True)
class _Subject:
    """Requests that ask the same, the oldest first, with all that was said of the answers."""

    requests: Sequence[Request]
    rules: Sequence[tuple[Session, Turn, TypedRule]]
    complaints: Sequence[tuple[Session, Turn]]
    retries: Sequence[tuple[Session, Turn]]

    @staticmethod
    def of(requests: Sequence[Request]) -> _Subject:
        """The subject of some requests."""
        ordered = sorted(requests, key=lambda r: (r.turn.time is None, r.turn.time, r.turn.id))
        return _Subject(
            requests=ordered,
            rules=[(r.session, *rule) for r in ordered for rule in r.rules],
            complaints=[(r.session, turn) for r in ordered for turn in r.complaints],
            retries=[(r.session, turn) for r in ordered for turn in r.retried],
        )

    @property
    def prompt(self) -> str:
        """The request as it was first made."""
        return self.requests[0].turn.text

    @property
    def recurs(self) -> int:
        """In how many lineages it was asked again."""
        return len({request.session.lineage for request in self.requests}) - 1

    @property
    def weight(self) -> float:
        """How much speaks for making a task of it."""
        return (
            RULE_WEIGHT * len(self.rules)
            + COMPLAINT_WEIGHT * len(self.complaints)
            + RETRY_WEIGHT * len(self.retries)
            + RECURRENCE_WEIGHT * self.recurs
        )

    @property
    def is_worth_a_task(self) -> bool:
        """Whether somebody was dissatisfied or asked again, and something of it is new."""
        return self.weight > 0 and any(request.is_new for request in self.requests)

    def task(self) -> MinedTask | None:
        """The task; `None` when no judge can be built."""
        evidence = [
            *((request.session, request.turn) for request in self.requests),
            *((session, turn) for session, turn, _ in self.rules),
            *self.complaints,
            *self.retries,
        ]
        kind = "rule" if self.rules else "correction" if self.complaints else "retry"
        return mined_task(
            self.prompt,
            _judge([rule for *_, rule in self.rules], [turn for _, turn in self.complaints]),
            tuple({(s.id, t.id): (s, t) for s, t in evidence}.values()),
            tags=("heuristic", kind),
            weight=self.weight,
        )


def _judge(rules: Iterable[TypedRule], complaints: Sequence[Turn]) -> JudgeSpec:
    """Checks, where rules or complaints name something; else criteria for a rubric."""
    rules = list(rules)
    checks = [check for rule in rules for check in rule.checks]
    if not checks:
        checks = [check for turn in complaints for check in checks_in(turn.text[:400])]
    distinct = {(str(check["op"]), str(check["arg"])): check for check in checks}
    if distinct:
        listed: list[JsonValue] = list(list(distinct.values())[:MOST_CHECKS])
        return JudgeSpec(kind="rule", settings={"checks": listed})
    wishes = [rule.text for rule in rules] or [
        on_one_line(turn.text, COMPLAINT_CHARS) for turn in complaints
    ]
    criteria: list[JsonValue] = [f"The person would not have to say: “{text}”" for text in wishes]
    general: list[JsonValue] = list(GENERAL_CRITERIA)
    return JudgeSpec(
        kind="rubric",
        settings={"criteria": list(dict.fromkeys(criteria))[:MOST_CRITERIA] or general},
    )
