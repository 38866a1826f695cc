"""The miner that asks the optimizer: every task stands on a person's words and has a judge."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from pydantic import JsonValue
from transcripts import ClaudeSession, read_bytes

from skillgit.config import SimulationConfig
from skillgit.models.simulated.model import respond
from skillgit.ports import ReplyT
from skillgit.prompting.prompts import Optimizer, load_prompts
from skillgit.records import ModelReply, ModelRequest, PaidCall, Record
from skillgit.sleep.harvest import Session
from skillgit.sleep.harvest.lineage import merged
from skillgit.sleep.mine.llm import batched, mine_llm, shown_sessions
from skillgit.sleep.mine.mined import SHAPE_ONLY

Answer = dict[str, JsonValue]


class Replying:
    """A model that says what a test tells it to, and keeps what it was asked."""

    def __init__(self, say: Callable[[ModelRequest], str]) -> None:
        self.asked: list[ModelRequest] = []
        self._say = say

    def complete(self, request: ModelRequest) -> ModelReply:
        self.asked.append(request)
        return ModelReply(text=self._say(request))


def pay(
    call: PaidCall, request: Record, reply: type[ReplyT], perform: Callable[[], ReplyT]
) -> ReplyT:
    return perform()


def optimizer(model: Replying) -> Optimizer:
    return Optimizer(model=model, model_name="m", paid=pay, texts=load_prompts(), seed=1)


def session(name: str = "s1") -> Session:
    built = ClaudeSession(name).user("Write the release notes").agent("Here is a table.")
    built.user("no, use bullets instead of a table").user("injected", isMeta=True)
    return merged(read_bytes("claude-code", built.data, f"{name}.jsonl"))


def proposal(**fields: Any) -> Answer:
    checks: list[JsonValue] = [{"op": "contains", "arg": "- ", "hint": "Use bullets."}]
    usual: Answer = {"prompt": "Write release notes", "checks": checks, "evidence": ["s1.3"]}
    return usual | fields


def mined(*proposals: Answer | JsonValue, sessions: int = 1) -> Any:
    model = Replying(lambda _: json.dumps({"tasks": list(proposals)}))
    return mine_llm([session(f"s{n}") for n in range(sessions)], optimizer(model), workers=1)


def test_a_proposal_on_a_persons_words_becomes_a_task() -> None:
    (task,) = mined(proposal()).tasks
    assert task.prompt == "Write release notes"
    assert task.evidence[0].text == "no, use bullets instead of a table"
    assert "llm" in task.tags


def test_one_on_a_machines_words_or_on_none_is_dropped_with_a_reason() -> None:
    for evidence in ([], ["s1.2"], ["s1.4"], ["s9.9"], ["nonsense"]):
        found = mined(proposal(evidence=evidence))
        assert (found.tasks, len(found.dropped)) == ([], 1)


def test_one_whose_judge_cannot_be_built_is_dropped() -> None:
    for checks in (
        [{"op": "regex", "arg": "("}],
        [{"op": "smells", "arg": "x"}],
        [{"op": "contains"}],
    ):
        assert mined(proposal(checks=checks)).tasks == []
    assert mined(proposal(checks=[], criteria=[" "])).tasks == []
    assert mined(proposal(prompt="  ")).tasks == []


def test_criteria_make_a_rubric_and_form_alone_is_marked() -> None:
    (task,) = mined(proposal(checks=[], criteria=["It is in bullets."])).tasks
    assert task.judge.kind == "rubric"
    (task,) = mined(proposal(checks=[{"op": "max_chars", "arg": 100}])).tasks
    assert SHAPE_ONLY in task.tags


def test_a_wrong_item_costs_itself_and_a_wrong_answer_its_call() -> None:
    assert len(mined(5, None, {"prompt": 1}, proposal()).tasks) == 1
    for text in ("no JSON here", '{"tasks": 5}', "[1, 2]", ""):
        found = mine_llm([session()], optimizer(Replying(lambda _, text=text: text)), workers=1)
        assert found.tasks == []
        assert "no usable answer" in found.dropped[0]


def test_secrets_are_taken_out_of_what_comes_back() -> None:
    key = "ghp_" + "a1B2" * 9
    (task,) = mined(
        proposal(prompt=f"Push with {key}", checks=[{"op": "contains", "arg": key}])
    ).tasks
    assert key not in task.model_dump_json()


def test_the_prompt_shows_labels_and_whose_words_they_are() -> None:
    model = Replying(lambda _: '{"tasks": []}')
    mine_llm([session()], optimizer(model), workers=1)
    text = model.asked[0].messages[0].content
    assert "[s1.1 human] Write the release notes" in text
    assert "[s1.2 agent] Here is a table." in text
    assert "injected" not in shown_sessions([session()])[0]
    assert model.asked[0].answer_schema["title"] == "MineAnswer"  # type: ignore[index]


def test_many_sessions_are_asked_about_in_several_calls() -> None:
    sessions = [session(f"s{number}") for number in range(400)]
    batches = batched(sessions)
    assert len(batches) > 1
    assert sum(map(len, batches)) == 400


def test_the_simulated_optimizer_answers_in_the_contract() -> None:
    def say(request: ModelRequest) -> str:
        return respond(
            request.model_copy(update={"model": "sim-optimizer"}), SimulationConfig()
        ).text

    sessions = []
    for topic in ("tides", "winds", "bees", "trains", "seeds", "bricks"):
        built = ClaudeSession(topic).user(f"Write the notes on {topic}").agent()
        built.user("no, use bullets instead of a table")
        sessions.append(merged(read_bytes("claude-code", built.data, f"{topic}.jsonl")))
    found = [mine_llm([one], optimizer(Replying(say)), workers=1) for one in sessions]
    tasks = [task for result in found for task in result.tasks]
    assert tasks
    assert all(task.judge.settings["checks"][0]["arg"] == "bullets" for task in tasks)  # type: ignore[index,call-overload]
