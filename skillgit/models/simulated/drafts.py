"""The canned answer to a task, in the pieces that house rules change."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from skillgit.models.simulated.catalogue import DETAILS, SLOTS
from skillgit.models.simulated.chance import pick, shuffled

_SUBJECT = re.compile(
    r"\b(?:on|about|for|of|regarding|summari[sz]ing|announcing)\s+(?P<subject>(?:[^.,;?!\n]|\.(?=\d)){3,80})",
    re.IGNORECASE,
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
    fixed = [pick(slot, prompt, place).format(**slots) for place, slot in enumerate(SLOTS)]
    details = shuffled(DETAILS, prompt, "details")[: pick(_NUMBER_OF_DETAILS, prompt, "n")]
    found = [extra.strip()] if extra.strip() else []
    return Draft(
        subject=subject,
        paragraphs=[found + fixed, [detail.format(**slots) for detail in details]],
    )
