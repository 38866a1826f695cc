"""The chat environment: what a model is told, and what becomes of its answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from skillgit.config import ModelConfig
from skillgit.environments.chat import MAX_TOOL_ROUNDS, ChatEnvironment
from skillgit.errors import BlockedError, BudgetError, CallError
from skillgit.records import (
    JudgeSpec,
    ModelReply,
    ModelRequest,
    PaidCall,
    PaidReply,
    Record,
    Role,
    Rollout,
    Skill,
    SkillDocument,
    Speaker,
    Split,
    Task,
    ToolCall,
    ToolSpec,
    Usage,
)

T = TypeVar("T", bound=PaidReply)
SKILL = Skill(
    name="brief", documents=(SkillDocument(path="SKILL.md", data=b"# Briefs\nBe brief.\n"),)
)
SEARCH = ToolSpec(name="search", description="looks things up", result="two hits")


class ScriptedModel:
    """Answers by a list, the last for ever; an exception in it is raised."""

    def __init__(self, *replies: ModelReply | Exception | str) -> None:
        self.replies = list(replies)
        self.requests: list[ModelRequest] = []

    def complete(self, request: ModelRequest) -> ModelReply:
        self.requests.append(request)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, Exception):
            raise reply
        return ModelReply(text=reply) if isinstance(reply, str) else reply


class Ledger:
    """A `Paid` that only remembers."""

    def __init__(self) -> None:
        self.calls: list[PaidCall] = []
        self.kept: list[PaidReply] = []

    def __call__(
        self, call: PaidCall, request: Record, reply: type[T], perform: Callable[[], T]
    ) -> T:
        self.calls.append(call)
        made = perform()
        self.kept.append(made)
        return made


def chat_task(**fields: Any) -> Task:
    judge = JudgeSpec(kind="exact")
    return Task(id="t1", prompt="Write it", judge=judge, split=Split.VAL, **fields)


def run(
    model: ScriptedModel, task: Task, paid: Any = None, skill: Skill = SKILL, **config: Any
) -> Rollout:
    environment = ChatEnvironment(model, ModelConfig(model="tiny", **config))
    return environment.rollout(
        task, skill, paid or Ledger(), purpose="evaluate", slot="t1/0", seed=7
    )


def said(request: ModelRequest) -> list[tuple[str, str]]:
    return [(m.role.value, m.content) for m in request.messages]


def test_the_skill_is_the_system_prompt_and_the_context_comes_before_the_prompt() -> None:
    model = ScriptedModel(ModelReply(text="done", usage=Usage(prompt_tokens=3), milliseconds=5))
    paid = Ledger()
    rollout = run(model, chat_task(context="Facts.", system="In French."), paid, temperature=0.5)
    assert said(model.requests[0]) == [
        ("system", "# Briefs\nBe brief.\n\nIn French."),
        ("user", "Facts.\n\nWrite it"),
    ]
    request = model.requests[0]
    assert (request.model, request.temperature, request.seed) == ("tiny", 0.5, 7)
    assert paid.calls == [PaidCall(role=Role.TARGET, purpose="evaluate", slot="t1/0/0")]
    assert (rollout.answer, rollout.usage.total, rollout.milliseconds) == ("done", 3, 5)


def test_several_documents_stand_in_path_order_under_their_paths() -> None:
    documents = (
        SkillDocument(path="s/SKILL.md", data=b"main"),
        SkillDocument(path="a/b.md", data=b"\xef\xbb\xbfmore"),
    )
    model = ScriptedModel("x")
    run(model, chat_task(), skill=Skill(name="s", documents=documents))
    assert model.requests[0].messages[0].content == "# a/b.md\n\nmore\n\n# s/SKILL.md\n\nmain"


def test_an_empty_skill_sends_no_system_message() -> None:
    model = ScriptedModel("x")
    empty = Skill(name="s", documents=(SkillDocument(path="SKILL.md", data=b"\n"),))
    run(model, chat_task(), skill=empty)
    assert [m.role for m in model.requests[0].messages] == [Speaker.USER]


def test_turns_are_said_one_by_one() -> None:
    model = ScriptedModel("one", "two", "three")
    paid = Ledger()
    rollout = run(model, chat_task(turns=("shorter", "again")), paid)
    assert rollout.answer == "three"
    assert [m.content for m in rollout.trajectory[1:]] == [
        "Write it", "one", "shorter", "two", "again", "three",
    ]  # fmt: skip
    assert [call.slot for call in paid.calls] == ["t1/0/0", "t1/0/1", "t1/0/2"]


def test_tools_are_answered_by_their_fixed_results() -> None:
    call = ModelReply(tool_calls=(ToolCall(id="c1", name="search", arguments="{}"),))
    model = ScriptedModel(call, "found")
    rollout = run(model, chat_task(tools=(SEARCH,)))
    assert rollout.answer == "found"
    assert model.requests[0].tools == (SEARCH,)
    answered = model.requests[1].messages[-1]
    assert (answered.role, answered.content, answered.tool_call_id) == (
        Speaker.TOOL, "two hits", "c1",
    )  # fmt: skip


def test_an_unknown_tool_is_answered_with_an_error() -> None:
    call = ModelReply(tool_calls=(ToolCall(id="c1", name="delete"),))
    model = ScriptedModel(call, "ok")
    run(model, chat_task(tools=(SEARCH,)))
    assert model.requests[1].messages[-1].content == "error: there is no tool 'delete'"


def test_a_model_that_only_calls_tools_comes_to_an_end() -> None:
    call = ModelReply(text="still", tool_calls=(ToolCall(id="c", name="search"),))
    model = ScriptedModel(call)
    task = chat_task(tools=(SEARCH,), turns=("go on",))
    rollout = run(model, task)
    assert rollout.answer == "still"
    most = ChatEnvironment(model, ModelConfig(model="tiny")).max_calls(task)
    assert len(model.requests) == most == 2 * MAX_TOOL_ROUNDS


def test_tool_calls_that_no_task_asked_for_are_ignored() -> None:
    model = ScriptedModel(ModelReply(text="x", tool_calls=(ToolCall(id="c", name="search"),)))
    rollout = run(model, chat_task())
    assert rollout.answer == "x"
    assert rollout.trajectory[-1].tool_calls == ()


def test_a_call_that_failed_is_a_rollout_with_its_reason() -> None:
    model = ScriptedModel("one", CallError("timed out after 120 s"))
    rollout = run(model, chat_task(turns=("more",)))
    assert rollout.failure == "timed out after 120 s"
    assert rollout.answer == ""
    assert len(rollout.trajectory) == 4


@pytest.mark.parametrize("error", [BlockedError("no key"), BudgetError("spent")])
def test_what_ends_a_run_passes_through(error: Exception) -> None:
    with pytest.raises(type(error)):
        run(ScriptedModel(error), chat_task())


@pytest.mark.parametrize(
    "message",
    [
        "Not logged in · Please run /login",
        "Invalid API key · Please run /login",
        "Invalid API key · Fix external API key",
        "not signed in.",
        "OAuth token has expired · Please run /login",
        'API Error: 401 {"error":{"type":"authentication_error"}}',
        "Credit balance is too low",
        "Please run `codex login` first.",
        "To get started with GitHub CLI, please run:  gh auth login".replace("  ", " "),
    ],
)
def test_a_login_message_is_blocked_and_not_kept(message: str) -> None:
    paid = Ledger()
    with pytest.raises(BlockedError, match="does not do tasks"):
        run(ScriptedModel(message), chat_task(), paid)
    assert paid.kept == []


@pytest.mark.parametrize(
    "answer",
    [
        "Users who are not logged in see a banner.",
        "Not logged in users see a banner.\nLogged in users do not.",
        "401 means that the request was not authorised.",
        "The page says: please log in.",
        "",
    ],
)
def test_an_answer_about_logging_in_is_an_answer(answer: str) -> None:
    assert run(ScriptedModel(answer), chat_task()).answer == answer


def test_the_fingerprint_holds_what_changes_results() -> None:
    def of(**config: Any) -> dict[str, Any]:
        return dict(
            ChatEnvironment(ScriptedModel(""), ModelConfig(model="m", **config)).fingerprint
        )

    assert of(temperature=0.1) != of(temperature=0.2)
    assert of(max_tokens=5) != of()
    assert of(timeout=1, retries=0, base_url="http://x", api_key_env="K") == of()
    assert of()["environment"] == "chat"
    slow = {"latency_ms": 50}
    simulated = "simulated"
    assert of(provider=simulated, simulation=slow) == of(provider=simulated)
    assert of(provider=simulated, simulation={"noise": 0.5}) != of(provider=simulated)
