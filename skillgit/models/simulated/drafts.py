"""The canned answer to a task, in the pieces that house rules change."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from skillgit.models.simulated.exchange import pick, shuffled

_SUBJECT = re.compile(
    r"\b(?:on|about|for|of|regarding|summari[sz]ing|announcing)\s+(?P<subject>(?:[^.,;?!\n]|\.(?=\d)){3,80})",
    re.IGNORECASE,
)

# Every variant of a slot breaks the same house rules, so that no task passes one by accident.
_SLOTS: tuple[tuple[str, ...], ...] = (
    (
        "This note covers {subject}, the people it touches, and what happens next.",
        "Here is where {subject} stands, what moved lately, and what is still open.",
        "The short version of {subject} is simple, useful, and a little overdue.",
    ),
    (
        "The work began on {date}, and the second review closed on {later}.",
        "A first version was shown on {date}, a corrected one on {later}.",
        "Figures were frozen on {date}, then checked again on {later}.",
    ),
    (
        "We utilized very recent numbers, and I checked them by hand.",
        "I talked to three teams, and we utilized the very few points they agree on.",
        "We compared very different sources, so I utilized only what they share.",
    ),
    (
        "The sites lie {miles} miles apart, which matters more than it seems!",
        "A typical route is {miles} miles long, and that surprised everyone!",
        "Everything happens within {miles} miles of the main site, luckily!",
    ),
)
_DETAILS: tuple[str, ...] = (
    "Costs rose by 1,{digits} euros over the plan, mostly for licences and travel.",
    "Demand is steady, supply is not, and the gap will widen before it closes.",
    "Two suppliers answered, one declined, and the fourth asked for more time.",
    "The team is small, experienced, and already booked until the summer.",
    "Early users report fewer errors, shorter waits, and one awkward dialog.",
    "The old process stays in place, as a fallback, for at least one quarter.",
)
_NUMBER_OF_DETAILS = (2, 3, 4)


@dataclass
class Draft:
    """An answer in pieces: lines before the body, the body in sentences, and what follows it."""

    subject: str
    opening: list[str] = field(default_factory=list)
    paragraphs: list[list[str]] = field(default_factory=list)
    bullets: list[str] = field(default_factory=list)
    sections: list[str] = field(default_factory=list)
    closing: list[str] = field(default_factory=list)

    def text(self) -> str:
        """The whole answer in Markdown."""
        body = [" ".join(sentences) for sentences in self.paragraphs if sentences]
        bullets = ["\n".join(f"- {bullet}" for bullet in self.bullets)] if self.bullets else []
        return "\n\n".join([*self.opening, *body, *bullets, *self.sections, *self.closing])

    def sentences(self) -> int:
        """How many sentences the body has."""
        return sum(len(sentences) for sentences in self.paragraphs)

    def drop_sentence(self) -> None:
        """Take the last sentence off the longest paragraph."""
        max(self.paragraphs, key=len).pop()


def subject_of(prompt: str) -> str:
    """What a task's prompt is about, in a few words."""
    found = _SUBJECT.search(prompt)
    words = (found["subject"] if found else prompt).split()
    return " ".join(words[:8]).rstrip(",:;.") or "the matter"


def canned_draft(prompt: str, *, extra: str = "") -> Draft:
    """A plausible answer that follows no house rule; the same for the same prompt.

    `extra` is a fact the answer has to use, such as a tool's result.
    """
    subject = subject_of(prompt)
    slots = {
        "subject": subject,
        "date": f"{pick(range(1, 13), prompt, 'month'):02d}/{pick(range(10, 29), prompt, 'day')}/2025",
        "later": f"{pick(range(1, 13), prompt, 'later'):02d}/{pick(range(1, 10), prompt, 'd'):02d}/2026",
        "miles": str(pick(range(3, 60), prompt, "miles")),
        "digits": f"{pick(range(100, 1000), prompt, 'digits')}",
    }
    fixed = [pick(slot, prompt, place).format(**slots) for place, slot in enumerate(_SLOTS)]
    details = shuffled(_DETAILS, prompt, "details")[: pick(_NUMBER_OF_DETAILS, prompt, "n")]
    found = [extra.strip()] if extra.strip() else []
    return Draft(
        subject=subject,
        paragraphs=[found + fixed, [detail.format(**slots) for detail in details]],
    )
