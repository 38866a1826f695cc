"""Guards: what a candidate's text must not hold, looked at before anything is measured. Pure.

A guard is one file here, and one line in `GUARDS`. Each looks only for what the candidate has and
current has not, so that what was in a skill before blocks nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from skillgit.config import Config
from skillgit.gate.guards.agent_skills import frontmatter_guard, violations
from skillgit.gate.guards.leaks import leak_guard
from skillgit.gate.guards.length import length_guard, length_warnings
from skillgit.gate.guards.objections import Objections
from skillgit.records import Skill, Task

__all__ = ["GUARDS", "Objections", "guard", "text_warnings"]


class Guard(Protocol):
    """Looks at one kind of thing in a candidate."""

    def __call__(
        self, candidate: Skill, current: Skill, tasks: Sequence[Task], config: Config
    ) -> Objections: ...


GUARDS: tuple[Guard, ...] = (leak_guard, length_guard, frontmatter_guard)


def guard(candidate: Skill, current: Skill, tasks: Sequence[Task], config: Config) -> Objections:
    """What all guards have to say about a candidate."""
    found = [each(candidate, current, tasks, config) for each in GUARDS]
    return Objections(
        refusals=tuple(line for one in found for line in one.refusals),
        warnings=tuple(line for one in found for line in one.warnings),
    )


def text_warnings(skill: Skill) -> tuple[str, ...]:
    """What of a skill as it is goes against the Agent Skills specification; it blocks nothing."""
    broken = [line for document in skill.documents for line in violations(document)]
    return (*broken, *length_warnings(skill))
