from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path

import pygit2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.store.git.refs import Refs
from skillgit.store.git.repository import open_repository
from skillgit.store.notes.notes import Notes, add_lines

REF = "refs/notes/skillopt"
WHO = pygit2.Signature("Ada Tester", "ada@example.org", 1, 0)


@pytest.fixture
def head(repo: Path, git: Callable[..., str]) -> str:
    git("commit", "-q", "--allow-empty", "-m", "Start")
    return git("rev-parse", "HEAD").strip()


@pytest.fixture
def notes(head, repo, clock) -> Notes:
    return opened(repo, clock)


def opened(repo: Path, clock) -> Notes:
    found = open_repository(repo, durable=False)
    return Notes(found.git, Refs(found.git, found.common, clock=clock), REF)


def add(notes: Notes, object_id: str, *lines: str) -> None:
    notes.add({object_id: lines}, who=WHO, message="train-1 step 1")


def ids(many: Iterable[int]) -> list[str]:
    """Object ids that spread over the fan-out; a note may stand on what is not there."""
    return [pygit2.hash(str(n).encode()).__str__() for n in many]


def test_git_shows_what_was_added(notes, head, git):
    add(notes, head, '{"kind":"a"}', '{"kind":"b"}')
    assert git("notes", "--ref=skillopt", "show", head) == '{"kind":"a"}\n{"kind":"b"}\n'
    assert notes.lines(head) == ('{"kind":"a"}', '{"kind":"b"}')
    assert notes.lines("0" * 40) == ()


def test_the_tree_has_one_level_of_fan_out(notes, head, git):
    add(notes, head, "one")
    assert git("ls-tree", "-r", "--name-only", REF) == f"{head[:2]}/{head[2:]}\n"


def test_many_objects_are_one_commit(notes, head, git):
    many = ids(range(50))
    notes.add({one: ["line"] for one in many}, who=WHO, message="many")
    assert git("rev-list", "--count", REF) == "1\n"
    assert len(git("notes", "--ref=skillopt", "list").splitlines()) == 50


def test_what_is_there_is_not_added_again_and_makes_no_commit(notes, head, git):
    add(notes, head, "one", "two")
    tip = git("rev-parse", REF)
    add(notes, head, "two", "one", "one")
    assert git("rev-parse", REF) == tip
    notes.add({}, who=WHO, message="nothing")
    notes.add({head: []}, who=WHO, message="nothing")
    assert git("rev-parse", REF) == tip


def test_lines_appended_by_hand_stay_and_are_read(notes, head, git):
    add(notes, head, "one")
    git("notes", "--ref=skillopt", "append", "-m", "a person's line: ünï", head)
    assert notes.lines(head) == ("one", "a person's line: ünï")
    add(notes, head, "two")
    assert git("notes", "--ref=skillopt", "show", head) == "one\n\na person's line: ünï\ntwo\n"
    git("notes", "--ref=skillopt", "append", "-m", "last", head)
    assert notes.lines(head) == ("one", "a person's line: ünï", "two", "last")


def test_a_note_that_git_began_is_gone_on_with(notes, head, git, repo):
    git("notes", "--ref=skillopt", "add", "-m", "by git", head)
    add(notes, head, "ours")
    assert git("notes", "--ref=skillopt", "show", head) == "by git\nours\n"
    assert git("ls-tree", "-r", "--name-only", REF) == f"{head[:2]}/{head[2:]}\n"


def test_bytes_that_are_no_text_stay(notes, head, git, repo, tmp_path):
    blob = tmp_path / "blob"
    blob.write_bytes(b"\xff\xfe\r\nno end")
    written = git("hash-object", "-w", str(blob)).strip()
    git("notes", "--ref=skillopt", "add", "-C", written, head)
    add(notes, head, "ours")
    note = subprocess.run(
        ["git", "notes", "--ref=skillopt", "show", head], cwd=repo, capture_output=True, check=True
    )
    assert note.stdout == b"\xff\xfe\r\nno end\nours\n"


def write_tree(repo: Path, entries: dict[str, bytes]) -> None:
    """A notes ref whose tree has exactly these files."""
    git = pygit2.Repository(str(repo))

    def build(files: dict[str, bytes]) -> pygit2.Oid:
        builder = git.TreeBuilder()
        below: dict[str, dict[str, bytes]] = {}
        for path, data in files.items():
            name, slash, rest = path.partition("/")
            if slash:
                below.setdefault(name, {})[rest] = data
            else:
                builder.insert(name, git.create_blob(data), pygit2.enums.FileMode.BLOB)
        for name, inner in below.items():
            builder.insert(name, build(inner), pygit2.enums.FileMode.TREE)
        return builder.write()

    git.create_commit(REF, WHO, WHO, "by another", build(entries), [])


