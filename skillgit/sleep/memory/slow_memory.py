"""The slow memory: what the optimizer knows of a person's taste, read and written anew every night."""

from __future__ import annotations

from pydantic import Field

from skillgit.errors import CallError, ReplyError
from skillgit.prompting.answers import Answer, Memory, Text
from skillgit.prompting.prompts import Optimizer, Prompt
from skillgit.records import Record
from skillgit.stages.rendering import NOTHING_YET, fenced, fenced_or_nothing

PURPOSE = "slow_memory"


class SlowMemoryFields(Record):
    """What the optimizer is shown."""

    tonight: str
    decided: str
    previous_memory: str


class SlowMemory(Answer):
    """The optimizer's answer."""

    reasoning: Text
    memory: Memory = Field(description="The whole new memory; it takes the previous one's place.")


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
        previous_memory=fenced_or_nothing(previous),
    )
    try:
        answered = optimizer.ask(SLOW_MEMORY, fields, purpose=PURPOSE, slot="memory")
    except (ReplyError, CallError) as error:
        return previous, str(error)
    return answered.answer.memory + "\n", ""
