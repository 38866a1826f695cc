"""The simulated models with a say before each call: an answer of one's own, or a death."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable

from projects import SKILL_PATH, Project

from skillgit.history import NoteLine
from skillgit.ports import Model
from skillgit.records import ModelReply, ModelRequest
from skillgit.train import train
from skillgit.training.resume import open_run
from skillgit.training.state import Recorded

Say = Callable[[ModelRequest], str | None]


class Stopped(BaseException):
    """Stands for a death of the process in the middle of a call."""


class Scripted:
    """Wraps a run's models; `calls_left` is how many calls there are before the death."""

    def __init__(self, say: Say | None = None, *, calls_left: int | None = None) -> None:
        self.say: Say = say or (lambda _: None)
        self.requests: list[ModelRequest] = []
        self.calls_left = calls_left
        self._lock = threading.Lock()

    def __call__(self, model: Model) -> Model:
        outer = self

        class Wrapped:
            def complete(self, request: ModelRequest) -> ModelReply:
                with outer._lock:
                    outer.requests.append(request)
                    if outer.calls_left is not None:
                        outer.calls_left -= 1
                        if outer.calls_left < 0:
                            raise Stopped
                text = outer.say(request)
                return model.complete(request) if text is None else ModelReply(text=text)

        return Wrapped()

    def asked(self, title: str) -> list[str]:
        """The prompts that asked for an answer of this name, in order."""
        return [r.messages[-1].content for r in self.requests if title_of(r) == title]


def title_of(request: ModelRequest) -> str:
    return str((request.answer_schema or {}).get("title", ""))


def answers(**by_title: object) -> Say:
    """Fixed answers by the name of what is asked for; a text is sent as it is."""

    def say(request: ModelRequest) -> str | None:
        answer = by_title.get(title_of(request))
        return answer if answer is None or isinstance(answer, str) else json.dumps(answer)

    return say


def lines_of(records: list[Recorded], kind: type[NoteLine]) -> list[NoteLine]:
    return [line for r in records for line in r.entry.lines if isinstance(line, kind)]


def text_at(project: Project, rev: str = "skillopt/run/train-1") -> str:
    return project.git("show", f"{rev}:{SKILL_PATH}")


def trained_refs(project: Project) -> dict[str, str]:
    return {ref: target for ref, target in project.refs().items() if "skillopt" in ref}


def requests(project: Project) -> list[tuple[str, ...]]:
    connection = sqlite3.connect(project.path / ".git/skillgit/journal.sqlite")
    try:
        rows = connection.execute("SELECT step, purpose, slot, request FROM replies").fetchall()
        return sorted(rows)
    finally:
        connection.close()


def advance(project: Project, until: Callable[[Recorded], bool]) -> None:
    """Train until a record is there, and stop."""
    with project.training_context() as context:
        context.store.prepare()
        for record in train(open_run(context).training):
            if until(record):
                return


def dies_next(project: Project, calls: int) -> bool:
    """Go on with the run for so many calls, then die; whether it died within the next moment."""
    with project.training_context(wrap=Scripted(calls_left=calls)) as context:
        context.store.prepare()
        try:
            next(train(open_run(context).training))
        except Stopped:
            return True
    return False
