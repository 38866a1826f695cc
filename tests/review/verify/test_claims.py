"""Claims held against the ledger, in a real repository with a real training's notes."""

from __future__ import annotations

from pathlib import Path

import pytest
from projects import Project

from skillgit.review.verify.base_revision import read_base_revision
from skillgit.review.verify.claims import ClaimCheck, KnownScores
from skillgit.review.verify.findings import Claim, VerifyFinding
from skillgit.store.git.repository import open_repository
from skillgit.store.ranges import read_range
from skillgit.store.skills.skills import skill_in_commit


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path / "project")
    made.train()
    made.git("switch", "--quiet", "skillopt/train-1")
    return made


def check(project: Project) -> tuple[list[Claim], list[VerifyFinding]]:
    repository = open_repository(project.path)
    proposed = read_range(repository.git, "main...HEAD", onto="main")
    base = read_base_revision(repository, proposed.base)
    bases = {n: base.basis(s, clock=project.clock, root=None) for n, s in base.skills.items()}
    claims = ClaimCheck(
        base,
        KnownScores(repository, repository.refs(project.clock)),
        bases,
        lambda commit, skill: skill_in_commit(repository.git, commit, skill.config.skill),
    )
    return claims.check(proposed)


def reword(project: Project, old: str, new: str) -> None:
    message = project.git("log", "-1", "--format=%B")
    assert old in message
    project.git(
        "commit", "--quiet", "--amend", "--cleanup=verbatim", "-m", message.replace(old, new)
    )


def newest_score(project: Project) -> str:
    return project.git("log", "-1", "--format=%(trailers:key=Skillopt-Score,valueonly)").strip()


def test_what_the_ledger_has_is_known_and_nothing_is_found(project: Project) -> None:
    claims, findings = check(project)
    claimed = [claim for claim in claims if claim.claimed is not None]
    assert claimed
    assert all(claim.known == pytest.approx(claim.claimed) for claim in claimed)
    assert findings == []


def test_a_score_that_was_never_measured_is_found(project: Project) -> None:
    score = newest_score(project)
    reword(project, f"Skillopt-Score: {score}", f"Skillopt-Score: {float(score) + 0.001:.4f}")
    _, findings = check(project)
    assert [f.message for f in findings if f.check == "claims"] == [
        f"claims {float(score) + 0.001:.4f}, and the ledger has {float(score):.4f}"
    ]


def test_a_subject_that_says_another_score_is_found(project: Project) -> None:
    score = newest_score(project)
    subject = project.git("log", "-1", "--format=%s").strip()
    assert score in subject
    reword(project, subject, subject.replace(score, "0.9999"))
    _, findings = check(project)
    assert ["its subject does not say the score" in f.message for f in findings] == [True]


def test_without_notes_no_score_is_known(project: Project) -> None:
    project.git("update-ref", "-d", "refs/notes/skillopt")
    claims, findings = check(project)
    assert {claim.known for claim in claims} == {None}
    assert all("no ledger has a score of these bytes" in f.message for f in findings)
    assert findings


def test_a_persons_commit_on_top_was_measured_by_nobody(project: Project) -> None:
    project.write("skills/brief/SKILL.md", "---\nname: brief\ndescription: Briefs.\n---\nMine.\n")
    project.commit("Say it in my own words")
    _, findings = check(project)
    assert "was measured by nobody" in findings[-1].message
