"""The last paragraph of a run's commit message ↔ record. Pure; agrees with git's own parser."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import NamedTuple

from pydantic import ValidationError

from skillgit.errors import RepositoryError
from skillgit.history import CandidateScore, RunState
from skillgit.records import Action
from skillgit.records.canonical import canonical_json

FORMAT_VERSION = 1
RUN, STEP, ACTION, SCORE, STATE = (
    "Skillopt-Run",
    "Skillopt-Step",
    "Skillopt-Action",
    "Skillopt-Score",
    "Skillopt-State",
)
_KEYS = {key.lower(): key for key in (RUN, STEP, ACTION, SCORE, STATE)}
_UNMEASURED = "unmeasured"
_ACTIONS = {action.value: action for action in Action}

_AS_WRITTEN = re.compile(
    rf"{RUN}: (\S+)\n{STEP}: ([0-9]+)\n{ACTION}: (\S+)\n{SCORE}: (\S+)\n{STATE}: ([^\n]+)\n*"
)
_QUOTED = re.compile(
    rf"^[ \t>*]*{RUN}: (\S+)\s+{STEP}: ([0-9]+)\s+{ACTION}: (\S+)\s+{SCORE}: (\S+)\s+"
    rf"{STATE}: (\{{.*\}})",
    re.MULTILINE,
)
_TRAILER = re.compile(r"([A-Za-z0-9-]+)[ \t]*:(.*)", re.DOTALL)
_GITS_OWN = ("Signed-off-by: ", "(cherry picked from commit ")
_SCORE_TEXT = re.compile(r"(<=)?([0-9]+(?:\.[0-9]+)?(?:e-?[0-9]+)?)")


class ParsedTrailers(NamedTuple):
    """What a run's commit says of itself; `score` is `None` when unmeasured."""

    run: str
    step: int
    action: Action
    score: float | None
    bound: bool
    state: RunState


def format_trailers(
    run: str, step: int, action: Action, score: CandidateScore, state: RunState
) -> str:
    """The paragraph of trailers, without a line end after the last."""
    return "\n".join(
        (
            f"{RUN}: {run}",
            f"{STEP}: {step}",
            f"{ACTION}: {action.value}",
            f"{SCORE}: {score_text(score)}",
            f"{STATE}: {state_text(state)}",
        )
    )


def score_text(score: CandidateScore) -> str:
    """A score as trailers have it: the shortest exact float, `<=` before a bound, or a word."""
    if score.score is None:
        return _UNMEASURED
    return f"{'<=' if score.bound else ''}{score.score!r}"


def state_text(state: RunState) -> str:
    """A state as one line of canonical JSON."""
    return canonical_json(state.model_dump(mode="json"))


def parse_commit(message: str) -> ParsedTrailers | None:
    """What a commit of a run says of itself, or `None` for a commit that is none of a run's.

    Raises: RepositoryError for a commit that a newer skillgit wrote.
    """
    start = message.rfind(f"\n\n{RUN}: ")
    as_written = _AS_WRITTEN.fullmatch(message, start + 2) if start > 0 else None
    if as_written:
        return _read(*as_written.groups())
    values = _own_values(message)
    if values is None or len(values) != len(_KEYS):
        return None
    return _read(values[RUN], values[STEP], values[ACTION], values[SCORE], values[STATE])


def quoted_commits(message: str) -> tuple[ParsedTrailers, ...]:
    """The commits of runs that a message quotes, as a squash of many does, in their order there.

    Raises: RepositoryError for a commit that a newer skillgit wrote.
    """
    found = (_read(*fields) for fields in _QUOTED.findall(message))
    return tuple(trailers for trailers in found if trailers is not None)


def _read(run: str, step: str, action: str, score: str, state: str) -> ParsedTrailers | None:
    parsed_state = _read_state(state)
    parsed_score = _read_score(score)
    known_action = _ACTIONS.get(action)
    if parsed_state is None or parsed_score is None or known_action is None:
        return None
    if not step.isascii() or not step.isdigit():
        return None
    return ParsedTrailers(
        run=run,
        step=int(step),
        action=known_action,
        score=parsed_score[0],
        bound=parsed_score[1],
        state=parsed_state,
    )


def _read_score(text: str) -> tuple[float | None, bool] | None:
    """The number and whether it is only a bound."""
    if text == _UNMEASURED:
        return None, False
    matched = _SCORE_TEXT.fullmatch(text)
    return None if matched is None else (float(matched[2]), matched[1] is not None)


@lru_cache(maxsize=2)
def _read_state(text: str) -> RunState | None:
    """The state in one line of JSON; a rejected candidate and its revert have the same line."""
    try:
        return RunState.model_validate_json(text)
    except ValidationError:
        _refuse_newer(text)
        return None


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
