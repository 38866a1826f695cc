"""The last paragraph of a run's commit message ↔ record. Pure; agrees with git's own parser.

`TRAILERS` is the one list of them. What a machine needs beyond them is in a header of the run's
commit, whose value is read and written here, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from pydantic import ValidationError

from skillgit.errors import RepositoryError
from skillgit.history.run_state import CandidateScore, RunState
from skillgit.records import Action
from skillgit.records.canonical import canonical_json

FORMAT_VERSION = 1
STATE_HEADER = "skillopt-state"
"""The header of a commit object that holds the run's state after that commit."""
_UNMEASURED = "unmeasured"
_ACTIONS = {action.value: action for action in Action}
_SCORE_TEXT = re.compile(r"(<=)?([0-9]+(?:\.[0-9]+)?(?:e-?[0-9]+)?)")


class ParsedTrailers(NamedTuple):
    """What the commit of a version says of itself; `score` is `None` when unmeasured.

    `state` is there only in the messages of runs that were made before it had a header.
    """

    run: str
    step: int
    action: Action
    score: float | None
    bound: bool
    state: RunState | None = None

    @property
    def run_id(self) -> str | None:
        """The run's id where the message has it."""
        return None if self.state is None else self.state.run_id


# ── the trailers there are ───────────────────────────────────────────────────────────────────


class Trailer(NamedTuple):
    """One trailer. Only optional ones may be missing; one without `write` is read and never written.

    `pattern` is what its value looks like. `read` returns the fields of `ParsedTrailers` that a
    value holds, or `None` for a value that means nothing.
    """

    key: str
    pattern: str
    read: Callable[[str], dict[str, Any] | None]
    write: Callable[[ParsedTrailers], str] | None = None
    optional: bool = False


def score_text(score: CandidateScore) -> str:
    """A score as trailers have it: the shortest exact float, `<=` before a bound, or a word."""
    if score.score is None:
        return _UNMEASURED
    return f"{'<=' if score.bound else ''}{score.score!r}"


def state_text(state: RunState) -> str:
    """A state as one line of canonical JSON."""
    return canonical_json(state.model_dump(mode="json"))


def _read_step(text: str) -> dict[str, Any] | None:
    return {"step": int(text)} if text.isascii() and text.isdigit() else None


def _read_action(text: str) -> dict[str, Any] | None:
    action = _ACTIONS.get(text)
    return None if action is None else {"action": action}


def _read_score(text: str) -> dict[str, Any] | None:
    if text == _UNMEASURED:
        return {"score": None, "bound": False}
    matched = _SCORE_TEXT.fullmatch(text)
    return matched and {"score": float(matched[2]), "bound": matched[1] is not None}


def _read_state(text: str) -> dict[str, Any] | None:
    state = parse_state(text)
    return None if state is None else {"state": state}


RUN = "Skillopt-Run"
STEP = "Skillopt-Step"

TRAILERS = (
    Trailer(RUN, r"\S+", lambda text: {"run": text}, lambda told: told.run),
    Trailer(STEP, r"[0-9]+", _read_step, lambda told: str(told.step)),
    Trailer("Skillopt-Action", r"\S+", _read_action, lambda told: told.action.value),
    Trailer(
        "Skillopt-Score",
        r"\S+",
        _read_score,
        lambda told: score_text(CandidateScore(score=told.score, bound=told.bound)),
    ),
    Trailer("Skillopt-State", r"\{.*\}", _read_state, optional=True),
)
"""Every trailer, in the order in which they are written."""


def _pattern(between: str) -> str:
    """A group for each trailer's value, one after the other; `None` for a missing optional one."""
    parts = []
    for n, trailer in enumerate(TRAILERS):
        part = f"{between if n else ''}{trailer.key}: ({trailer.pattern})"
        parts.append(f"(?:{part})?" if trailer.optional else part)
    return "".join(parts)


_KEYS = {trailer.key.lower(): trailer.key for trailer in TRAILERS}
_AS_WRITTEN = re.compile(_pattern("\n") + r"\n*")
_QUOTED = re.compile(r"^[ \t>*]*" + _pattern(r"\s+"), re.MULTILINE)
_READ_ONLY = re.compile(
    rf"^(?:{'|'.join(t.key for t in TRAILERS if t.write is None)}): .*\n?", re.MULTILINE
)
_TRAILER = re.compile(r"([A-Za-z0-9-]+)[ \t]*:(.*)", re.DOTALL)
_GITS_OWN = ("Signed-off-by: ", "(cherry picked from commit ")


# ── whole messages ───────────────────────────────────────────────────────────────────────────


