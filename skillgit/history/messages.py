"""Commit messages of a run: what a person reads in `git log`, with the trailers below.

Text from a model goes in here, and is made harmless first. Pure.
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterable

from skillgit.history import CandidateScore, Entry, Phase, Remeasured, StepNote
from skillgit.history.sanitize import harmless
from skillgit.history.trailers import (
    ParsedTrailers,
    epoch_named,
    format_trailers,
    parse_commit,
    skill_named,
)
from skillgit.records import Action, Edit, EditOutcome, Outcome, SourceType

MAX_LINES = 40
MAX_LINE = 480
WIDTH = 96
"""How long a line may be: `git log` shows it four columns further in. Unit: characters."""
_MAX_CONTENT = 160
_MAX_ANCHOR = 80
_MAX_REASON = 160
_MIN_REASON = 16
_MAX_SUBJECT = 87
"""So that a subject fits on its line in the subject of its revert, too. Unit: characters."""


# ── whole messages ───────────────────────────────────────────────────────────────────────────


def compose(entry: Entry) -> str:
    """The message of an entry's commit; of a rejected one, of its candidate."""
    trailers = format_trailers(entry.run.name, entry.step, entry.action, entry.score)
    body = "\n".join(filter(None, map(_body_line, entry.body[:MAX_LINES])))
    paragraphs = (_subject(entry), body, trailers)
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph) + "\n"


def compose_revert(entry: Entry, candidate_id: str) -> str:
    """The message of the commit that takes a rejected candidate back.

    Its score is that of the skill it brings back.
    """
    trailers = format_trailers(
        entry.run.name,
        entry.step,
        Action.REVERT,
        CandidateScore(score=entry.state.current.score),
    )
    return f'Revert "{_subject(entry)}"\n\nThis reverts commit {candidate_id}.\n\n{trailers}\n'


def compose_take_back(entry: Entry, commit_id: str, message: str) -> str:
    """The message of the commit that takes an accepted version back, whose message is given."""
    parsed = parse_commit(message)
    step = entry.step if parsed is None else parsed.step
    subject = message.partition("\n")[0]
    score = CandidateScore(score=entry.state.current.score)
    trailers = format_trailers(entry.run.name, step, Action.REVERT, score)
    return f'Revert "{subject}"\n\nThis reverts commit {commit_id}.\n\n{trailers}\n'


def applied_again(message: str, found: Remeasured | None = None) -> str:
    """The message of a version that was applied again to a changed text, with its score there.

    `None` is unmeasured. A message that is none of a run's stays as it is.
    """
    parsed = parse_commit(message)
    if parsed is None:
        return message
    subject, _, rest = message.partition("\n")
    prose = rest.strip("\n").rpartition("\n\n")[0]
    if found is None:
        words = ", unmeasured here"
        subject, told = f"{_cut(subject, WIDTH - len(words))}{words}", "not measured there"
    else:
        subject = _measured_subject(parsed, message, found)
        told = f"measured there on val{_was(found)}"
    score = None if found is None else found.score
    trailers = format_trailers(
        parsed.run,
        parsed.step,
        parsed.action,
        CandidateScore(score=score),
    )
    words = f"Applied again, by its anchors, to a text that had changed; {told}."
    paragraphs = (subject, prose.strip("\n"), words, trailers)
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph) + "\n"


def _measured_subject(parsed: ParsedTrailers, message: str, found: Remeasured) -> str:
    moment = f"step {parsed.step}: {'accept' if parsed.action.accepted else 'start'}"
    if parsed.action is Action.EPOCH:
        moment = f"epoch {epoch_named(message) or ''}:"
    gain = "" if found.before is None else f"{found.score - found.before:+.4f}"
    aside = _aside(gain, "measured again")
    return f"skillopt({skill_named(message) or parsed.run}): {moment} {found.score:.4f}{aside}"


def _was(found: Remeasured) -> str:
    return "" if found.before is None else f", where that text has {found.before:.4f}"


def without_trailers(message: str) -> str:
    """The message of a commit that is a part of a version only, so no step of the run."""
    subject, _, rest = message.partition("\n")
    prose = rest.strip("\n").rpartition("\n\n")[0].strip("\n")
    paragraphs = (f"{subject}, in part", prose)
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph) + "\n"


def _subject(entry: Entry) -> str:
    return _cut(f"skillopt({entry.run.skill}): {_headline(entry)}", _MAX_SUBJECT)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def _headline(entry: Entry) -> str:
    if entry.phase is Phase.END:
        best = entry.state.best
        return f"end: best {_rounded(best.score)} at step {best.step}" + _aside(entry.summary)
    if entry.phase is Phase.EPOCH:
        return f"epoch {entry.state.epoch}" + _aside(entry.summary)
    return f"step {entry.step}: {_verdict(entry)}"


def _verdict(entry: Entry) -> str:
    score = _measured(entry.score)
    best = _rounded(entry.state.best.score)
    is_best = entry.state.best.step == entry.step
    said = entry.summary
    match entry.action:
        case Action.BASELINE:
            return f"baseline {score}" + _aside(said)
        case Action.ACCEPT_NEW_BEST:
            return f"accept, new best {score}" + _aside(_gain(entry), said)
        case Action.ACCEPT:
            return f"accept {score}" + _aside(_gain(entry), said or f"best stays {best}")
        case Action.FORCE_ACCEPT:
            words = "accept without a gate, new best" if is_best else "accept without a gate,"
            return f"{words} {score}" + _aside(_gain(entry), said)
        case Action.REJECT:
            return f"reject {score}" + _aside(said or f"best stays {best}")
        case Action.REJECT_UNVERIFIED:
            return f"reject {score}" + _aside(said or "val is not held out")
        case Action.SKIP:
            return "skip" + _aside(said or "nothing to try")
        case Action.NOOP:
            return "noop" + _aside(said or "the text stays the same")
        case _:
            return entry.action.value.replace("_", " ") + _aside(said)


