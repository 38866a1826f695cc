"""The scores that commits claim, held against the ledger for exactly their bytes. Reads only."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from skillgit.config import GateConfig
from skillgit.errors import SkillgitError
from skillgit.gate import mean_score, pool, select_gate_score
from skillgit.history import NoteLine, Phase, ScoresLine
from skillgit.history.trailers import ParsedTrailers, parse_commit, skill_named
from skillgit.records import Measurements, Metric, Skill
from skillgit.review.verify.base_revision import BaseRevision, ScoreBasis, SkillAtBase
from skillgit.review.verify.findings import Claim, Finding, Severity
from skillgit.store.git.names import NIGHT_NOTES, NOTES, is_night
from skillgit.store.git.refs import Refs
from skillgit.store.git.repository import Repository
from skillgit.store.notes.ledger import parse_lines, pooled
from skillgit.store.notes.notes import Notes
from skillgit.store.notes.union import fetched_notes
from skillgit.store.ranges import ChangedCommit, Range
from skillgit.store.skills.skills import skill_object

_NOISE = 1e-9
_TRAILER = re.compile(
    r"^skillopt-(?:run|step|action|score|state)[ \t]*:", re.IGNORECASE | re.MULTILINE
)
_SUBJECT = re.compile(r"skillopt\([^)\n]*\): (?:step|epoch|end)\b", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![+\-\d.])\d+\.\d{4}\b")

SkillOf = Callable[[str, SkillAtBase], Skill]
"""A skill's documents as they stand in a commit."""


class Ledger:
    """The notes that are here, our own and those that were fetched, read without taking them in."""

    def __init__(self, repository: Repository, refs: Refs) -> None:
        git = repository.git
        there = [r for r in (NOTES, NIGHT_NOTES, *fetched_notes(repository)) if refs.read(r)]
        self.has_notes = any(ref != NIGHT_NOTES for ref in there)
        self.has_nights = NIGHT_NOTES in there
        self._notes = [Notes(git, refs, ref) for ref in there]

    def rounds(self, object_id: str, basis: ScoreBasis) -> tuple[Measurements, ...]:
        """The measurements of an object on the val tasks, one by one."""
        lines = self._lines(object_id)
        val = {*basis.val} or _tasks_of_steps(lines, basis.target)
        found = pooled(object_id, lines, basis.target, repeats=None, before=None)
        own = ({k: s for k, s in measured.scores.items() if k in val} for measured in found)
        return tuple(Measurements(object_id=object_id, scores=scores) for scores in own if scores)

    def targets(self, object_id: str) -> tuple[str, ...]:
        """The targets under which an object was measured, in their order by name."""
        lines = (line for line in self._lines(object_id) if isinstance(line, ScoresLine))
        return tuple(sorted({line.target for line in lines}))

    def _lines(self, object_id: str) -> tuple[NoteLine, ...]:
        return parse_lines(line for notes in self._notes for line in notes.lines(object_id))


def _tasks_of_steps(lines: Iterable[NoteLine], target: str) -> set[str]:
    """The tasks that steps measured: the test split is measured by a run's end alone."""
    measured = (line for line in lines if isinstance(line, ScoresLine) and line.target == target)
    return {task for line in measured if line.phase is not Phase.END for task in line.tasks}


