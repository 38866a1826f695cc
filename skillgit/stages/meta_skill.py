"""The meta skill: the optimizer's own state. Which kinds of edit work on this skill."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from skillgit.errors import CallError, ReplyError
from skillgit.prompting.answers import Answer, Memory, Text
from skillgit.prompting.prompts import Optimizer, Prompt
from skillgit.records import Record, Skill
from skillgit.stages.comparison import ComparisonPair, shown_pairs
from skillgit.stages.rendering import NOTHING_YET, fenced_or_nothing, shown_skill

PURPOSE = "meta_skill"


class MetaSkillFields(Record):
    """What the optimizer is shown."""

    skill_before: str
    skill: str
    step_buffer: str
    previous_memory: str
    pairs: str


class MetaSkillMemory(Answer):
    """The optimizer's answer."""

    reasoning: Text
    memory: Memory = Field(description="The whole new memory; it takes the previous one's place.")


META_SKILL = Prompt("meta_skill", MetaSkillFields, MetaSkillMemory)


class MetaSkill(Record):
    """The memory that holds from here on; `failure` says why it is still the previous one."""

    text: str
    reasoning: str = ""
    failure: str = ""


def run_meta_skill(
    pairs: Sequence[ComparisonPair],
    before: Skill,
    after: Skill,
    previous: str,
    optimizer: Optimizer,
    *,
    step_buffer: str,
    max_chars: int,
) -> MetaSkill:
    """A new memory in the previous one's place, or the previous one when no answer is usable.

    Unit: `max_chars` in characters of one attempt.
    Raises: BlockedError, BudgetError.
    """
    fields = MetaSkillFields(
        skill_before=shown_skill(before),
        skill=shown_skill(after),
        step_buffer=step_buffer or NOTHING_YET,
        previous_memory=fenced_or_nothing(previous),
        pairs=shown_pairs(pairs, max_chars),
    )
    try:
        new = optimizer.ask(META_SKILL, fields, purpose=PURPOSE, slot="memory").answer
    except (ReplyError, CallError) as error:
        return MetaSkill(text=previous, failure=str(error))
    return MetaSkill(text=new.memory, reasoning=new.reasoning)
