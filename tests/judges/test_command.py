"""The command judge: exit codes, printed scores, and programs that go wrong."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import pytest

from skillgit.errors import BlockedError, TaskError, UserError
from skillgit.judges import JudgeResources, judge_commands, read_judge
from skillgit.records import (
    Grade,
    JudgeSpec,
    PaidCall,
    PaidReply,
    Record,
    Role,
    Rollout,
    Split,
    Task,
)
from skillgit.runtime.processes import CommandReply

T = TypeVar("T", bound=PaidReply)


class WallClock:
    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class Journal:
    """A `Paid` that answers an equal question from memory."""

    def __init__(self) -> None:
        self.calls: list[PaidCall] = []
        self.known: dict[tuple[PaidCall, str], Any] = {}

    def __call__(
        self, call: PaidCall, request: Record, reply: type[T], perform: Callable[[], T]
    ) -> T:
        self.calls.append(call)
        key = (call, request.model_dump_json())
        if key not in self.known:
            self.known[key] = perform()
        answer: T = self.known[key]
        return answer


def command_task(*command: str, **settings: Any) -> Task:
    spec = JudgeSpec(kind="command", settings={"command": list(command), **settings})
    return Task(id="t1", prompt="p", reference="r", judge=spec, split=Split.VAL)


def resources(root: Path | None = None, **variables: str) -> JudgeResources:
    return JudgeResources(
        clock=WallClock(),
        root=None if root is None else str(root),
        variables={"PATH": os.environ["PATH"], **variables},
        may_run=lambda command: True,
    )


def grade(script: str, answer: str = "x", paid: Any = None, **settings: Any) -> Grade:
    judge = read_judge(command_task("sh", "-c", script, **settings)).build(resources(CITY="Bern"))
    rollout = Rollout(task_id="t1", answer=answer, files={"out/a.txt": "made\n"})
    return judge.grade(rollout, paid or Journal(), "t1/0")


def scores(result: Grade) -> tuple[float, float] | None:
    return None if result.score is None else (result.score.hard, result.score.soft)


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("exit 0", (1, 1)),
        ("exit 1", (0, 0)),
        ("exit 5", (0, 0)),
        ("""echo '{"hard": 1, "soft": 0.5}'""", (1, 0.5)),
        ("""echo '{"hard": 0.25}'; exit 1""", (0.25, 0.25)),
        ("""echo running; echo '{"hard": 0, "soft": 0.75, "reason": "one of four"}'""", (0, 0.75)),
        ("""printf '{\n "hard": 1,\n "soft": 1\n}\n'""", (1, 1)),
        ("""echo '{"hard": 1}'; echo bye; exit 1""", (0, 0)),
        ("""echo '{"hard": 85}'""", None),
        ("""echo '{"hard": NaN}'""", None),
        ("""echo '{"hard": 1e309}'""", None),
        ("""echo '{"hard": true}'""", None),
        ("""echo '{"hard": "1"}'""", None),
        ("""echo '{"hard": null}'""", None),
        ("""echo '{"soft": 0.5}'""", None),
        ("""echo '{"hard": 1, "soft": -1}'""", None),
        ("""echo '{"hard": 1, "sofd": 1}'""", None),
        ("kill -9 $$", None),
    ],
)
def test_exit_codes_and_printed_scores(script: str, expected: tuple[float, float] | None) -> None:
    assert scores(grade(script)) == expected


def test_the_reason_is_what_the_program_says() -> None:
    assert grade("""echo '{"hard": 0, "reason": "one of four"}'""").reason == "one of four"
    assert grade("echo first; echo 2 failed; exit 1").reason == "2 failed"
    assert grade("echo on stderr >&2; exit 1").reason == "on stderr"
    assert grade("exit 4").reason == "the judge ended with 4"


def test_the_program_reads_task_answer_and_files() -> None:
    read = json.loads(grade("cat", answer="é").reason)
    assert read["answer"] == "é"
    assert (read["task"]["id"], read["task"]["reference"]) == ("t1", "r")
    assert "judge" not in read["task"]
    assert grade("cat out/a.txt").reason == "made"


def test_only_named_variables_are_seen() -> None:
    assert grade('test -z "$CITY"').passed
    assert grade('test "$CITY" = Bern', env=["CITY"]).passed


def test_a_program_that_does_not_end_is_unscored() -> None:
    result = grade("sleep 60", timeout=0.2)
    assert result.score is None
    assert "0.2 s" in result.reason


def test_an_equal_question_is_not_paid_twice(tmp_path: Path) -> None:
    paid = Journal()
    script = f"echo ran >> {tmp_path}/count"
    assert scores(grade(script, paid=paid)) == scores(grade(script, paid=paid)) == (1, 1)
    assert (tmp_path / "count").read_text() == "ran\n"
    assert paid.calls[0] == PaidCall(role=Role.JUDGE, purpose="judge", slot="t1/0")


def test_a_journaled_reply_can_be_read_back() -> None:
    reply = CommandReply(exit_code=1, stdout="x", cut=3)
    assert CommandReply.model_validate_json(reply.model_dump_json()) == reply


@pytest.mark.parametrize("script", ["no-such-program", "exit 126"])
def test_a_program_that_cannot_be_run_is_blocked(script: str) -> None:
    with pytest.raises(BlockedError):
        grade(script)


def test_a_command_that_is_not_trusted_is_not_run(tmp_path: Path) -> None:
    judge = read_judge(command_task("touch", str(tmp_path / "ran"))).build(
        JudgeResources(clock=WallClock())
    )
    with pytest.raises(UserError, match="have not allowed: touch"):
        judge.grade(Rollout(task_id="t1", answer=""), Journal(), "t1/0")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "settings",
    [
        {"command": []},
        {"command": [""]},
        {"command": "pytest -q"},
        {"command": ["x"], "timeout": 0},
        {"command": ["x"], "shell": True},
        {},
    ],
)
def test_settings_that_cannot_be_used_are_refused(settings: dict[str, Any]) -> None:
    spec = JudgeSpec(kind="command", settings=settings)
    task = Task(id="t1", prompt="p", judge=spec, split=Split.VAL)
    with pytest.raises(TaskError, match="task 't1': judge 'command'"):
        read_judge(task).build(JudgeResources())


def test_the_identity_changes_with_the_program_not_with_its_time_limit(tmp_path: Path) -> None:
    (tmp_path / "check.py").write_text("1")
    before = read_judge(command_task("python3", "check.py")).identity(resources(tmp_path))
    assert before == read_judge(command_task("python3", "check.py", timeout=5)).identity(
        resources(tmp_path)
    )
    (tmp_path / "check.py").write_text("2")
    assert before != read_judge(command_task("python3", "check.py")).identity(resources(tmp_path))


def test_the_commands_that_need_trust_are_listed_once() -> None:
    tasks = [command_task("a", "b"), command_task("c"), command_task("a", "b")]
    assert judge_commands(tasks) == (("a", "b"), ("c",))
