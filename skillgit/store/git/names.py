"""Names of runs, skills and refs. Pure: what exists under a name is for others to find out."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from datetime import datetime

from skillgit.errors import ConfigError, UserError
from skillgit.records import Record
from skillgit.records.canonical import fingerprint

HEADS = "refs/heads/"
RUNS = "refs/heads/skillopt/run/"
PROPOSALS = "refs/heads/skillopt/"
TAGS = "refs/tags/skillopt/"
NOTES = "refs/notes/skillopt"
NIGHT_NOTES = "refs/notes/skillopt-night"
REMOTE_NOTES = "refs/notes/remotes/"
SLEEP = "refs/skillopt/sleep"

NIGHT = "night"
RESERVED_SKILLS = frozenset(("best", "run", "sleep"))

_RUN = re.compile(r"([a-z]{1,20})-([1-9][0-9]{0,8})")
_RUN_REF = re.compile(
    r"refs/(?:heads|remotes/.+?)/skillopt/(?:run/)?([a-z]{1,20})-([1-9][0-9]{0,8})"
)
_MAX_SKILL = 40


class RunName(Record):
    """A run's name: its kind (`train`, `night`, `import`) and its number."""

    kind: str
    number: int

    def __str__(self) -> str:
        return f"{self.kind}-{self.number}"


def parse_run(name: str) -> RunName:
    """A run's name taken apart.

    Raises: UserError for what names no run.
    """
    matched = _RUN.fullmatch(name)
    if matched is None:
        raise UserError(
            f"{name!r} names no run",
            hint="A run is named like train-1 or night-7; git branch --list 'skillopt/run/*' shows all.",
        )
    return RunName(kind=matched[1], number=int(matched[2]))


def is_night(run: str) -> bool:
    """Whether a run is a night, which speaks of private sessions."""
    return run.startswith(f"{NIGHT}-")


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


def next_run(kind: str, used: Iterable[RunName]) -> RunName:
    """The first name above every number of its kind that was ever used."""
    numbers = (name.number for name in used if name.kind == kind)
    return RunName(kind=kind, number=max(numbers, default=0) + 1)


def run_id(base: str, run_fingerprint: str, committer: str, started: datetime, name: str) -> str:
    """A run's identity, 12 hex digits, the same in no two clones and for no two runs."""
    return fingerprint([base, run_fingerprint, committer, started.isoformat(), name], digits=12)


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
