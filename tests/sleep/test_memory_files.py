"""Which file is the memory, and that nothing outside its learned region changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from night_projects import (
    CHECKED,
    CONFIG,
    MEMORY,
    SKILL,
    House,
    OnlyMemory,
    Proposing,
    asks,
    make_house,
)


def house_with(tmp_path: Path, files: dict[str, str], links: dict[str, str]) -> House:
    house = make_house(
        tmp_path / "repo", {"skills/notes/SKILL.md": SKILL, "skillgit.toml": CONFIG, **files}
    )
    for name, target in links.items():
        (house.path / name).symlink_to(target)
    if links:
        house.commit("Link")
    return house


def sleep(house: House) -> dict[str, str]:
    """The files that a night for the memory changes, with their text."""
    outcome = house.sleep(asks(), stand_ins=OnlyMemory(CHECKED).as_optimizer)
    assert outcome.report.accepted, outcome.report.markdown()
    assert [edit.target for edit in outcome.report.edits] == ["memory"]
    names = house.git("diff", "--name-only", "main...skillopt/night-1").split()
    return {name: house.git("show", f"skillopt/night-1:{name}") for name in names}


@pytest.mark.parametrize(
    ("files", "links", "edited"),
    [
        ({"CLAUDE.md": MEMORY}, {}, "CLAUDE.md"),
        ({"AGENTS.md": MEMORY}, {}, "AGENTS.md"),
        ({"CLAUDE.md": MEMORY, "AGENTS.md": "# Others\n"}, {}, "CLAUDE.md"),
        ({"AGENTS.md": MEMORY}, {"CLAUDE.md": "AGENTS.md"}, "AGENTS.md"),
        ({"docs/agents.md": MEMORY}, {"CLAUDE.md": "docs/agents.md"}, "docs/agents.md"),
        ({"CLAUDE.md": "@AGENTS.md\n", "AGENTS.md": MEMORY}, {}, "AGENTS.md"),
        ({"CLAUDE.md": "@./docs/a.md", "docs/a.md": MEMORY}, {}, "docs/a.md"),
        ({"CLAUDE.md": "@AGENTS.md and more\n", "AGENTS.md": MEMORY}, {}, "CLAUDE.md"),
        ({"CLAUDE.md": "@AGENTS.md\n"}, {}, "AGENTS.md"),
        ({}, {}, "AGENTS.md"),
        ({"AGENTS.md": MEMORY}, {"CLAUDE.md": "../outside.md"}, "AGENTS.md"),
        ({"CLAUDE.md": "@CLAUDE.md\n", "AGENTS.md": MEMORY}, {}, "AGENTS.md"),
    ],
)
def test_the_words_of_the_memory_are_edited_where_they_stand(
    tmp_path: Path, files: dict[str, str], links: dict[str, str], edited: str
) -> None:
    house = house_with(tmp_path, files, links)
    modes = house.git("ls-tree", "-r", "main")
    changed = sleep(house)
    assert list(changed) == [edited]
    before = files.get(edited, "")
    assert changed[edited].startswith(before)
    rest = changed[edited][len(before) :].strip("\n").split("\n")
    assert rest == [
        "<!-- SKILLOPT-SLEEP:LEARNED START -->",
        f"- {CHECKED}",
        "<!-- SKILLOPT-SLEEP:LEARNED END -->",
    ]
    for line in modes.splitlines():
        if line.startswith("120000"):
            assert line in house.git("ls-tree", "-r", "skillopt/night-1")


def test_a_region_that_is_there_is_added_to_and_all_else_stays_byte_for_byte(
    tmp_path: Path,
) -> None:
    text = (
        "\ufeff# Memory\r\n\r\n\r\n- Mine\r\n<!-- SKILLOPT-SLEEP:LEARNED START -->\r\n"
        "- One\r\n  of two lines\r\n<!-- SKILLOPT-SLEEP:LEARNED END -->\r\n\r\n\r\nMore  \r\nEnd"
    )
    house = house_with(tmp_path, {}, {})
    (house.path / "CLAUDE.md").write_bytes(text.encode())
    house.commit("Memory")
    assert house.sleep(asks(), stand_ins=OnlyMemory(CHECKED).as_optimizer).report.accepted
    import subprocess

    shown = subprocess.run(
        ["git", "show", "skillopt/night-1:CLAUDE.md"],
        cwd=house.path,
        capture_output=True,
        check=True,
    )
    end = "<!-- SKILLOPT-SLEEP:LEARNED END -->"
    assert shown.stdout.decode() == text.replace(end, f"- {CHECKED}\r\n{end}")


def test_a_skill_that_is_the_memory_file_has_one_step_only(tmp_path: Path) -> None:
    config = CONFIG.replace("skills/notes/SKILL.md", "CLAUDE.md")
    house = make_house(tmp_path / "repo", {"CLAUDE.md": MEMORY, "skillgit.toml": config})
    house.config_text = config
    (house.path / "AGENTS.md").symlink_to("CLAUDE.md")
    house.commit("Link")
    report = house.sleep(asks(), stand_ins=Proposing(CHECKED).as_optimizer).report
    assert [edit.target for edit in report.edits] == ["skill"]
    assert any("no memory file beside" in note or "every val" in note for note in report.notes)


def test_a_marker_without_its_end_is_an_error_that_names_the_line(tmp_path: Path) -> None:
    from skillgit.errors import DocumentError

    broken = "# Memory\n<!-- SKILLOPT-SLEEP:LEARNED START -->\n- mine\n"
    house = house_with(tmp_path, {"CLAUDE.md": broken}, {})
    with pytest.raises(DocumentError, match=r"CLAUDE\.md.*line 2"):
        house.sleep(asks(), stand_ins=OnlyMemory(CHECKED).as_optimizer)
    assert "night-1" not in house.git("branch", "--list")
