from __future__ import annotations

from typing import Any

import pygit2
import pytest

from skillgit.store.git.rewrite import commit_elsewhere


@pytest.fixture
def signed(run: Any, git: Any) -> str:
    """A commit with a signature of several lines, an encoding, and a message of odd bytes."""
    raw = (
        f"tree {run.head('main^{tree}')}\nparent {run.head()}\n"
        "author Ada <a@x> 1000 +0130\ncommitter Bob <b@x> 2000 -0500\n"
        "gpgsig -----BEGIN PGP SIGNATURE-----\n \n xyz\n -----END PGP SIGNATURE-----\n"
        "encoding UTF-8\n\nsubject\n\n  indented   \n\nend without a line end"
    )
    return git("hash-object", "-t", "commit", "-w", "--stdin", text=raw).strip()


def copy(run: Any, commit: str, parent: str, **changes: Any) -> str:
    return commit_elsewhere(run.pygit, run.pygit[commit].peel(pygit2.Commit), parent, **changes)


def test_all_but_the_parent_and_the_signature_is_kept(run: Any, git: Any, signed: str) -> None:
    run.commit_file("a.txt", "a\n")
    parent = run.head()
    raw = git("cat-file", "commit", copy(run, signed, parent))
    assert raw == (
        f"tree {run.head(f'{run.base}^{{tree}}')}\nparent {parent}\n"
        "author Ada <a@x> 1000 +0130\ncommitter Bob <b@x> 2000 -0500\n"
        "encoding UTF-8\n\nsubject\n\n  indented   \n\nend without a line end"
    )
    git("fsck", "--strict")


def test_on_its_own_parent_an_unsigned_commit_is_itself(run: Any) -> None:
    tip = run.commit_file("a.txt", "a\n")
    assert copy(run, tip, run.base) == tip


def test_tree_and_message_can_be_others(run: Any, git: Any, signed: str) -> None:
    run.commit_file("a.txt", "a\n")
    made = copy(run, signed, run.head(), tree=run.head("main^{tree}"), message="Ünother\n")
    assert git("log", "-1", "--format=%B", made).strip() == "Ünother"
    assert git("diff", "main", made) == ""


def test_in_order_it_is_no_older_than_its_parent(run: Any, git: Any, signed: str) -> None:
    made = copy(run, signed, run.head(), in_order=True)
    times = git("log", "-1", "--format=%at %ct", made).split()
    assert times == ["1000", git("log", "-1", "--format=%ct", "main").strip()]
