"""A verdict as Markdown, for a CI's summary page. Pure; what comes from the range is escaped."""

from __future__ import annotations

from collections.abc import Sequence

from skillgit.review.markdown import code, table, words
from skillgit.review.verify.findings import Claim, Verification, VerifyFinding

_MOST = 100


def summary(verdict: Verification) -> str:
    """The verdict for people: what it came to, the findings, the claims."""
    problems = len(verdict.problems)
    warnings = len(verdict.findings) - problems
    came = "keeps what it claims" if verdict.ok else f"{problems} found that must not be merged"
    mark = "✅" if verdict.ok else "❌"
    ends = f"from {code(verdict.base[:12])} to {code(verdict.head[:12])}"
    parts = [
        f"## {mark} skillgit verify: {came}",
        f"{code(verdict.range)}: {verdict.commits} commits {ends}, {warnings} to look at.",
        _findings(verdict.findings),
        _claims(verdict.claims),
        _reruns(verdict),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _findings(findings: Sequence[VerifyFinding]) -> str:
    if not findings:
        return ""
    rows = [
        (f.severity.value, words(f.check, 40), code(f.where, 120), words(f.message, 400))
        for f in findings[:_MOST]
    ]
    more = f"\n\nand {len(findings) - _MOST} more" if len(findings) > _MOST else ""
    return "### Findings\n\n" + table(("", "check", "where", "what"), rows) + more


def _claims(claims: Sequence[Claim]) -> str:
    if not claims:
        return ""
    rows = [
        (
            code(claim.commit[:12]),
            code(f"{claim.run} step {claim.step}", 60),
            words(claim.action, 40),
            _number(claim.claimed, "nothing"),
            _number(claim.known, "–"),
        )
        for claim in claims[:_MOST]
    ]
    return "### Scores\n\n" + table(("commit", "of", "verdict", "claims", "ledger"), rows)


def _reruns(verdict: Verification) -> str:
    if not verdict.reruns:
        return ""
    rows = [
        (code(r.skill, 60), _number(r.before, "unmeasured"), _number(r.after, "unmeasured"))
        for r in verdict.reruns
    ]
    return "### Measured again\n\n" + table(("skill", "base", "proposed"), rows)


def _number(value: float | None, absent: str) -> str:
    return absent if value is None else f"{value:.4f}"
