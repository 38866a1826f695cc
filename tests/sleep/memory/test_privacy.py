from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from night_projects import CHECKED, House, Proposing, asks

from skillgit.records import Edit, EditOp
from skillgit.sleep.memory.privacy import public_edit, public_reason, quotes_request, tells

SAID = (
    "Write the release notes for QUARTZ-17 and ping Nightjar about the parser",
    "No, use uv instead of pip when you install things for me",
)


def edit(rationale: str, content: str = "- Use uv, not pip") -> Edit:
    return Edit(op=EditOp.ADD, content=content, rationale=rationale, support_count=3)


@pytest.mark.parametrize(
    ("reason", "public"),
    [
        ("Several requests needed the same tool.", "Several requests needed the same tool."),
        ("They said: use uv instead of pip when installing.", "3 requests asked for this"),
        ("It was needed for QUARTZ-17.", "3 requests asked for this"),
        ("Nightjar wants it.", "3 requests asked for this"),
        ("uv is what this repository uses.", "uv is what this repository uses."),
        ("", ""),
    ],
)
def test_a_reason_that_tells_of_a_session_becomes_a_count(reason: str, public: str) -> None:
    assert public_reason(edit(reason), SAID, "# Notes") == public


def test_a_rule_that_repeats_a_request_or_holds_a_key_is_not_tried(house: House) -> None:
    request = asks()[0].prompt
    rules = (f"{request} and nothing else", "Use the key ghp_" + "a1B2" * 9, CHECKED)
    report = house.sleep(asks(), stand_ins=Proposing(*rules).as_optimizer).report
    assert [edit.words for edit in report.edits] == [CHECKED]
    assert b"ghp_" not in everything_in(house.path, "skillopt/run/night-1")
    assert quotes_request(f"Do not {request.upper()}", (request,))
    assert not quotes_request("Write a note about it", (request,))


def test_words_of_the_documents_and_of_the_rule_itself_may_be_said() -> None:
    assert not tells("The parser of QUARTZ-17 changed", SAID, "See QUARTZ-17, the parser")


def test_keys_never_stand_in_a_reason() -> None:
    reason = public_edit(edit("the key ghp_" + "a1B2" * 9), (), "").rationale
    assert "ghp_" not in reason


def everything_in(folder: Path, rev: str | None = None) -> bytes:
    """All objects of a repository, unpacked, or all patches and messages of one branch."""
    if rev is not None:
        return subprocess.check_output(["git", "log", "-p", rev], cwd=folder)
    done = subprocess.run(
        ["git", "cat-file", "--batch-all-objects", "--batch", "--unordered"],
        cwd=folder,
        capture_output=True,
        check=True,
    )
    return done.stdout


def test_nothing_of_a_session_reaches_a_remote_with_all_branches_and_tags(
    house: House, tmp_path: Path
) -> None:
    tasks = [
        task.model_copy(update={"prompt": f"{task.prompt}, code word GLIMMERFISH"})
        for task in asks()
    ]
    why = "The notes with the code word GLIMMERFISH all lacked the line."
    outcome = house.sleep(tasks, stand_ins=Proposing(CHECKED, why=why).as_optimizer)
    assert outcome.report.accepted
    assert "GLIMMERFISH" not in outcome.report.markdown()
    here = everything_in(house.path)
    assert b"GLIMMERFISH" in here
    remote, other = tmp_path / "remote.git", tmp_path / "other"
    house.git("init", "--quiet", "--bare", str(remote))
    house.git("remote", "add", "origin", str(remote))
    house.git("push", "--quiet", "--all", "origin")
    house.git("push", "--quiet", "--tags", "origin")
    house.git("push", "--quiet", "origin", "refs/notes/skillopt*:refs/notes/skillopt*") if (
        "refs/notes/skillopt" in house.refs()
    ) else None
    assert b"GLIMMERFISH" not in everything_in(remote)
    house.git("clone", "--quiet", str(remote), str(other))
    assert b"GLIMMERFISH" not in everything_in(other)
    assert b"Checked: yes" in everything_in(other)