@dataclass(frozen=True)
class ClaimCheck:
    """Holds claims against the ledger. `score_bases` are by skill, or why there is none."""

    ground: BaseRevision
    ledger: Ledger
    score_bases: Mapping[str, ScoreBasis | SkillgitError]
    skill_of: SkillOf

    def check(self, found: Range) -> tuple[list[Claim], list[Finding]]:
        """What the commits of a range claim, and what is wrong with it."""
        claims: list[Claim] = []
        findings: list[Finding] = []
        for commit in found.commits:
            trailers = parse_commit(commit.message)
            if trailers is None:
                if _TRAILER.search(commit.message):
                    findings.append(_problem("trailers", commit, "its trailers cannot be read"))
                elif _SUBJECT.match(commit.message):
                    message = "it looks like a run's and has no trailers"
                    findings.append(_problem("trailers", commit, message))
                continue
            claim, wrong = self._one(commit, trailers)
            claims.append(claim)
            findings += wrong
        findings += self._tip(found, claims)
        findings += _runs(found)
        return claims, findings

    def _one(self, commit: ChangedCommit, trailers: ParsedTrailers) -> tuple[Claim, list[Finding]]:
        claim = Claim(
            commit=commit.id,
            run=trailers.run,
            step=trailers.step,
            action=trailers.action.value,
            claimed=None if trailers.bound else trailers.score,
            known=None,
        )
        named = self._skill_of_version(commit, trailers)
        skill = self.ground.skills.get(named)
        if skill is None:
            message = f"it is of a skill {named!r}, which the base does not have"
            return claim, [_problem("trailers", commit, message)]
        findings = [_problem("trailers", commit, m) for m in _contradictions(commit, trailers)]
        if claim.claimed is None:
            return claim, findings
        bases = self._bases(commit.id, skill, trailers)
        if isinstance(bases, SkillgitError):
            message = f"its score cannot be checked: {bases.message}"
            return claim, [*findings, _problem("claims", commit, message)]
        gate = _gate(skill, trailers)
        known = self._known(commit.id, skill, bases, gate, claim.claimed)
        claim = claim.model_copy(update={"known": known})
        for wrong in self._wrong(commit, trailers, skill, gate, bases, claim):
            findings.append(wrong)
            break
        return claim, findings

    def _skill_of_version(self, commit: ChangedCommit, trailers: ParsedTrailers) -> str:
        """The skill that a version is of: as its subject says, or else the one it changes."""
        if trailers.state is not None:
            return trailers.state.skill
        named = skill_named(commit.message)
        if named is not None:
            return named
        changed = [change.path for change in commit.changes]
        skills = self.ground.skills.values()
        touched = (s.name for s in skills if any(s.declares(path) for path in changed))
        return next(touched, next(iter(self.ground.skills)))

    def _bases(
        self, commit: str, skill: SkillAtBase, trailers: ParsedTrailers | None
    ) -> tuple[ScoreBasis, ...] | SkillgitError:
        """By what a commit may be measured: a night's tasks are its own, and nobody else has them.

        Shape: one, but for a night as many as the ledger has targets for its bytes.
        """
        if trailers is None or not is_night(trailers.run):
            basis = self.score_bases[skill.name]
            return basis if isinstance(basis, SkillgitError) else (basis,)
        if trailers.state is not None:
            return (ScoreBasis(target=trailers.state.target, val=()),)
        targets = self._targets(commit, skill)
        return tuple(ScoreBasis(target=target, val=()) for target in targets)

    def _targets(self, commit: str, skill: SkillAtBase) -> tuple[str, ...]:
        object_id = self._object(commit, skill)
        return () if object_id is None else self.ledger.targets(object_id)

    def _wrong(
        self,
        commit: ChangedCommit,
        trailers: ParsedTrailers,
        skill: SkillAtBase,
        gate: GateConfig,
        bases: tuple[ScoreBasis, ...],
        claim: Claim,
    ) -> Iterator[Finding]:
        """What is wrong with a claimed score, the weightiest first."""
        metric = self._metric(commit, trailers, skill, gate, bases, claim)
        if metric is not gate.metric:
            message = f"its metric is {metric.value}, and the base's is {gate.metric.value}"
            yield _problem("fingerprint", commit, message)
        targets = self._targets(commit.id, skill)
        if trailers.state is not None:
            targets = (trailers.state.target,)
        of_base = {basis.target for basis in bases}
        if targets and of_base and of_base.isdisjoint(targets):
            said = f"it was measured for target {', '.join(targets)}"
            message = f"{said}, and the base's is {', '.join(sorted(of_base))}"
            yield _problem("fingerprint", commit, message)
        said = f"claims {claim.claimed:.4f}"
        if claim.known is None and is_night(trailers.run) and not self.ledger.has_nights:
            message = f"{said}; what a night measured is known only where the night was"
            yield _problem("claims", commit, message, Severity.WARNING)
        elif claim.known is None:
            yield _problem("claims", commit, f"{said}, and no ledger has a score of these bytes")
        elif not _is_near(claim.known, claim.claimed):
            yield _problem("claims", commit, f"{said}, and the ledger has {claim.known:.4f}")

    def _metric(
        self,
        commit: ChangedCommit,
        trailers: ParsedTrailers,
        skill: SkillAtBase,
        gate: GateConfig,
        bases: tuple[ScoreBasis, ...],
        claim: Claim,
    ) -> Metric:
        """The metric by which a claim was made: the base's, or the one by which it is true."""
        if trailers.state is not None:
            return trailers.state.metric
        if claim.known is None or _is_near(claim.known, claim.claimed):
            return gate.metric
        for metric in Metric:
            other = gate.model_copy(update={"metric": metric})
            if _is_near(self._known(commit.id, skill, bases, other, claim.claimed), claim.claimed):
                return metric
        return gate.metric

    def _object(self, commit: str, skill: SkillAtBase) -> str | None:
        try:
            documents = self.skill_of(commit, skill)
        except SkillgitError:
            return None  # a document that is gone, or that cannot be named, was never measured
        return skill_object(self.ground.repository.git, documents)

    def _known(
        self,
        commit: str,
        skill: SkillAtBase,
        bases: tuple[ScoreBasis, ...],
        gate: GateConfig,
        claimed: float | None,
    ) -> float | None:
        """The ledger's score of a commit's bytes: of as many measurements as make the claim true.

        `None` where too few of the val tasks were scored.
        """
        object_id = self._object(commit, skill)
        if object_id is None:
            return None
        numbers = [
            number
            for basis in bases
            for rounds in (self.ledger.rounds(object_id, basis),)
            for n in range(1, len(rounds) + 1)
            if (number := _mean(object_id, rounds[:n], basis, gate)) is not None
        ]
        right = (n for n in numbers if _is_near(n, claimed))
        return next(right, numbers[-1] if numbers else None)

    def _tip(self, found: Range, claims: Sequence[Claim]) -> Iterator[Finding]:
        """Whether what would be merged is what was measured, where its tip does not claim it.

        Where no commit claims a score, that is for a reviewer to know, and nothing wrong.
        """
        if not claims or (claims[-1].commit == found.head and claims[-1].claimed is not None):
            return
        tip = found.commits[-1]
        trailers = parse_commit(tip.message)
        is_claimed = any(claim.claimed is not None for claim in claims)
        is_problem = is_claimed and not (trailers and is_night(trailers.run))
        for skill in self.ground.skills.values():
            bases = self._bases(found.head, skill, trailers)
            touched = any(skill.declares(change.path) for change in found.changes)
            if not touched or isinstance(bases, SkillgitError):
                continue
            gate = _gate(skill, trailers) if trailers else skill.config.gate
            if self._known(found.head, skill, bases, gate, None) is None:
                message = f"what it makes of {skill.name} was measured by nobody"
                hint = "skillgit eval measures it, skillgit sync shares that"
                severity = Severity.PROBLEM if is_problem else Severity.WARNING
                yield _problem("claims", tip, f"{message}; {hint}", severity)


