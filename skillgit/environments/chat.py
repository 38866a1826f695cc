"""The chat environment: the skill as system prompt, the task as what the user says.

A task's tools are declared to the model and answered by their fixed results, so that a judge can
see which were called.
"""

from __future__ import annotations

from collections.abc import Mapping

from skillgit.config import ModelConfig
from skillgit.environments.agent_reply import refuse_login_message
from skillgit.errors import CallError
from skillgit.ports import Model, Paid
from skillgit.records import (
    Message,
    ModelReply,
    ModelRequest,
    PaidCall,
    Role,
    Rollout,
    Skill,
    Speaker,
    Task,
    ToolCall,
    Usage,
)

VERSION = 1

MAX_TOOL_ROUNDS = 6
"""How many answers to one user message may call tools before the conversation goes on."""


class ChatEnvironment:
    """Talks a task through with a model."""

    def __init__(self, model: Model, config: ModelConfig) -> None:
        self._model = model
        self._config = config

    @property
    def fingerprint(self) -> Mapping[str, str | int | float | None]:
        """The model and how it is sampled, and this environment with its version."""
        config = self._config
        known: dict[str, str | int | float | None] = {
            "environment": "chat",
            "version": VERSION,
            "provider": config.provider,
            "model": config.model,
            "temperature": config.temperature,
            "max_tokens": config.max_tokens,
        }
        if config.kind.reads_simulation:
            known |= config.simulation.model_dump(exclude={"latency_ms"})
        return known

    def max_calls(self, task: Task) -> int:
        """A call for every message of the user's, and more where tools may be called."""
        return (1 + len(task.turns)) * (MAX_TOOL_ROUNDS if task.tools else 1)

    def rollout(
        self, task: Task, skill: Skill, paid: Paid, *, purpose: str, slot: str, seed: int
    ) -> Rollout:
        """The conversation, and the model's last words as the answer."""
        conversation = _Conversation(self._model, self._config, task, paid, purpose, slot, seed)
        failure = None
        try:
            conversation.hold(skill)
        except CallError as error:
            failure = str(error) or "the call failed"
        return Rollout(
            task_id=task.id,
            answer="" if failure else conversation.answer,
            trajectory=tuple(conversation.messages),
            usage=conversation.usage,
            milliseconds=conversation.milliseconds,
            failure=failure,
        )


class _Conversation:
    """One task being talked through; its calls are counted, and each is its own slot."""

    def __init__(
        self,
        model: Model,
        config: ModelConfig,
        task: Task,
        paid: Paid,
        purpose: str,
        slot: str,
        seed: int,
    ) -> None:
        self._model = model
        self._config = config
        self._task = task
        self._paid = paid
        self._purpose = purpose
        self._slot = slot
        self._seed = seed
        self._calls = 0
        self.messages: list[Message] = []
        self.answer = ""
        self.usage = Usage()
        self.milliseconds = 0

    def hold(self, skill: Skill) -> None:
        """Say everything the user says, and hear the answers.

        Raises: CallError, BlockedError, BudgetError.
        """
        system = system_prompt(skill, self._task)
        if system:
            self.messages.append(Message(role=Speaker.SYSTEM, content=system))
        for text in (first_message(self._task), *self._task.turns):
            self.messages.append(Message(role=Speaker.USER, content=text))
            self._hear_out()

    def _hear_out(self) -> None:
        """Take answers until one calls no tool, or too many have."""
        for _ in range(MAX_TOOL_ROUNDS if self._task.tools else 1):
            reply = self._ask()
            calls = reply.tool_calls if self._task.tools else ()
            self.messages.append(
                Message(role=Speaker.ASSISTANT, content=reply.text, tool_calls=calls)
            )
            self.answer = reply.text
            if not calls:
                return
            self.messages.extend(self._result_of(call) for call in calls)

    def _ask(self) -> ModelReply:
        request = ModelRequest(
            model=self._config.model,
            messages=tuple(self.messages),
            tools=self._task.tools,
            temperature=self._config.temperature,
            max_tokens=self._config.max_tokens,
            seed=self._seed,
        )
        call = PaidCall(role=Role.TARGET, purpose=self._purpose, slot=f"{self._slot}/{self._calls}")
        self._calls += 1
        reply = self._paid(call, request, ModelReply, lambda: self._perform(request))
        self.usage = self.usage + reply.usage
        self.milliseconds += reply.milliseconds
        return reply

    def _perform(self, request: ModelRequest) -> ModelReply:
        """The model's reply; a login message is refused before anyone keeps it."""
        reply = self._model.complete(request)
        refuse_login_message(reply.text, who=f"the target {self._config.model!r}")
        return reply

    def _result_of(self, call: ToolCall) -> Message:
        results = {tool.name: tool.result for tool in self._task.tools}
        result = results.get(call.name, f"error: there is no tool {call.name!r}")
        return Message(role=Speaker.TOOL, content=result, tool_call_id=call.id)


# ── How a skill and a task are put into words for a chat model.


def system_prompt(skill: Skill, task: Task) -> str:
    """The skill, then the task's own system text.

    Several documents stand in path order, each under its path as a heading.
    """
    documents = sorted(skill.documents, key=lambda document: document.path)
    texts = [document.data.decode("utf-8-sig", errors="replace") for document in documents]
    if len(documents) > 1:
        texts = [
            f"# {document.path}\n\n{text}" for document, text in zip(documents, texts, strict=True)
        ]
    return "\n\n".join(text.strip("\n") for text in (*texts, task.system) if text.strip())


def first_message(task: Task) -> str:
    """The context, if there is one, and the prompt."""
    return f"{task.context}\n\n{task.prompt}" if task.context.strip() else task.prompt
