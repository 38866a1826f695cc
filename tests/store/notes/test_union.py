from __future__ import annotations

from collections.abc import Iterable

import pygit2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.store.git.names import NOTES
from skillgit.store.git.refs import Refs
from skillgit.store.notes.notes import Notes
from skillgit.store.notes.union import count_lines, missing_lines, take_in, tree_at

WHO = pygit2.Signature("Ada Tester", "ada@example.org", 1_770_000_000, 0)
OTHER = "refs/notes/remotes/origin/skillopt"
ONE, TWO = "aa" * 20, "ab" * 20


class Sides:
    """Notes here, and notes that were fetched."""

    def __init__(self, repo, clock) -> None:
        self.git = pygit2.Repository(str(repo))
        self.refs = Refs(self.git, repo / ".git", clock=clock)

    def write(self, ref: str, **lines: Iterable[str]) -> str:
        Notes(self.git, self.refs, ref).add(
            {{"one": ONE, "two": TWO}[k]: v for k, v in lines.items()}, who=WHO, message="train-1"
        )
        return self.refs.read(ref)

    def take(self) -> int:
        return take_in(self.git, self.refs, NOTES, self.refs.read(OTHER), who=WHO)

    def here(self, object_id: str = ONE) -> list[str]:
        return sorted(Notes(self.git, self.refs, NOTES).lines(object_id))


@pytest.fixture
def sides(repo, clock) -> Sides:
    return Sides(repo, clock)


def test_where_nothing_was_the_other_is_taken_as_it_is(sides) -> None:
    there = sides.write(OTHER, one=["a", "b"], two=["c"])
    assert sides.take() == 3
    assert sides.refs.read(NOTES) == there


def test_both_sides_lines_are_there_afterwards_and_both_are_parents(sides) -> None:
    here = sides.write(NOTES, one=["a", "b"])
    there = sides.write(OTHER, one=["b", "c"], two=["d"])
    assert sides.take() == 2
    assert sides.here() == ["a", "b", "c"]
    assert sides.here(TWO) == ["d"]
    parents = [str(p) for p in sides.git[sides.refs.read(NOTES)].parent_ids]
    assert parents == [here, there]


def test_taking_in_twice_changes_nothing(sides) -> None:
    sides.write(NOTES, one=["a"])
    sides.write(OTHER, one=["b"])
    sides.take()
    tip = sides.refs.read(NOTES)
    assert sides.take() == 0
    assert sides.refs.read(NOTES) == tip


def test_two_clones_end_on_one_commit_whatever_the_order_of_lines(sides) -> None:
    sides.write(NOTES, one=["a"])
    sides.write(OTHER, one=["b"])
    sides.take()
    merged = sides.refs.read(NOTES)
    before = sides.refs.read(OTHER)
    assert take_in(sides.git, sides.refs, OTHER, merged, who=WHO) == 1
    assert before != merged
    assert sides.refs.read(OTHER) == merged


def test_a_prune_there_takes_nothing_away_here(sides, git) -> None:
    shared = sides.write(NOTES, one=["a"], two=["b"])
    sides.refs.move(OTHER, old=None, new=shared, message="fetched")
    git("notes", "--ref", OTHER, "remove", ONE)
    assert sides.take() == 0
    assert (sides.here(), sides.here(TWO)) == (["a"], ["b"])
    parents = [str(p) for p in sides.git[sides.refs.read(NOTES)].parent_ids]
    assert parents == [shared, sides.refs.read(OTHER)]


def test_a_prune_here_is_healed_by_what_is_there(sides, git) -> None:
    shared = sides.write(NOTES, one=["a"], two=["b"])
    sides.refs.move(OTHER, old=None, new=shared, message="fetched")
    git("notes", "--ref", NOTES, "remove", ONE)
    assert sides.here() == []
    assert sides.take() == 1
    assert sides.here() == ["a"]


def test_notes_that_git_wrote_in_another_layout_are_read(sides, git) -> None:
    blob = git("hash-object", "-w", "--stdin", text="the object").strip()
    git("notes", "--ref", OTHER, "add", "-m", "by git", blob)
    sides.write(NOTES, one=["a"])
    assert sides.take() == 1
    assert git("notes", "--ref", NOTES, "show", blob).strip() == "by git"


@given(
    here=st.sets(st.sampled_from("abcdef")),
    there=st.sets(st.sampled_from("abcdef")),
)
def test_what_is_missing_is_the_difference(tmp_path_factory, here, there) -> None:
    git = pygit2.init_repository(str(tmp_path_factory.mktemp("notes")), bare=True)

    def tree(lines: set[str]) -> pygit2.Tree | None:
        if not lines:
            return None
        notes = git.TreeBuilder()
        data = "".join(f"{line}\n" for line in sorted(lines))
        notes.insert(ONE[2:], git.create_blob(data.encode()), pygit2.enums.FileMode.BLOB)
        root = git.TreeBuilder()
        root.insert(ONE[:2], notes.write(), pygit2.enums.FileMode.TREE)
        commit = git.create_commit(None, WHO, WHO, "notes", root.write(), [])
        return tree_at(git, str(commit))

    found = missing_lines(tree(here), tree(there))
    assert {line.decode() for line in found.get(ONE, [])} == there - here
    assert count_lines(found) == len(there - here)
