"""Lines that are gone from notes, whichever way they went."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import FixedClock

from skillgit.store.git.refs import Refs
from skillgit.store.git.repository import open_repository
from skillgit.store.notes.note_losses import lost_lines, noted_objects
from skillgit.store.notes.notes import Notes

REF = "refs/notes/skillopt"
A, B = "a" * 40, "b" * 40


class Noted:
    """Notes written as runs write them."""

    def __init__(self, repo: Path) -> None:
        self.repository = open_repository(repo)
        git = self.repository.git
        refs = Refs(git, self.repository.common, clock=FixedClock())
        self._notes = Notes(git, refs, REF)

    def add(self, **lines: str) -> None:
        objects = {"a": A, "b": B}
        additions = {objects[name]: [line] for name, line in lines.items()}
        self._notes.add(additions, who=self.repository.signature(0), message="x")

    def lost(self, *moves: dict[str, object]) -> list[tuple[str, str]]:
        found = lost_lines(open_repository(self.repository.common).git, REF, moves)
        return [(loss.object_id[0], loss.line) for loss in found]


@pytest.fixture
def noted(repo: Path) -> Noted:
    found = Noted(repo)
    found.add(a="one")
    found.add(a="two", b="three")
    return found


def test_lines_that_are_only_added_are_never_lost(noted: Noted) -> None:
    assert noted.lost() == []
    assert dict(noted_objects(noted.repository.git, REF)) == {
        A: ("one", "two"),
        B: ("three",),
    }


def test_no_notes_have_lost_nothing(repo: Path) -> None:
    assert lost_lines(open_repository(repo).git, REF) == []


def test_pruned_notes_are_found_in_the_history(noted: Noted, git) -> None:
    git("notes", "--ref", REF, "prune")
    assert sorted(noted.lost()) == [("a", "one"), ("a", "two"), ("b", "three")]


def test_a_note_that_was_removed_or_overwritten_is_found(noted: Noted, git) -> None:
    tip = git("rev-parse", REF).strip()
    git("notes", "--ref", REF, "remove", B)
    assert noted.lost() == [("b", "three")]
    git("update-ref", REF, tip)
    git("notes", "--ref", REF, "add", "-f", "-m", "two", A)
    assert noted.lost() == [("a", "one")]


def test_what_came_back_is_not_lost(noted: Noted, git) -> None:
    git("notes", "--ref", REF, "remove", B)
    noted.add(b="three")
    assert noted.lost() == []


def test_a_rewritten_history_is_found_in_the_reflog(noted: Noted, git) -> None:
    git("update-ref", REF, git("rev-parse", f"{REF}~1").strip())
    assert sorted(noted.lost()) == [("a", "two"), ("b", "three")]


def test_a_rewritten_history_without_a_reflog_is_found_in_our_own_log(noted: Noted, git) -> None:
    tip, before = (git("rev-parse", name).strip() for name in (REF, f"{REF}~1"))
    git("update-ref", REF, before)
    git("reflog", "expire", "--expire=all", REF)
    made: dict[str, object] = {"old": before, "new": tip}
    assert noted.lost() == []
    assert sorted(noted.lost(made, {"old": tip, "new": "c" * 40})) == [("a", "two"), ("b", "three")]


def test_a_move_that_was_only_tried_lost_nothing(noted: Noted, git) -> None:
    tip, before = (git("rev-parse", name).strip() for name in (REF, f"{REF}~1"))
    git("update-ref", REF, before)
    git("reflog", "expire", "--expire=all", REF)
    assert noted.lost({"old": before, "new": tip}) == []


def test_another_layout_is_no_loss(noted: Noted, git) -> None:
    """git writes the tree anew in the fan-out that suits it."""
    git("notes", "--ref", REF, "append", "-m", "four", B)
    noted.add(a="five")
    assert noted.lost() == []
