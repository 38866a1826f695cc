from __future__ import annotations

import json
from pathlib import Path

import pytest
from night_projects import CHECKED, House, Proposing, asks

from skillgit.errors import CallError, WaitingError
from skillgit.records import Message, ModelRequest, Role, Speaker
from skillgit.sleep.night.handoff import Handoff


def question(text: str) -> ModelRequest:
    return ModelRequest(model="m", messages=(Message(role=Speaker.USER, content=text),))


def answer_all(folder: Path, optimizer: Proposing | None = None) -> int:
    """Answer each open question, as a person's agent would from its text alone."""
    count = 0
    for file in sorted(folder.glob("*.md")):
        if file.name.endswith(".answer.md"):
            continue
        text = file.read_text()
        if '"FailureAnalysis"' in text:
            edits = [{"op": "add", "content": CHECKED, "rationale": "It is asked for."}]
            answer = {"reasoning": "", "failure_summary": [], "edits": edits}
        elif '"SlowMemory"' in text:
            answer = {"reasoning": "", "memory": "Closing lines are welcome."}
        else:
            answer = {"reasoning": "", "edits": []}
        said = f"Here it is:\n\n```json\n{json.dumps(answer)}\n```\n"
        file.with_name(f"{file.stem}.answer.md").write_text(said)
        count += 1
    return count


def test_a_question_waits_until_its_answer_lies_beside_it(tmp_path: Path) -> None:
    handoff = Handoff(tmp_path)
    with pytest.raises(WaitingError, match="waits for an answer"):
        handoff.complete(question("What now?"))
    (file,) = handoff.waiting()
    assert file.read_text() == "What now?\n"
    assert file.stat().st_mode & 0o077 == 0
    file.with_name(f"{file.stem}.answer.md").write_text("  \n")
    with pytest.raises(WaitingError):
        handoff.complete(question("What now?"))
    file.with_name(f"{file.stem}.answer.md").write_text("This.")
    assert Handoff(tmp_path).complete(question("What now?")).text == "This."


def test_a_question_says_what_its_answer_looks_like(tmp_path: Path) -> None:
    handoff = Handoff(tmp_path)
    schema = {"title": "SlowMemory", "type": "object"}
    with pytest.raises(WaitingError):
        handoff.complete(question("What now?").model_copy(update={"answer_schema": schema}))
    (file,) = handoff.waiting()
    assert file.read_text().startswith("What now?\n")
    assert json.dumps(schema) in file.read_text()


def test_an_answer_that_is_no_text_is_a_call_that_failed(tmp_path: Path) -> None:
    handoff = Handoff(tmp_path)
    with pytest.raises(WaitingError):
        handoff.complete(question("What now?"))
    (file,) = handoff.waiting()
    file.with_name(f"{file.stem}.answer.md").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CallError):
        handoff.complete(question("What now?"))


def test_a_night_goes_on_where_it_stopped_once_its_questions_are_answered(
    house: House, tmp_path: Path
) -> None:
    folder = tmp_path / "questions"
    folder.mkdir()
    rounds, asked = 0, 0
    while True:
        try:
            outcome = house.sleep(
                asks(), sleep='optimizer = "handoff"', stand_ins={Role.OPTIMIZER: Handoff(folder)}
            )
            break
        except WaitingError:
            rounds += 1
            answered = answer_all(folder)
            assert answered
            asked += answered
    assert outcome.report.night == 1
    assert outcome.report.accepted
    assert house.state.slow_memory == "Closing lines are welcome.\n"
    assert rounds == 2


def test_all_questions_of_one_phase_are_asked_at_once(house: House, tmp_path: Path) -> None:
    handoff = Handoff(tmp_path)
    tasks = asks(train=4, val=3)
    with pytest.raises(WaitingError):
        house.sleep(tasks, sleep="dream_factor = 1", stand_ins={Role.OPTIMIZER: handoff})
    assert len(handoff.waiting()) == 4