def format_trailers(run: str, step: int, action: Action, score: CandidateScore) -> str:
    """The paragraph of trailers, without a line end after the last."""
    told = ParsedTrailers(run, step, action, score.score, score.bound)
    return "\n".join(f"{t.key}: {t.write(told)}" for t in TRAILERS if t.write is not None)


def parse_commit(message: str) -> ParsedTrailers | None:
    """What the commit of a version says of itself, or `None` for a commit that is none of a run's.

    Raises: RepositoryError for a commit that a newer skillgit wrote.
    """
    start = message.rfind(f"\n\n{RUN}: ")
    as_written = _AS_WRITTEN.fullmatch(message, start + 2) if start > 0 else None
    if as_written:
        return _read(as_written.groups())
    values = _own_values(message)
    return None if values is None else _read([values.get(t.key) for t in TRAILERS])


def quoted_commits(message: str) -> tuple[ParsedTrailers, ...]:
    """The versions that a message quotes, as a squash of many does, in their order there.

    Raises: RepositoryError for a commit that a newer skillgit wrote.
    """
    found = (_read(matched.groups()) for matched in _QUOTED.finditer(message))
    return tuple(trailers for trailers in found if trailers is not None)


def without_state(message: str) -> str:
    """A message without the line in which runs made before told their state."""
    return message if parse_commit(message) is None else _READ_ONLY.sub("", message)


def parse_state(text: str) -> RunState | None:
    """The state in one line of JSON.

    Raises: RepositoryError for one that a newer skillgit wrote.
    """
    return _parsed_state(text)


@lru_cache(maxsize=2)
def _parsed_state(text: str) -> RunState | None:
    """A rejected candidate and its revert have the same line."""
    try:
        return RunState.model_validate_json(text)
    except ValidationError:
        _refuse_newer(text)
        return None


def _read(values: Sequence[str | None]) -> ParsedTrailers | None:
    """The record of the trailers' values, which stand in the order of `TRAILERS`."""
    fields: dict[str, Any] = {}
    for trailer, value in zip(TRAILERS, values, strict=True):
        if value is None and trailer.optional:
            continue
        found = None if value is None else trailer.read(value)
        if found is None:
            return None
        fields |= found
    return ParsedTrailers(**fields)


def _refuse_newer(text: str) -> None:
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError):
        return
    version = raw.get("v") if isinstance(raw, dict) else None
    if type(version) is int and version > FORMAT_VERSION:
        raise RepositoryError(
            f"this run was written in format {version}; this skillgit reads up to {FORMAT_VERSION}",
            hint="pip install --upgrade skillgit",
        )


# ── what a subject says, where a message is all there is ─────────────────────────────────────

_SUBJECT = re.compile(r"(?:Revert \")?skillopt\(([^()\n]+)\): (?:epoch ([0-9]{1,9})\b)?")


def skill_named(message: str) -> str | None:
    """The skill that the subject of a version names."""
    matched = _SUBJECT.match(message)
    return None if matched is None else matched[1]


def epoch_named(message: str) -> int | None:
    """The epoch whose end the subject of a version names."""
    matched = _SUBJECT.match(message)
    return int(matched[2]) if matched and matched[2] else None


# ── messages that were touched after we wrote them: signed off, cherry-picked, re-wrapped ────


def _own_values(message: str) -> dict[str, str] | None:
    """Our keys with their values from git's trailer block; `None` if a key stands there twice."""
    values: dict[str, str] = {}
    for line in _trailer_block(message):
        matched = _TRAILER.match(line)
        key = _KEYS.get(matched[1].lower()) if matched else None
        if matched is None or key is None:
            continue
        if key in values:
            return None
        values[key] = matched[2].strip()
    return values


def _trailer_block(message: str) -> list[str]:
    """The unfolded lines of the last paragraph, if git takes it for trailers, else nothing."""
    lines = message.split("\n")
    while lines and (not lines[-1].strip() or lines[-1].startswith("#")):
        lines.pop()
    blank = next((i for i in range(len(lines) - 1, -1, -1) if not lines[i].strip()), None)
    if blank is None:
        return []
    unfolded: list[str] = []
    after_trailer = False
    for line in lines[blank + 1 :]:
        is_comment = line.startswith("#")
        if line[:1].isspace() and after_trailer:
            unfolded[-1] += f" {line.strip()}"
        elif not is_comment:
            unfolded.append(line)
        after_trailer = not is_comment
    others = sum(not (_TRAILER.match(line) or line.startswith(_GITS_OWN)) for line in unfolded)
    signed = any(line.startswith(_GITS_OWN) for line in unfolded)
    if others and not (signed and 3 * (len(unfolded) - others) >= others):
        return []
    return unfolded
