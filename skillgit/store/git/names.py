"""Names of skills and refs. Pure: what exists under a name is for others to find out."""

from __future__ import annotations

import re
import unicodedata

from skillgit.errors import ConfigError
from skillgit.history.run_names import RunName, is_night

HEADS = "refs/heads/"
RUNS = "refs/heads/skillopt/run/"
PROPOSALS = "refs/heads/skillopt/"
TAGS = "refs/tags/skillopt/"
NOTES = "refs/notes/skillopt"
NIGHT_NOTES = "refs/notes/skillopt-night"
REMOTE_NOTES = "refs/notes/remotes/"
SLEEP = "refs/skillopt/sleep"

RESERVED_SKILLS = frozenset(("best", "run", "sleep"))

_RUN_REF = re.compile(
    r"refs/(?:heads|remotes/.+?)/skillopt/(?:run/)?([a-z]{1,20})-([1-9][0-9]{0,8})"
)
_MAX_SKILL = 40


def run_ref(run: str) -> str:
    """The branch that is the run."""
    return RUNS + run


def proposal_ref(run: str) -> str:
    """The branch that a person merges."""
    return PROPOSALS + run


def notes_ref(run: str) -> str:
    """Where the run's notes go: nights have their own ref, which is in no refspec."""
    return NIGHT_NOTES if is_night(run) else NOTES


def best_tag(skill: str | None = None) -> str:
    """The tag on the best version: of the default skill, or of the one named."""
    return f"{TAGS}best" if skill is None else f"{TAGS}{skill}/best"


def run_of_ref(ref: str) -> RunName | None:
    """The run that a local or remote-tracking branch belongs to, as run or as proposal."""
    matched = _RUN_REF.fullmatch(ref)
    return RunName(kind=matched[1], number=int(matched[2])) if matched else None


def skill_name(given: str | None, *fallbacks: str | None) -> str:
    """The first name that has a letter or digit, folded to `[a-z0-9-]{1,40}`.

    Raises: ConfigError when none has, or when the name is one that refs need for themselves.
    """
    candidates = (given,) if given is not None else fallbacks
    folded = next((name for name in map(_fold, candidates) if name), "")
    if not folded:
        raise ConfigError(
            "the skill has no name that can stand in a ref",
            hint='Set name = "…" in [skill] of skillgit.toml, with letters a to z and digits.',
        )
    if folded in RESERVED_SKILLS:
        raise ConfigError(
            f"a skill cannot be called {folded!r}: refs of skillgit have that name",
            hint='Set another name = "…" in [skill] of skillgit.toml.',
        )
    return folded


def _fold(name: str | None) -> str:
    plain = unicodedata.normalize("NFKD", name or "").encode("ascii", "ignore").decode("ascii")
    dashed = re.sub(r"[^a-z0-9]+", "-", plain.lower())
    return dashed.strip("-")[:_MAX_SKILL].rstrip("-")