def _gate(skill: SkillAtBase, trailers: ParsedTrailers) -> GateConfig:
    """The gate that decided: a night's has a metric of its own."""
    gate = skill.config.gate
    if not is_night(trailers.run):
        return gate
    metric = skill.config.sleep.metric if trailers.state is None else trailers.state.metric
    return gate.model_copy(update={"metric": metric})


def _is_near(number: float | None, claimed: float | None) -> bool:
    return number is not None and claimed is not None and abs(number - claimed) <= _NOISE


def _mean(
    object_id: str, rounds: tuple[Measurements, ...], basis: ScoreBasis, gate: GateConfig
) -> float | None:
    scores = [s for s in pool(object_id, rounds).scores.values() if s is not None]
    mean = mean_score(scores)
    if mean is None or len(basis.val) - len(scores) > gate.max_unscored * len(basis.val):
        return None
    return select_gate_score(mean.hard, mean.soft, gate.metric, gate.mixed_weight)


def _contradictions(commit: ChangedCommit, trailers: ParsedTrailers) -> Iterator[str]:
    """Where a message says one thing in words and another to machines."""
    score, state = trailers.score, trailers.state
    if not trailers.action.accepted:
        return
    if trailers.bound:
        yield "it was accepted on a bound, and only a rejection can be cut short"
        return
    subject = commit.message.partition("\n")[0]
    said = _NUMBER.search(subject)
    if score is None:
        if said is not None and "unmeasured" not in subject:
            yield f"its subject says {said[0]}, and its trailers that nobody measured it"
    elif said is None or said[0] != f"{score:.4f}":
        yield f"its subject does not say the score that its trailers claim, {score:.4f}"
    if state is None:
        return
    if state.current.score != score:
        yield "its state says another score than its trailers"
    is_best = state.best.score is not None and state.best.step == trailers.step != 0
    if is_best and state.best.score != score:
        yield "its state says another best score than its trailers"


def _runs(found: Range) -> Iterator[Finding]:
    runs = {
        (parsed.run, parsed.run_id): parsed.run
        for commit in found.commits
        if (parsed := parse_commit(commit.message)) is not None
    }
    if len(runs) > 1:
        names = ", ".join(sorted({*runs.values()}))
        message = f"it has commits of {len(runs)} runs ({names}), and a proposal is one run's"
        yield Finding(
            check="trailers", where=found.head[:12], message=message, severity=Severity.WARNING
        )


def _problem(
    check: str, commit: ChangedCommit, message: str, severity: Severity = Severity.PROBLEM
) -> Finding:
    return Finding(check=check, where=commit.id[:12], message=message, severity=severity)
