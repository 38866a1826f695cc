"""The slow update: momentum over epochs. Guidance that no single step can see the need of.

It stands in a protected region of the skill's main document, where no edit of a step gets.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from skillgit.editing.document import Document, region_text, replace_region
from skillgit.editing.layout import Region
from skillgit.errors import CallError, DocumentError, ReplyError
from skillgit.prompting.answers import Answer, Text
from skillgit.prompting.prompts import Optimizer, Prompt
from skillgit.records import Record, Skill
from skillgit.stages.comparison import ComparisonPair, shown_pairs
from skillgit.stages.rendering import fenced_or_nothing, shown_skill

PURPOSE = "slow_update"
MAX_GUIDANCE = 4_000
"""The longest guidance there is. Unit: characters."""


class SlowUpdateFields(Record):
    """What the optimizer is shown."""

    skill_before: str
    skill: str
    previous_guidance: str
    pairs: str


class SlowUpdateGuidance(Answer):
    """The optimizer's answer."""

    reflection: Text = Field(
        description="What of the previous guidance helped and what hurt, by the pairs."
    )
    reasoning: Text
    guidance: Text = Field(description="The whole new guidance; it takes the previous one's place.")


SLOW_UPDATE = Prompt("slow_update", SlowUpdateFields, SlowUpdateGuidance)


class SlowUpdate(Record):
    """The new guidance and the skill that carries it; `None` when no usable answer came back."""

    skill: Skill | None
    guidance: str = ""
    reflection: str = ""
    reasoning: str = ""
    failure: str = ""


def run_slow_update(
    pairs: Sequence[ComparisonPair],
    before: Skill,
    after: Skill,
    optimizer: Optimizer,
    *,
    max_chars: int,
) -> SlowUpdate:
    """Guidance made of what became of the same tasks from one skill to another.

    The guidance that stands in the later skill is the one it replaces.
    Unit: `max_chars` in characters of one attempt.
    Raises: BlockedError, BudgetError.
    """
    fields = SlowUpdateFields(
        skill_before=shown_skill(before),
        skill=shown_skill(after),
        previous_guidance=fenced_or_nothing(guidance_of(after)),
        pairs=shown_pairs(pairs, max_chars),
    )

    def updated(answer: SlowUpdateGuidance) -> SlowUpdate:
        guidance = answer.guidance.strip()
        return SlowUpdate(
            skill=with_guidance(after, guidance),
            guidance=guidance,
            reflection=answer.reflection,
            reasoning=answer.reasoning,
        )

    try:
        return optimizer.ask(
            SLOW_UPDATE, fields, purpose=PURPOSE, slot="guidance", accept=updated
        ).answer
    except (ReplyError, CallError) as error:
        return SlowUpdate(skill=None, failure=str(error))


def guidance_of(skill: Skill) -> str:
    """The guidance that a skill carries; empty when there is none."""
    return region_text(Document.parse(skill.main.data), Region.SLOW_UPDATE) or ""


def with_guidance(skill: Skill, guidance: str) -> Skill:
    """The skill with this guidance in its region, and not a byte outside it changed.

    Raises: ReplyError for a text that no region can hold.
    """
    if not guidance.strip():
        raise ReplyError("it has no guidance")
    if len(guidance) > MAX_GUIDANCE:
        raise ReplyError(f"the guidance is {len(guidance)} characters long, over {MAX_GUIDANCE}")
    try:
        data = replace_region(Document.parse(skill.main.data), Region.SLOW_UPDATE, guidance)
    except DocumentError as error:
        raise ReplyError(error.message) from error
    return skill.with_document(skill.main.path, data)
