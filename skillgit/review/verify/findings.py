"""What a verification finds, and what came of it all."""

from __future__ import annotations

from enum import StrEnum

from skillgit.records import Record


class Severity(StrEnum):
    """Whether a finding fails the verification, or is only to be looked at."""

    PROBLEM = "problem"
    WARNING = "warning"


class VerifyFinding(Record):
    """One thing that was found: by which check, where (a path, a commit), and what it is."""

    check: str
    where: str
    message: str
    severity: Severity = Severity.PROBLEM


class Claim(Record):
    """A score that a commit claims, and what the ledger says about it.

    `known` is `None` where nobody measured these bytes.
    """

    commit: str
    run: str
    step: int
    action: str
    claimed: float | None
    known: float | None


class Rerun(Record):
    """What measuring again came to, by the metric of the gate."""

    skill: str
    before: float | None
    after: float | None


class Verification(Record):
    """The result of a verification."""

    range: str
    base: str
    head: str
    commits: int
    findings: tuple[VerifyFinding, ...] = ()
    claims: tuple[Claim, ...] = ()
    reruns: tuple[Rerun, ...] = ()

    @property
    def problems(self) -> tuple[VerifyFinding, ...]:
        """The findings that fail it."""
        return tuple(f for f in self.findings if f.severity is Severity.PROBLEM)

    @property
    def ok(self) -> bool:
        """Whether nothing was found that fails it."""
        return not self.problems
