from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from skillgit.errors import RepositoryError
from skillgit.records import Edit, EditOp, EditOutcome, Outcome
from skillgit.review.hunks import attribute, read_hunks

BEFORE = "# Rules\n- old rule\n- keep\n- drop me\n\n## End\nlast line\n"
AFTER = "# Rules\n- new rule\n- keep\n\n## End\nlast line\n- ask for a date\n"


def diff_of(tmp_path: Path, before: str, after: str) -> str:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a" / "SKILL.md").write_bytes(before.encode())
    (tmp_path / "b" / "SKILL.md").write_bytes(after.encode())
    done = subprocess.run(
        ["git", "diff", "--no-index", "-U0", "--no-prefix", "a/SKILL.md", "b/SKILL.md"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    return done.stdout.decode()


def applied(op: EditOp, **fields: str) -> EditOutcome:
    return EditOutcome(edit=Edit(op=op, **fields), outcome=Outcome.APPLIED)  # type: ignore[arg-type]


def test_each_hunk_stands_beside_the_edit_that_made_it(tmp_path: Path) -> None:
    hunks = read_hunks(diff_of(tmp_path, BEFORE, AFTER))
    replace = applied(EditOp.REPLACE, anchor="old rule", content="new rule")
    delete = applied(EditOp.DELETE, anchor="- drop me")
    add = applied(EditOp.ADD, content="ask for a date")
    found = attribute(hunks, [add, delete, replace], main_path="SKILL.md")
    assert [h.edits for h in found] == [(replace,), (delete,), (add,)]


def test_an_edit_that_was_not_applied_makes_no_hunk(tmp_path: Path) -> None:
    hunks = read_hunks(diff_of(tmp_path, "a\n", "a\nb\n"))
    missing = EditOutcome(
        edit=Edit(op=EditOp.ADD, content="b", anchor="nowhere"), outcome=Outcome.ANCHOR_MISSING
    )
    assert attribute(hunks, [missing], main_path="SKILL.md")[0].edits == ()


def test_edits_side_by_side_share_their_hunk(tmp_path: Path) -> None:
    hunks = read_hunks(diff_of(tmp_path, "a\n", "a\n- one\n- two\n"))
    one, two = applied(EditOp.ADD, content="one"), applied(EditOp.ADD, content="two")
    assert [h.edits for h in attribute(hunks, [one, two], main_path="SKILL.md")] == [(one, two)]


def test_an_edit_of_another_document_makes_no_hunk_here(tmp_path: Path) -> None:
    hunks = read_hunks(diff_of(tmp_path, "a\n", "a\nb\n"))
    other = applied(EditOp.ADD, content="b", target="references/more.md")
    assert attribute(hunks, [other], main_path="SKILL.md")[0].edits == ()


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ("-- x\n++ y\n", "-- x\n", ("-++ y",)),
        ("a\n", "a\n--- b\n+++ c\n", ("+--- b", "++++ c")),
        ("a\r\n", "a\r\nb\r\n", ("+b",)),
        ("a\n", "a\nb\u2028c\x0cd\x85e\n", ("+b\u2028c\x0cd\x85e",)),
        ("a", "a\nb", ("-a", "\\ No newline at end of file", "+a", "+b")),
        ("a\n", "a\n@@ -1 +1 @@\n", ("+@@ -1 +1 @@",)),
    ],
)
def test_lines_that_look_like_a_diff_are_text(
    tmp_path: Path, before: str, after: str, lines: tuple[str, ...]
) -> None:
    hunks = read_hunks(diff_of(tmp_path, before, after))
    assert hunks[0].lines[: len(lines)] == lines


def test_a_lone_carriage_return_does_not_end_a_line(tmp_path: Path) -> None:
    (hunk,) = read_hunks(diff_of(tmp_path, "a\n", "a\nb\rc\n"))
    assert hunk.added == ("b\rc",)


def test_what_is_no_diff_is_said_to_be_none() -> None:
    with pytest.raises(RepositoryError, match="diff"):
        read_hunks("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n hello\n")


def test_no_change_is_no_hunk() -> None:
    assert read_hunks("") == ()
