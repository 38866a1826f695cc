from __future__ import annotations

import pytest

from skillgit.editing.layout import Region
from skillgit.review.verify.staged import look_at

PATH = "skills/brief/SKILL.md"
GOOD = b"---\nname: brief\ndescription: Writes briefs.\n---\n# Brief\n\n- Be short.\n"
REGION = b"\n<!-- SLOW_UPDATE_START -->\nold guidance\n<!-- SLOW_UPDATE_END -->\n"
LEARNED = b"\n<!-- SKILLOPT-SLEEP:LEARNED START -->\n- a\n<!-- SKILLOPT-SLEEP:LEARNED END -->\n"


def test_a_good_document_has_nothing_new() -> None:
    staged = look_at(PATH, GOOD, GOOD + b"- And clear.\n")
    assert (staged.faults, staged.warnings, staged.regions) == ((), (), ())


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (GOOD.replace(b"name: brief\n", b""), "`name`"),
        (GOOD.replace(b"description", b"summary"), "`description`"),
        (GOOD.replace(b"name: brief", b"name: [brief"), "not YAML"),
        (b"---\n- a\n- b\n---\n", "not a mapping"),
        (GOOD + b"<!-- APPENDIX_START -->\n", "APPENDIX_END"),
        (GOOD + REGION + REGION, "second region"),
        (GOOD + b"\xe9", "not UTF-8"),
        (GOOD + b"\0", "NUL"),
        (b"# no frontmatter\n", "`name`"),
    ],
)
def test_what_makes_a_skill_unusable_is_a_fault(text: bytes, fault: str) -> None:
    assert fault in " ".join(look_at(PATH, GOOD, text).faults)


def test_a_memory_file_needs_no_frontmatter_but_right_markers() -> None:
    assert look_at("CLAUDE.md", None, b"# Memory\n").faults == ()
    assert look_at("CLAUDE.md", None, b"<!-- APPENDIX_END -->\n").faults != ()


def test_a_fault_that_was_there_before_blocks_nobody() -> None:
    broken = GOOD + b"<!-- APPENDIX_START -->\n"
    moved = GOOD + b"\n- Another rule.\n<!-- APPENDIX_START -->\n"
    assert look_at(PATH, broken, moved).faults == ()


def test_a_new_fault_beside_an_old_one_counts() -> None:
    before = GOOD.replace(b"name: brief\n", b"")
    after = before.replace(b"description: Writes briefs.\n", b"")
    (fault,) = look_at(PATH, before, after).faults
    assert "description" in fault


def test_a_name_that_the_specification_does_not_allow_is_warned_of() -> None:
    named = GOOD.replace(b"name: brief", b"name: Brief Writer")
    assert (look_at(PATH, GOOD, named).faults, look_at(PATH, named, named).warnings) == ((), ())
    (warning,) = look_at(PATH, GOOD, named).warnings
    assert warning.startswith("`name`")


def test_size_is_warned_of_when_it_grows_only() -> None:
    long = GOOD + b"- rule\n" * 600
    assert "lines" in look_at(PATH, GOOD, long).warnings[0]
    assert look_at(PATH, long + b"- rule\n", long).warnings == ()


@pytest.mark.parametrize(
    ("before", "after", "regions"),
    [
        (GOOD + REGION, GOOD + REGION.replace(b"old", b"my"), (Region.SLOW_UPDATE,)),
        (GOOD + REGION, GOOD, (Region.SLOW_UPDATE,)),
        (GOOD, GOOD + LEARNED, (Region.LEARNED,)),
        (None, GOOD + REGION, (Region.SLOW_UPDATE,)),
        (GOOD + REGION, b"\xef\xbb\xbf" + GOOD + REGION, ()),
        (GOOD + REGION, (GOOD + REGION).replace(b"\n", b"\r\n"), ()),
        (GOOD + REGION, GOOD + b"- more\n" + REGION, ()),
        (GOOD, GOOD + b"\n<!-- APPENDIX_START -->\n<!-- APPENDIX_END -->\n", ()),
        (GOOD, GOOD + b"```\n" + REGION + b"```\n", ()),
    ],
)
def test_a_hand_in_a_protected_region_is_seen(
    before: bytes | None, after: bytes, regions: tuple[Region, ...]
) -> None:
    assert look_at(PATH, before, after).regions == regions


def test_what_a_run_wrote_into_a_region_is_no_hand_edit() -> None:
    ours = GOOD + REGION
    after = GOOD + b"- my own rule\n" + REGION
    assert look_at(PATH, GOOD, after, made=lambda: [b"\xff", ours]).regions == ()
    other = GOOD + REGION.replace(b"old", b"other")
    assert look_at(PATH, GOOD, after, made=lambda: [other]).regions == (Region.SLOW_UPDATE,)