LAYOUTS = {
    "flat": lambda i: i,
    "one level": lambda i: f"{i[:2]}/{i[2:]}",
    "two levels": lambda i: f"{i[:2]}/{i[2:4]}/{i[4:]}",
    "three levels": lambda i: f"{i[:2]}/{i[2:4]}/{i[4:6]}/{i[6:]}",
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_notes_are_read_and_gone_on_with_in_any_layout(notes, head, git, repo, layout):
    many = [*ids(range(30)), head]
    write_tree(repo, {layout(one): b"old\n" for one in many})
    assert all(notes.lines(one) == ("old",) for one in many)
    add(notes, head, "new")
    add(notes, many[3], "new")
    assert notes.lines(head) == notes.lines(many[3]) == ("old", "new")
    assert git("notes", "--ref=skillopt", "show", head) == "old\nnew\n"
    listed = {line.split()[1] for line in git("notes", "--ref=skillopt", "list").splitlines()}
    assert listed == set(many)
    assert git("ls-tree", "-r", "--name-only", REF).split().count(f"{head[:2]}/{head[2:]}") == 1


def test_a_note_in_several_places_becomes_one_with_all_lines(notes, head, git, repo):
    places = dict(zip(LAYOUTS.values(), (b"a\n", b"b\na\n", b"c", b"a\nd\n"), strict=True))
    write_tree(repo, {layout(head): data for layout, data in places.items()})
    assert set(notes.lines(head)) == {"a", "b", "c", "d"}
    add(notes, head, "e")
    assert set(git("notes", "--ref=skillopt", "show", head).split()) == set("abcde")
    assert git("ls-tree", "-r", "--name-only", REF).split() == [f"{head[:2]}/{head[2:]}"]


def test_files_that_are_no_notes_stay(notes, head, git, repo):
    foreign = {"README": b"x\n", "ab/notes.txt": b"y\n", f"{head[:2]}/more/deep": b"z\n"}
    write_tree(repo, foreign)
    add(notes, head, "one")
    paths = git("ls-tree", "-r", "--name-only", REF).split()
    assert sorted(paths) == sorted([*foreign, f"{head[:2]}/{head[2:]}"])


def test_a_file_where_a_fan_out_folder_would_be_stays(notes, head, git, repo):
    write_tree(repo, {head[:2]: b"a file\n"})
    add(notes, head, "one")
    add(notes, head, "two")
    assert notes.lines(head) == ("one", "two")
    assert git("show", f"{REF}:{head[:2]}") == "a file\n"
    assert git("notes", "--ref=skillopt", "show", head) == "one\ntwo\n"


def test_git_may_rewrite_the_tree_in_between(notes, head, git, repo):
    many = ids(range(20))
    notes.add({one: ["line"] for one in many}, who=WHO, message="many")
    git("notes", "--ref=skillopt", "append", "-m", "mine", head)
    names = git("ls-tree", "--name-only", REF).split()
    assert all(len(name) == 40 for name in names)
    add(notes, many[0], "more")
    assert notes.lines(head) == ("mine",)
    assert notes.lines(many[0]) == ("line", "more")
    assert all(len(name) == 2 for name in git("ls-tree", "--name-only", REF).split())


def test_a_note_that_someone_removed_is_not_brought_back(notes, head, git):
    add(notes, head, "one")
    add(notes, "0" * 40, "other")
    git("notes", "--ref=skillopt", "remove", head)
    add(notes, "0" * 40, "more")
    assert notes.lines(head) == ()


def test_half_of_a_surrogate_pair_does_not_raise(notes, head):
    add(notes, head, '{"kind":"\ud83d"}')
    add(notes, head, '{"kind":"\ud83d"}')
    assert notes.lines(head) == ('{"kind":"?"}',)


def test_a_line_end_in_a_line_stays_within_it(notes, head):
    add(notes, head, "a\nb")
    assert notes.lines(head) == ("a b",)


@given(st.binary(), st.lists(st.binary().filter(lambda b: b"\n" not in b)))
def test_what_stands_in_a_note_stays_and_adding_twice_is_adding_once(old, lines):
    new = add_lines(old, lines)
    assert new.startswith(old)
    assert {line for line in lines if line.strip()} <= set(new.split(b"\n"))
    assert add_lines(new, lines) == new


RACER = """
    import sys, time, pathlib
    from datetime import datetime, UTC
    import pygit2
    from skillgit.store.notes.notes import Notes
    from skillgit.store.git.refs import Refs
    from skillgit.store.git.repository import open_repository

    class Clock:
        def now(self): return datetime.now(UTC)
        def monotonic(self): return time.monotonic()
        def sleep(self, seconds): time.sleep(seconds)

    me = sys.argv[1]
    found = open_repository(pathlib.Path({repo!r}), durable=False)
    notes = Notes(found.git, Refs(found.git, found.common, clock=Clock()), {ref!r})
    who = pygit2.Signature("Ada", "ada@example.org", 0, 0)
    for n in range(40):
        own = str(pygit2.hash((me + str(n)).encode()))
        notes.add({{{head!r}: [me + "/" + str(n)], own: ["own"]}}, who=who, message="race")
"""


def test_four_writers_lose_no_line(notes, head, repo):
    code = textwrap.dedent(RACER).format(repo=str(repo), ref=REF, head=head)
    started = [subprocess.Popen([sys.executable, "-c", code, str(n)]) for n in range(4)]
    assert [process.wait() for process in started] == [0] * 4
    assert set(notes.lines(head)) == {f"{me}/{n}" for me in range(4) for n in range(40)}
    for me in range(4):
        for n in range(40):
            assert notes.lines(str(pygit2.hash(f"{me}{n}".encode()))) == ("own",)
