"""Verification of a range: do its commits keep what they claim, and change only what they may?

Everything it is held against comes from the base. Nothing of the range is checked out, run, or
asked of a model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from skillgit.editing.document import Region
from skillgit.gate import beats
from skillgit.history.trailers import ParsedTrailers, parse_commit
from skillgit.ports import Clock
from skillgit.records import Action, Skill
from skillgit.review.verify.base_revision import (
    BaseRevision,
    SkillAtBase,
    attempted,
    read_base_revision,
)
from skillgit.review.verify.claims import ClaimCheck, Ledger, SkillOf
from skillgit.review.verify.documents import document_findings
from skillgit.review.verify.findings import Claim, Finding, Rerun, Verdict
from skillgit.review.verify.paths import path_findings
from skillgit.review.verify.texts import acts_in_body, acts_in_message, hidden_in, secrets_in
from skillgit.store.git.names import NOTES, is_night
from skillgit.store.git.refs import Refs
from skillgit.store.git.repository import Repository
from skillgit.store.git.trees import commit_at, tree_of
from skillgit.store.ranges import ChangedCommit, Range
from skillgit.store.skills.memory_file import MEMORY_FILES, memory_path, with_memory
from skillgit.store.skills.skills import skill_in_commit

FETCH_NOTES = "git fetch origin '+refs/notes/skill*opt:refs/notes/remotes/origin/skill*opt'"
MOST_BYTES = 4_000_000
"""How large a changed file may be. Unit: bytes."""


@dataclass(frozen=True)
class Verifier:
    """Verifies ranges of one repository. `root` is a copy of the base for programs it names."""

    repository: Repository
    refs: Refs
    clock: Clock
    root: str | None = None

    def verify(self, typed: str, found: Range, *, body: str | None = None) -> Verdict:
        """All that is to be said of a range; `body` is the text of its pull request.

        Raises: ConfigError when the base has no configuration.
        """
        ground = read_base_revision(self.repository, found.base)
        told = {c.id: t for c in found.commits if (t := parse_commit(c.message)) is not None}
        findings = [
            *path_findings(
                found, ground, is_proposal=bool(told), memory=self._memory(ground, told)
            ),
            *(f for commit in found.commits for f in self._documents(commit, ground, told)),
            *(f for commit in found.commits for f in _texts(commit)),
            *([] if body is None else _body(body)),
        ]
        claims, wrong = self._claims(found, ground, told)
        return Verdict(
            range=typed,
            base=found.base,
            head=found.head,
            commits=len(found.commits),
            findings=tuple(dict.fromkeys((*findings, *wrong))),
            claims=tuple(claims),
        )

    def _claims(
        self, found: Range, ground: BaseRevision, told: dict[str, ParsedTrailers]
    ) -> tuple[list[Claim], list[Finding]]:
        ledger = Ledger(self.repository, self.refs)
        score_bases = {
            name: attempted(partial(ground.basis, skill, clock=self.clock, root=self.root))
            for name, skill in ground.skills.items()
        }
        check = ClaimCheck(ground, ledger, score_bases, self._skill_of(told))
        claims, wrong = check.check(found)
        trained = any(not is_night(t.run) and t.score is not None for t in told.values())
        if trained and not ledger.has_notes:
            message = f"there are no notes here to check scores with; {FETCH_NOTES}"
            wrong = [Finding(check="notes", where=NOTES, message=message), *wrong]
        return claims, wrong

    def _skill_of(self, told: dict[str, ParsedTrailers]) -> SkillOf:
        """Reads a skill as a commit has it; a night's has the memory file for a document, too."""

        def read(commit: str, skill: SkillAtBase) -> Skill:
            git = self.repository.git
            documents = skill_in_commit(git, commit, skill.config.skill)
            if commit in told and is_night(told[commit].run):
                return with_memory(git, tree_of(commit_at(git, commit)), documents)
            return documents

        return read

    def _memory(self, ground: BaseRevision, told: dict[str, ParsedTrailers]) -> tuple[str, ...]:
        """The memory files that a night may write; none in any other proposal."""
        if not any(is_night(trailers.run) for trailers in told.values()):
            return ()
        tree = tree_of(commit_at(self.repository.git, ground.base))
        taken = [skill.main for skill in ground.skills.values()]
        there = memory_path(self.repository.git, tree, taken)
        return (there,) if there else MEMORY_FILES

    def _documents(
        self, commit: ChangedCommit, ground: BaseRevision, told: dict[str, ParsedTrailers]
    ) -> Iterator[Finding]:
        trailers = told.get(commit.id)
        memory = self._memory(ground, told)
        for change in commit.changes:
            skill = next((s for s in ground.skills.values() if s.declares(change.path)), None)
            if (skill is None and change.path not in memory) or change.new is None:
                continue
            begins = trailers is not None and trailers.action is Action.BASELINE
            yield from document_findings(
                f"{change.path} in {commit.id[:12]}",
                change.old_data,
                change.new_data,
                may_change=_regions(trailers, skill),
                is_proposed=bool(told) and not begins,
                is_night=skill is None or (trailers is not None and is_night(trailers.run)),
            )


def _regions(trailers: ParsedTrailers | None, skill: SkillAtBase | None) -> set[Region]:
    """The protected regions that are a commit's to write."""
    if trailers is None:
        return set()
    if is_night(trailers.run):
        return {Region.LEARNED}
    if trailers.action is Action.EPOCH:
        return {Region.SLOW_UPDATE}
    notes_lapses = skill is not None and skill.config.reflect.skill_aware
    return {Region.APPENDIX} if notes_lapses else set()


def _texts(commit: ChangedCommit) -> Iterator[Finding]:
    """What hides or acts in the texts and the message that a commit brings."""
    here = commit.id[:12]
    for change in commit.changes:
        where = f"{change.path} in {here}"
        if len(change.new_data) > MOST_BYTES:
            message = f"it is too large to be looked at: {len(change.new_data):,} bytes"
            yield Finding(check="text", where=where, message=message)
            continue
        yield from hidden_in(where, _text(change.new_data), _text(change.old_data))
        yield from secrets_in(where, change.new_data, change.old_data)
        yield from hidden_in(f"a path in {here}", change.path)
    where = f"the message of {here}"
    yield from hidden_in(where, commit.message)
    yield from secrets_in(where, commit.message)
    yield from acts_in_message(where, commit.message)


def _body(body: str) -> Iterator[Finding]:
    where = "the pull request's text"
    yield from hidden_in(where, body.replace("\r\n", "\n"))
    yield from secrets_in(where, body)
    yield from acts_in_body(where, body)


def _text(data: bytes) -> str:
    """A file's text; one that is none holds nothing that could hide in it."""
    return "" if b"\0" in data else data.decode("utf-8", "replace")


def with_reruns(verdict: Verdict, reruns: tuple[Rerun, ...]) -> Verdict:
    """A verdict with what measuring again came to: a version has to be better than the base."""
    lost = [
        Finding(
            check="rerun",
            where=verdict.head[:12],
            message=f"measured again, {rerun.skill} is no better than on the base: "
            f"{_number(rerun.before)} -> {_number(rerun.after)}",
        )
        for rerun in reruns
        if rerun.before is None or rerun.after is None or not beats(rerun.after, rerun.before)
    ]
    return verdict.model_copy(update={"reruns": reruns, "findings": (*verdict.findings, *lost)})


def _number(value: float | None) -> str:
    return "unmeasured" if value is None else f"{value:.4f}"
