"""How long a skill is, and how long it may be.

Source: the Agent Skills specification, on progressive disclosure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from skillgit.config import Config
from skillgit.gate.guards.objections import Objections
from skillgit.records import Skill, Task

ADVISED_TOKENS = 5_000
ADVISED_LINES = 500
BYTES_PER_TOKEN = 4


def tokens_in(data: bytes) -> int:
    """About how many tokens a text takes: a quarter of its bytes."""
    return math.ceil(len(data) / BYTES_PER_TOKEN)


def skill_tokens(skill: Skill) -> int:
    """About how many tokens all documents of a skill take together."""
    return sum(tokens_in(document.data) for document in skill.documents)


def is_too_long(candidate: Skill, current: Skill, max_tokens: int | None) -> bool:
    """Whether a candidate is beyond a length budget, and not on its way back to it."""
    if max_tokens is None:
        return False
    tokens = skill_tokens(candidate)
    return tokens > max_tokens and tokens > skill_tokens(current)


def length_warnings(skill: Skill) -> list[str]:
    """What the specification advises against, for the skill's main document."""
    data = skill.main.data
    found: list[str] = []
    if (tokens := tokens_in(data)) > ADVISED_TOKENS:
        found.append(f"{skill.main.path} has about {tokens} tokens; {ADVISED_TOKENS} are advised")
    if (lines := len(data.splitlines())) > ADVISED_LINES:
        found.append(f"{skill.main.path} has {lines} lines; {ADVISED_LINES} are advised")
    return found


def length_guard(
    candidate: Skill,
    current: Skill,
    tasks: Sequence[Task],  # noqa: ARG001 - the protocol's
    config: Config,
) -> Objections:
    """Refuse what goes beyond the budget; warn of what goes beyond the advice."""
    most = config.skill.max_tokens
    refusals: tuple[str, ...] = ()
    if is_too_long(candidate, current, most):
        refusals = (f"about {skill_tokens(candidate)} tokens, and skill.max_tokens is {most}",)
    return Objections(refusals=refusals, warnings=tuple(length_warnings(candidate)))
