from __future__ import annotations

import pytest

from skillgit.errors import UserError
from skillgit.store.ranges import file_in, files_in, read_range, snapshot


def test_a_range_has_what_one_side_has_and_the_other_has_not(run, git) -> None:
    git("switch", "-q", "-c", "topic")
    first = run.commit_file("a.txt", "one\n")
    second = run.commit_file("a.txt", "two\n")
    git("switch", "-q", "main")
    base = run.commit_file("b.txt", "main moved\n")
    for typed in ("main..topic", "main...topic", "topic"):
        found = read_range(run.pygit, typed, onto="main")
        assert (found.base, found.fork, found.head) == (base, run.base, second)
        assert [commit.id for commit in found.commits] == [first, second]
        (change,) = found.changes
        assert (change.path, change.old, change.new_data) == ("a.txt", None, b"two\n")


def test_a_merge_of_main_brings_nothing_of_its_own(run, git) -> None:
    git("switch", "-q", "-c", "topic")
    run.commit_file("a.txt", "one\n")
    git("switch", "-q", "main")
    run.commit_file("b.txt", "main moved\n")
    git("switch", "-q", "topic")
    git("merge", "-q", "-m", "Update", "main")
    found = read_range(run.pygit, "main...topic", onto="main")
    assert [[c.path for c in commit.changes] for commit in found.commits] == [["a.txt"], []]


def test_an_evil_merge_is_seen(run, git) -> None:
    git("switch", "-q", "-c", "topic")
    run.commit_file("a.txt", "one\n")
    git("switch", "-q", "main")
    run.commit_file("b.txt", "main moved\n")
    git("switch", "-q", "topic")
    git("merge", "-q", "--no-commit", "main")
    (run.folder / "evil.txt").write_text("evil\n")
    git("add", "evil.txt")
    git("commit", "-q", "-m", "Update")
    found = read_range(run.pygit, "main...topic", onto="main")
    assert [c.path for c in found.commits[-1].changes] == ["evil.txt"]


def test_modes_links_and_deletions_are_told(run, git) -> None:
    git("switch", "-q", "-c", "topic")
    (run.folder / "link").symlink_to("README.md")
    (run.folder / "README.md").chmod(0o755)
    git("rm", "-q", "--cached", run.path)
    git("add", "link", "README.md")
    git("commit", "-q", "-m", "Change modes")
    changes = {c.path: c for c in read_range(run.pygit, "main...topic", onto="main").changes}
    assert changes["link"].new.kind == "a symbolic link"
    assert changes["link"].new_data == b"README.md"
    assert changes["README.md"].new.kind == "a program"
    assert changes[run.path].new is None


def test_sides_without_a_common_commit_are_refused(run, git) -> None:
    git("switch", "-q", "--orphan", "other")
    git("commit", "-q", "--allow-empty", "-m", "Alone")
    with pytest.raises(UserError, match="no commit in common"):
        read_range(run.pygit, "main...other", onto="main")


def test_files_are_read_from_a_commit_alone(run, git) -> None:
    (run.folder / "README.md").write_text("changed\n")
    assert file_in(run.pygit, run.base, "README.md").data == b"A project.\n"
    assert file_in(run.pygit, run.base, "nowhere") is None
    assert files_in(run.pygit, run.base, "skills") == [run.path]
    assert files_in(run.pygit, run.base, "skills/brief/") == [run.path]
    assert files_in(run.pygit, run.base, run.path) == [run.path]
    assert files_in(run.pygit, run.base, "nowhere") == []


def test_a_snapshot_has_the_files_and_is_gone_afterwards(run, git) -> None:
    (run.folder / "tool.sh").write_text("#!/bin/sh\n")
    (run.folder / "tool.sh").chmod(0o755)
    (run.folder / "link").symlink_to("/etc/passwd")
    git("add", "--all")
    git("commit", "-q", "-m", "Add a tool")
    with snapshot(run.pygit, run.head()) as folder:
        assert (folder / "tool.sh").stat().st_mode & 0o100
        assert (folder / run.path).read_bytes() == (run.folder / run.path).read_bytes()
        assert not (folder / "link").exists()
    assert not folder.exists()


def test_a_message_in_an_encoding_nobody_knows_is_read_all_the_same(run, git) -> None:
    git("switch", "-q", "-c", "topic")
    git("-c", "i18n.commitEncoding=no-such", "commit", "-q", "--allow-empty", "-m", "Grüße")
    (commit,) = read_range(run.pygit, "main...topic", onto="main").commits
    assert commit.message == "Grüße\n"
