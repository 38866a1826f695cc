"""The simulated analyst: edits for what it sees failing, and now and then an idea that is none."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from pydantic import JsonValue

from skillgit.models.simulated import catalogue, remedies
from skillgit.models.simulated.chance import pick, shuffled
from skillgit.models.simulated.edits import Proposal
from skillgit.models.simulated.exchange import Exchange
from skillgit.models.simulated.obedience import rules_of_line, stated_rules
from skillgit.models.simulated.prompt_reading import Failure, View, plain

REPEATS_A_MEND = 0.7
REPEATS_AN_IDEA = 0.05
"""How often something that stands among the rejected edits is proposed once more."""

LIMITED_TO_A_KIND = 0.35
LIMITED_ONCE_REJECTED = 0.7
"""How often a mend is limited to the kind of task that needs it, where only one kind does."""

SUSPECTS_AN_OBSTACLE = 0.4
"""How often a line that undoes others is deleted along with the mend, before the mend has failed."""

TWO_MENDS_AT_ONCE = 0.5
"""How often more than one failure is dealt with at a time."""

_IDEAS: tuple[tuple[float, tuple[str, ...]], ...] = (
    (0.14, catalogue.NEUTRAL),
    (0.14, catalogue.HARMFUL),
    (0.10, catalogue.CONFLICTING),
)
_DUPLICATES = 0.06
_BAD_ANCHORS = 0.10
_GUESSES_AT_ONCE = 2
_NOTES_AT_ONCE = 3


def proposals(exchange: Exchange) -> list[Proposal]:
    """What mends the failures shown, and now and then an idea, in no particular order."""
    view = exchange.view
    found = [*_mends(view, exchange), *_ideas(view, exchange)]
    return shuffled(found, exchange.identity, "order")[: view.budget]


def _mends(view: View, exchange: Exchange) -> list[Proposal]:
    """Edits that mend the failures which need the fewest, whole failures first."""
    needs = {failure: _needs(failure, view, exchange) for failure in view.failures}
    order = sorted(
        (failure for failure in view.failures if needs[failure]),
        key=lambda failure: (len(needs[failure]), exchange.luck("easy", failure.task_id)),
    )
    chosen: dict[tuple[str, str, str], Proposal] = {}
    appetite = 1 + (exchange.luck("appetite") < TWO_MENDS_AT_ONCE)
    for failure in order:
        if len(chosen) < appetite:
            for need in needs[failure]:
                chosen.setdefault((need.op, need.content, need.anchor), need)
    return [_with_support(proposal, needs) for proposal in chosen.values()]


def _with_support(proposal: Proposal, needs: dict[Failure, list[Proposal]]) -> Proposal:
    behind = tuple(
        failure.task_id
        for failure, proposals in needs.items()
        if any((p.op, p.content) == (proposal.op, proposal.content) for p in proposals)
    )
    return replace(proposal, task_ids=behind)


def _needs(failure: Failure, view: View, exchange: Exchange) -> list[Proposal]:
    """What would mend one failure; empty when nothing comes to mind."""
    needs: list[Proposal] = []
    for reason in failure.reasons:
        if line := _line_to_drop(reason, view):
            needs.append(Proposal("delete", anchor=line, rationale=f"It asks for: {reason}"))
            continue
        lines = remedies.mends(reason) or _guesses(view, exchange)
        lines = [_for_its_kind(line, reason, failure, view, exchange) for line in lines]
        fresh = [line for line in lines if not is_stated(line, view)]
        needs += [Proposal("add", content=f"- {line}", rationale=reason) for line in fresh]
        blocked = not fresh or exchange.luck("blocked", reason) < SUSPECTS_AN_OBSTACLE
        needs += _cleared(failure, view, exchange) if lines and blocked else []
    return [need for need in needs if _worth_trying(need, view, exchange, REPEATS_A_MEND)]


def _line_to_drop(reason: str, view: View) -> str | None:
    """The skill's own line that asks for a text which a reason forbids; single marks do not count."""
    for text in remedies.forbidden_texts(reason):
        for line in view.bullets:
            asks = text.casefold() in line.casefold() and not remedies.forbids(line)
            if asks and len(text) > 2 and plain(line) not in view.tried:
                return line
    return None


def _for_its_kind(line: str, reason: str, failure: Failure, view: View, exchange: Exchange) -> str:
    """The line, now and then limited to the kind of task that alone fails for this reason.

    Oftener when the line was rejected as it is.
    """
    kinds = {other.kind for other in view.failures if reason in other.reasons}
    others = {other.kind for other in view.failures} - kinds
    if kinds != {failure.kind} or not failure.kind or failure.kind in line.lower():
        return line
    share = LIMITED_ONCE_REJECTED if line in view.tried else LIMITED_TO_A_KIND if others else 0.0
    if exchange.luck("kind", failure.kind, reason) >= share:
        return line
    return f"In {failure.kind}s, {line[0].lower()}{line[1:]}"


