from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.editing.document import Region
from skillgit.review.verify.documents import document_findings
from skillgit.review.verify.findings import Severity

FRONT = "---\nname: brief\ndescription: Writes briefs.\n---\n"
BODY = "# Brief\n\n- First.\n- Second.\n\n- Third.\n"
REGION = "<!-- SLOW_UPDATE_START -->\nBe careful.\n<!-- SLOW_UPDATE_END -->\n"
LEARNED = "<!-- SKILLOPT-SLEEP:LEARNED START -->\n- a\n<!-- SKILLOPT-SLEEP:LEARNED END -->\n"
DOCUMENT = FRONT + BODY + REGION


def found(
    new: str,
    old: str = DOCUMENT,
    may: frozenset[Region] = frozenset(),
    **options: bool,
) -> list[tuple[str, str]]:
    findings = document_findings("SKILL.md", old.encode(), new.encode(), may_change=may, **options)
    return [(f.check, f.message) for f in findings if f.severity is Severity.PROBLEM]


def test_an_edit_of_prose_is_fine() -> None:
    assert found(DOCUMENT.replace("- Second.", "- Second, and more.\n- And a new one.")) == []


@pytest.mark.parametrize(
    ("new", "check"),
    [
        (DOCUMENT.replace("Be careful.", "Be careless."), "regions"),
        (DOCUMENT.replace(REGION, ""), "markers"),
        (DOCUMENT.replace("<!-- SLOW_UPDATE_END -->\n", ""), "markers"),
        (DOCUMENT.replace("<!-- SLOW_UPDATE_START -->", "<!-- APPENDIX_START -->"), "markers"),
        (FRONT + REGION + BODY, "markers"),
        (DOCUMENT + LEARNED, "markers"),
        (f"{FRONT}{BODY}```\n{REGION}```\n", "markers"),
        (DOCUMENT.replace("name: brief", "name: other"), "frontmatter"),
        (DOCUMENT.replace("name: brief", "name: [brief"), "frontmatter"),
        (DOCUMENT.replace(FRONT, ""), "frontmatter"),
        (DOCUMENT.replace("description: Writes briefs.\n", ""), "frontmatter"),
        ("\0" + DOCUMENT, "document"),
    ],
)
def test_what_edits_may_not_touch_is_named(new: str, check: str) -> None:
    assert check in [name for name, _ in found(new)]


def test_a_region_that_is_the_commits_own_may_change_and_come_in() -> None:
    may = frozenset((Region.SLOW_UPDATE,))
    assert found(DOCUMENT.replace("careful", "kind"), may=may) == []
    assert found(DOCUMENT, FRONT + BODY, may=may) == []


def test_a_night_changes_nothing_outside_its_region() -> None:
    old, may = FRONT + BODY + LEARNED, frozenset((Region.LEARNED,))
    assert found(old.replace("- a\n", "- a\n- b\n"), old, may, is_night=True) == []
    runtime = old.replace("- First.", "- Last.")
    assert [check for check, _ in found(runtime, old, may, is_night=True)] == ["regions"]
    assert found(f"{FRONT}{BODY}\n{LEARNED}", FRONT + BODY, may, is_night=True) == []


def test_what_was_wrong_before_is_not_told_again() -> None:
    broken = DOCUMENT.replace("<!-- SLOW_UPDATE_END -->\n", "")
    assert found(broken.replace("- First.", "- 1st."), broken) == []
    nameless = DOCUMENT.replace("name: brief\n", "")
    changed = nameless.replace("Writes", "Wrote")
    assert found(changed, nameless, is_proposed=False) == []


def test_a_person_may_write_frontmatter_as_long_as_it_holds() -> None:
    assert found(DOCUMENT.replace("Writes", "Wrote"), is_proposed=False) == []
    nameless = DOCUMENT.replace("name: brief\n", "")
    (violation,) = found(nameless, is_proposed=False)
    assert violation == ("frontmatter", "its name is not 1 to 64 letters, digits and hyphens")


def test_a_new_document_has_nothing_to_be_held_against() -> None:
    assert found("# New\n", "") == []


@given(st.permutations(["- First.", "- Second.", "- Third."]), st.integers(0, 3))
def test_lines_may_move_but_not_across_a_region(lines: list[str], split: int) -> None:
    first, second, third = "- First.", "- Second.", "- Third."
    old = f"{first}\n{second}\n{REGION}{third}\n"
    above, below = lines[:split], lines[split:]
    new = "".join(f"{line}\n" for line in above) + REGION + "".join(f"{x}\n" for x in below)
    moved = any(check == "markers" for check, _ in found(new, old))
    assert moved == (bool({first, second} & {*below}) or third in above)
