"""The slow memory: what the optimizer knows of a person's taste, read and written anew every night."""

from __future__ import annotations

from pydantic import Field, JsonValue

from skillgit.errors import CallError, ReplyError
from skillgit.prompting.edit_parser import text_or_nothing
from skillgit.prompting.prompts import Answer, Optimizer, Prompt
from skillgit.records import Record
from skillgit.redaction import redact
from skillgit.stages.rendering import NOTHING_YET, fenced

PURPOSE = "slow_memory"
MAX_MEMORY = 6_000
"""The longest memory there is. Unit: characters."""


class SlowMemoryFields(Record):
    """What the optimizer is shown."""

    tonight: str
    decided: str
    previous_memory: str


class SlowMemory(Answer):
    """The optimizer's answer."""

    reasoning: str
    memory: str = Field(description="The whole new memory; it takes the previous one's place.")


SLOW_MEMORY = Prompt("slow_memory", SlowMemoryFields, SlowMemory)


def write_slow_memory(
    tonight: str, decided: str, previous: str, optimizer: Optimizer
) -> tuple[str, str]:
    """The new memory, and the reason if it is still the previous one.

    Raises: BlockedError, BudgetError, WaitingError.
    """
    fields = SlowMemoryFields(
        tonight=fenced(tonight),
        decided=decided or NOTHING_YET,
        previous_memory=fenced(previous) if previous.strip() else NOTHING_YET,
    )
    try:
        answered = optimizer.ask_for(_read, SLOW_MEMORY, fields, purpose=PURPOSE, slot="memory")
    except (ReplyError, CallError) as error:
        return previous, str(error)
    return answered.answer, ""


def _read(value: JsonValue) -> str:
    if not isinstance(value, dict):
        raise ReplyError("it is no object")
    memory = redact(text_or_nothing(value.get("memory"))).strip()
    if not memory:
        raise ReplyError("it has no memory")
    if len(memory) > MAX_MEMORY:
        raise ReplyError(f"the memory is {len(memory)} characters long, over {MAX_MEMORY}")
    return memory + "\n"