def _cleared(failure: Failure, view: View, exchange: Exchange) -> list[Proposal]:
    """Edits that get what undoes others out of the way of a failure.

    The first line of its kind may be what other tasks need: now and then, and oftener when its
    deletion was rejected, it only leaves out the kind of task that fails. The rest is deleted.
    """
    edits: list[Proposal] = []
    seen: set[str] = set()
    for line, name in _obstacles(view, failure.kind):
        share = LIMITED_ONCE_REJECTED if plain(line) in view.tried else LIMITED_TO_A_KIND
        left_out = failure.kind and exchange.luck("leave out", failure.kind, line) < share
        if left_out and name not in seen and not plain(line).startswith("Except"):
            said = plain(line)
            content = f"- Except in {failure.kind}s, {said[0].lower()}{said[1:]}"
            edits.append(Proposal("replace", content, line, "It keeps others from working."))
        else:
            edits.append(Proposal("delete", anchor=line, rationale="It keeps others from working."))
        seen.add(name)
    return edits


def _obstacles(view: View, kind: str) -> list[tuple[str, str]]:
    """The lines of the skill that undo what others ask for in this kind of text, with their rules."""
    found: list[tuple[str, str]] = []
    for line in view.bullets:
        names = [
            stated.rule.name
            for stated in rules_of_line(plain(line))
            if stated.rule.name in catalogue.OBSTACLES
            and not stated.kind
            and not (kind and stated.not_kind and stated.not_kind[0] in kind)
        ]
        if names:
            found.append((line, names[0]))
    return found


def _guesses(view: View, exchange: Exchange) -> list[str]:
    """Common house rules that the skill does not have yet, the likelier ones more often."""
    missing = [line for line in catalogue.GUESSES if not is_stated(line, view)]
    missing = [
        line
        for line in missing
        if line not in view.tried or exchange.luck("guess again", line) < REPEATS_A_MEND
    ]
    weighted = sorted(missing, key=lambda line: missing.index(line) * exchange.luck("guess", line))
    return weighted[:_GUESSES_AT_ONCE]


def _ideas(view: View, exchange: Exchange) -> list[Proposal]:
    """At most one edit that no failure asked for."""
    rest = exchange.luck("idea")
    for share, lines in _IDEAS:
        if rest < share:
            line = pick(lines, exchange.identity, "line")
            idea = Proposal("add", content=f"- {line}", rationale="It reads like good practice.")
            return [idea] if _worth_trying(idea, view, exchange, REPEATS_AN_IDEA) else []
        rest -= share
    if rest < _DUPLICATES and view.bullets:
        return [Proposal("add", content=pick(view.bullets, exchange.identity, "again"))]
    if rest < _DUPLICATES + _BAD_ANCHORS:
        anchor = pick(catalogue.UNKNOWN_ANCHORS, exchange.identity, "anchor")
        return [Proposal("replace", content="- Follow the house style.", anchor=anchor)]
    return []


def _worth_trying(proposal: Proposal, view: View, exchange: Exchange, repeats: float) -> bool:
    text = plain(proposal.content or proposal.anchor)
    return text not in view.tried or exchange.luck("again", text) < repeats


def is_stated(line: str, view: View) -> bool:
    """Whether the skill says this already, in these or other words."""
    if line.casefold() in {plain(bullet).casefold() for bullet in view.bullets}:
        return True
    stated = {(rule.key, rule.kind) for rule in stated_rules(view.skill)}
    rules = rules_of_line(line)
    return bool(rules) and all(
        (rule.key, ()) in stated or (rule.key, rule.kind) in stated for rule in rules
    )


def failure_summary(view: View) -> list[JsonValue]:
    """The commonest reasons, with the tasks that failed for them."""
    counts = Counter(reason for failure in view.failures for reason in failure.reasons)
    return [
        {
            "failure_type": _failure_type(reason),
            "description": reason,
            "count": count,
            "task_ids": [f.task_id for f in view.failures if reason in f.reasons],
        }
        for reason, count in counts.most_common(4)
    ]


def lapses(view: View) -> list[JsonValue]:
    """A note for what the skill says already and was not done, the most frequent first."""
    behind: dict[str, list[JsonValue]] = {}
    for failure in view.failures:
        for reason in failure.reasons:
            lines = remedies.mends(reason)
            if lines and all(is_stated(line, view) for line in lines):
                behind.setdefault(f"Easily overlooked: {lines[0]}", []).append(failure.task_id)
    notes = sorted(behind, key=lambda note: -len(behind[note]))[:_NOTES_AT_ONCE]
    return [{"note": note, "task_ids": behind[note]} for note in notes]


def _failure_type(reason: str) -> str:
    for line in remedies.mends(reason):
        for stated in rules_of_line(line):
            return f"house_rule_{stated.rule.name}"
    return "unexplained"
