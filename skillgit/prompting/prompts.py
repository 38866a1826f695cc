"""Prompts, and the optimizer that is asked with them.

A prompt is a Markdown file with `$name` holes and one declaration where it is used: the record
that fills the holes and the record that the answer is read into, which also has its schema.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from string import Template
from typing import Any, Generic, TypeVar, overload

from pydantic import JsonValue

from skillgit.errors import ConfigError, ReplyError
from skillgit.ports import Model, Paid
from skillgit.prompting.answers import Answer
from skillgit.prompting.replies import extract
from skillgit.prompting.resources import shipped_names, shipped_text
from skillgit.records import Message, ModelReply, ModelRequest, PaidCall, Record, Role, Speaker
from skillgit.records.canonical import slot_seed
from skillgit.redaction import redact

FOLDER = "prompts"
SUFFIX = ".md"
SCHEMA_HOLE = "answer_schema"
CUT_OFF = "length"

FieldsT = TypeVar("FieldsT", bound=Record)
AnswerT = TypeVar("AnswerT", bound=Answer)
UsedT = TypeVar("UsedT")


@dataclass(frozen=True)
class Prompt(Generic[FieldsT, AnswerT]):
    """The prompt in `prompts/<name>.md`: what fills its holes, and what its answer has to be."""

    name: str
    fields: type[FieldsT]
    answer: type[AnswerT]

    def render(self, text: str, fields: FieldsT) -> str:
        """The text with every hole filled, in one pass: a `$` in a value stays as it is.

        The answer's schema stands in it where a project's own prompt has a hole for it; else it
        goes with the request, and into the text only for an endpoint that takes no schema.
        """
        values = {name: str(value) for name, value in fields}
        return Template(text).substitute(values, **{SCHEMA_HOLE: self.answer.schema_text()})

    def schema(self) -> dict[str, JsonValue]:
        """The answer's JSON schema."""
        schema: dict[str, JsonValue] = json.loads(self.answer.schema_text())
        return schema

    def request(
        self,
        text: str,
        fields: FieldsT,
        *,
        model: str,
        temperature: float | None,
        max_tokens: int | None,
        seed: int,
    ) -> ModelRequest:
        """What a model is sent: the prompt's text, filled, and the schema its answer has to fit."""
        return ModelRequest(
            model=model,
            messages=(Message(role=Speaker.USER, content=self.render(text, fields)),),
            answer_schema=self.schema(),
            temperature=temperature,
            max_tokens=max_tokens,
            seed=seed,
        )


@dataclass(frozen=True)
class Answered(Generic[UsedT]):
    """An answer as it was read, and as the model wrote it."""

    answer: UsedT
    text: str


@lru_cache(maxsize=64)
def holes(text: str) -> frozenset[str]:
    """The names of a prompt's holes.

    Raises: ConfigError for a `$` that begins no name.
    """
    template = Template(text)
    if not template.is_valid():
        raise ConfigError(
            "a prompt has a $ that begins no hole", hint="Write $$ for a dollar sign."
        )
    return frozenset(template.get_identifiers())


def load_prompts(overrides: Mapping[str, str] | None = None) -> dict[str, str]:
    """Every prompt's text by name, a project's own in place of the shipped ones.

    Raises: ConfigError for an override that no prompt has the name of, or whose holes differ
    from those of the prompt it replaces.
    """
    texts = {
        name.removesuffix(SUFFIX): shipped_text(FOLDER, name)
        for name in shipped_names(FOLDER)
        if name.endswith(SUFFIX)
    }
    for name, text in sorted((overrides or {}).items()):
        if name not in texts:
            raise ConfigError(
                f"there is no prompt {name!r} to override",
                hint=f"The prompts are: {', '.join(sorted(texts))}.",
            )
        _check_override(name, text, holes(texts[name]))
        texts[name] = text
    return texts


@lru_cache(maxsize=64)
def prompt_id(text: str) -> str:
    """The id git gives a file with this text."""
    data = text.encode("utf-8")
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


@dataclass(frozen=True)
class Optimizer:
    """The model that writes edits, asked through prompts.

    `texts` are the prompts by name, `seed` is what the seeds of all its calls come from,
    `workers` how many calls may be in flight at once;
    `prompt_ids` has the id of every prompt that was asked with.
    """

    model: Model
    model_name: str
    paid: Paid
    texts: Mapping[str, str]
    seed: int
    temperature: float | None = None
    max_tokens: int | None = None
    workers: int = 1
    prompt_ids: dict[str, str] = field(default_factory=dict)

    @overload
    def ask(
        self, prompt: Prompt[FieldsT, AnswerT], fields: FieldsT, *, purpose: str, slot: str
    ) -> Answered[AnswerT]: ...

    @overload
    def ask(
        self,
        prompt: Prompt[FieldsT, AnswerT],
        fields: FieldsT,
        *,
        purpose: str,
        slot: str,
        accept: Callable[[AnswerT], UsedT],
    ) -> Answered[UsedT]: ...

    def ask(
        self,
        prompt: Prompt[FieldsT, AnswerT],
        fields: FieldsT,
        *,
        purpose: str,
        slot: str,
        accept: Callable[[AnswerT], Any] | None = None,
    ) -> Answered[Any]:
        """The model's answer to a prompt, read into the prompt's answer record.

        `accept` makes of it what the asker needs, and raises ReplyError where it cannot: what
        else in the reply could be the answer is then tried. Secrets are taken out of the reply
        first: what is read from it may be committed.

        Raises: ReplyError with the whole answer on it; CallError, BlockedError, BudgetError.
        """

        def read(value: JsonValue) -> Any:
            answer = prompt.answer.read(value)
            return answer if accept is None else accept(answer)

        text = self.texts[prompt.name]
        self.prompt_ids[prompt.name] = prompt_id(text)
        request = prompt.request(
            text,
            fields,
            model=self.model_name,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            seed=slot_seed(self.seed, purpose, slot),
        )
        call = PaidCall(role=Role.OPTIMIZER, purpose=purpose, slot=slot)
        reply = self.paid(call, request, ModelReply, lambda: self.model.complete(request))
        answer = redact(reply.text)
        try:
            return Answered(extract(answer, read), answer)
        except ReplyError as error:
            cut = "cut off by the token limit: " if reply.finish_reason == CUT_OFF else ""
            raise ReplyError(f"{cut}{error}", text=answer) from error


def _check_override(name: str, text: str, expected: frozenset[str]) -> None:
    found = _holes_of_override(name, text) - {SCHEMA_HOLE}
    unknown, missing = sorted(found - expected), sorted(expected - found - {SCHEMA_HOLE})
    wrong = [f"no hole ${hole} exists" for hole in unknown]
    wrong += [f"the hole ${hole} is missing" for hole in missing]
    if wrong:
        raise ConfigError(
            f"the prompt {name!r} of this project: {'; '.join(wrong)}",
            hint=f"Its holes are: {', '.join(f'${hole}' for hole in sorted(expected))}.",
        )


def _holes_of_override(name: str, text: str) -> frozenset[str]:
    try:
        return holes(text)
    except ConfigError as error:
        raise ConfigError(
            f"the prompt {name!r} of this project has a $ that begins no hole", hint=error.hint
        ) from error
