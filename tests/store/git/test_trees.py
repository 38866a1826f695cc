from __future__ import annotations

import pygit2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.errors import RepositoryError
from skillgit.store.git.trees import clean_path, files_under, read_blob, replace_files

names = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1)


@pytest.fixture(scope="module")
def objects(tmp_path_factory) -> pygit2.Repository:
    return pygit2.init_repository(str(tmp_path_factory.mktemp("objects")), bare=True)


def test_a_tree_is_built_and_read_back(objects):
    files = {"b": b"2", "a/deep/x": b"1", "a/y": b"", "a.b": b"3"}
    tree = objects[replace_files(objects, None, files)]
    assert set(files_under(tree, "")) == set(files)
    assert set(files_under(tree, "a")) == {"a/deep/x", "a/y"}
    assert all(read_blob(objects, tree, path).data == data for path, data in files.items())
    assert list(files_under(tree, "b")) == []


def test_replacing_touches_nothing_else(objects):
    old = objects[replace_files(objects, None, {"a/x": b"1", "a/y": b"2", "b/z": b"3"})]
    new = objects[replace_files(objects, old, {"a/x": b"one"})]
    assert new["b"].id == old["b"].id
    assert new["a/y"].id == old["a/y"].id
    assert read_blob(objects, new, "a/x").data == b"one"
    assert replace_files(objects, new, {"a/x": b"1"}) == old.id


def test_what_is_not_there_is_not_found(objects):
    tree = objects[replace_files(objects, None, {"a/x": b"1"})]
    for path in ("b", "a/b", "a/x/y"):
        with pytest.raises(FileNotFoundError):
            read_blob(objects, tree, path)


@pytest.mark.parametrize(
    ("path", "clean"), [("a", "a"), ("./a//b/../c", "a/c"), ("a/.github/x", "a/.github/x")]
)
def test_a_path_is_cleaned(path, clean):
    assert clean_path(path) == clean


@given(st.lists(st.sampled_from(["..", ".", "a", ".git", ""]) | names, min_size=1))
def test_no_path_leads_out_of_the_repository(parts):
    try:
        clean = clean_path("/".join(parts))
    except RepositoryError:
        return
    assert not clean.startswith("/")
    assert not {"..", ".git", "."} & set(clean.split("/"))