def _gain(entry: Entry) -> str:
    before = next((n.score_before for n in entry.lines if isinstance(n, StepNote)), None)
    if before is None or entry.score.score is None:
        return ""
    return f"{entry.score.score - before:+.4f}"


def _measured(score: CandidateScore) -> str:
    return f"{'at most ' if score.bound else ''}{_rounded(score.score)}"


def _rounded(score: float | None) -> str:
    return "unmeasured" if score is None else f"{score:.4f}"


def _aside(*parts: str) -> str:
    words = ", ".join(filter(None, (harmless(part, 80) for part in parts)))
    return f" ({words})" if words else ""


def _body_line(line: str) -> str:
    """A line that git's clean-up keeps and nobody takes for a trailer; empty if nothing shows.

    A long one is wrapped at its words; what goes on is indented.
    """
    text = harmless(line, MAX_LINE)
    text = text if not text or _PLAIN_START.match(text) else f"- {text}"
    glued = text.replace(" #", "\0#")  # no line begins with what git takes for a comment
    lines = textwrap.wrap(glued, WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    return "\n".join(lines).replace("\0", " ")


def unwrapped(body: str) -> list[str]:
    """The lines of a message's body as they were before they were wrapped."""
    return body.replace("\n  ", " ").splitlines()


_PLAIN_START = re.compile(r"- \S|[A-Z]?[a-z]+ [A-Za-z(\"]")


# ── edits in words ───────────────────────────────────────────────────────────────────────────


def edit_lines(outcomes: Iterable[EditOutcome]) -> tuple[str, ...]:
    """One line for each edit that is in the new text, and one that counts the others.

    The document is named where the edits are of more than one.
    Shape: lines without line ends, each safe to stand in a commit message.
    """
    told = list(outcomes)
    edits = [outcome.edit for outcome in told if outcome.outcome.changed_text]
    others = not_applied(told)
    several = len({edit.target for edit in edits}) > 1
    applied = [
        _edit_line(f"- {_what(edit)}{_where(edit) if several else ''}", _why(edit), _seen(edit))
        for edit in edits
    ]
    if len(applied) > MAX_LINES - 1:
        rest = len(applied) - (MAX_LINES - 2)
        applied = [*applied[: MAX_LINES - 2], f"- and {rest} more edits"]
    if others:
        applied.append(f"Not applied: {others}")
    return tuple(applied)


def not_applied(outcomes: Iterable[EditOutcome]) -> str:
    """Why edits are not in the new text, with how many for each reason; empty when all are."""
    lost = Counter(_IN_WORDS[o.outcome] for o in outcomes if not o.outcome.changed_text)
    return ", ".join(f"{n} {words}" for words, n in sorted(lost.items()))


_IN_WORDS = {
    Outcome.DUPLICATE: "already there",
    Outcome.NOOP: "without effect",
    Outcome.ANCHOR_MISSING: "anchor not found",
    Outcome.ANCHOR_AMBIGUOUS: "anchor not unique",
    Outcome.PROTECTED: "in a protected region",
    Outcome.FRONTMATTER: "in the frontmatter",
    Outcome.FENCE: "in a code fence",
    Outcome.EMPTY: "empty",
    Outcome.OVER_BUDGET: "over the budget",
    Outcome.TOO_LONG: "too long",
    Outcome.UNKNOWN_TARGET: "for an unknown document",
    Outcome.KNOWN_REJECTED: "rejected before",
    Outcome.UNSUPPORTED: "for no failing reason",
}


def _what(edit: Edit) -> str:
    content = _quoted(edit.content, _MAX_CONTENT)
    anchor = _quoted(edit.anchor, _MAX_ANCHOR)
    is_anchored = bool(edit.anchor.strip())
    return edit.operation.in_message.fill(anchor, content, is_anchored=is_anchored)


def _where(edit: Edit) -> str:
    return f" in {_quoted(edit.target, _MAX_ANCHOR)}"


def _edit_line(what: str, reason: str, seen: str) -> str:
    """An edit with its reason; this is cut, or left out, where the edit then fits on one line."""
    seen = f" ({seen})"
    room = WIDTH - len(what) - len(seen)
    if not reason or room < 0:
        return f"{what}{_because(reason)}{seen}"
    room -= len(_because(" ")) - 1
    if len(reason) > room:
        reason = _cut(reason, room) if room >= _MIN_REASON else ""
    return f"{what}{_because(reason)}{seen}"


def _because(reason: str) -> str:
    return f", because: {reason}" if reason else ""


def _why(edit: Edit) -> str:
    return harmless(edit.rationale, _MAX_REASON)


def _seen(edit: Edit) -> str:
    n = edit.support_count
    if edit.source_type is SourceType.FAILURE:
        return f"seen in {n} failure{'' if n == 1 else 's'}"
    return f"seen in {n} success{'' if n == 1 else 'es'}"


def _quoted(text: str, limit: int) -> str:
    return f'"{harmless(text, limit)}"'
