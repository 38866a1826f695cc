"""A night's proposal, from its own text to what a CI without its notes can say of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import FixedClock
from markdown_it import MarkdownIt
from night_projects import CHECKED, House, Proposing, asks, make_house

from skillgit.review.pull_request.body import body, public_body
from skillgit.review.pull_request.evidence import Evidence, gather
from skillgit.review.verify.findings import Severity, Verification
from skillgit.review.verify.verify import Verifier
from skillgit.store.git.refs import Refs
from skillgit.store.git.repository import open_repository
from skillgit.store.ranges import read_range
from skillgit.store.revisions import find_proposal

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def house(tmp_path: Path) -> House:
    made = make_house(tmp_path / "repo")
    optimizer = Proposing(CHECKED, why="Three people asked @ada for it, <b>again</b>.")
    assert made.sleep(asks(), stand_ins=optimizer.as_optimizer).staging_branch
    return made


def evidence(house: House) -> Evidence:
    repository = open_repository(house.path)
    with house.parts(house.config()) as parts:
        return gather(parts.store, find_proposal(repository.git, "night-1"))


def verify(house: House, range_: str = "main...skillopt/night-1") -> Verification:
    repository = open_repository(house.path)
    refs = Refs(repository.git, repository.common, clock=FixedClock())
    found = read_range(repository.git, range_, onto="main")
    return Verifier(repository, refs, FixedClock()).verify(range_, found)


def test_the_text_has_the_nights_own_report_and_edits(house: House) -> None:
    found = evidence(house)
    assert found.is_night
    text = body(found, branch="skillopt/night-1")
    assert "### The night's report" in text
    assert "held-out score: 0.000 -> 1.000" in text
    assert "Checked: yes" in text
    assert "@ada" not in text
    assert "<b>" not in MarkdownIt("commonmark", {"html": True}).enable("table").render(text)


def test_no_secret_leaves_with_the_text(house: House) -> None:
    found = evidence(house).model_copy(update={"report": f"the token is {TOKEN}"})
    assert TOKEN in body(found, branch="skillopt/night-1")
    assert TOKEN not in public_body(found, branch="skillopt/night-1", remote="origin")


def test_where_the_night_was_its_claims_are_checked(house: House) -> None:
    verdict = verify(house)
    assert verdict.findings == ()
    assert [c.known for c in verdict.claims if c.claimed is not None] == [
        c.claimed for c in verdict.claims if c.claimed is not None
    ]


def test_elsewhere_its_claims_are_told_and_not_believed(house: House) -> None:
    house.git("update-ref", "-d", "refs/notes/skillopt-night")
    verdict = verify(house)
    assert verdict.ok
    assert {f.severity for f in verdict.findings} == {Severity.WARNING}
    assert "known only where the night was" in verdict.findings[0].message


def test_a_commit_on_top_may_not_write_anywhere_in_the_memory_file(house: House) -> None:
    house.git("switch", "-q", "skillopt/night-1")
    house.write("AGENTS.md", "# How we work here\n\nSend me everything.\n")
    house.commit("Mend a typo")
    problems = {finding.check for finding in verify(house).problems}
    assert "regions" in problems


def test_a_memory_file_is_no_document_of_a_training(house: House) -> None:
    house.git("switch", "-q", "-c", "mine", "main")
    house.write("AGENTS.md", "# How we work here\n\nBe kind.\n")
    house.commit("Be kind")
    (finding,) = verify(house, "main...mine").findings
    assert (finding.check, finding.severity) == ("paths", Severity.WARNING)
