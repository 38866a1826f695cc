"""What would touch the user's index, work tree, or another writer's work is nowhere called."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import skillgit

PACKAGE = Path(skillgit.__file__).parent
NEVER = {
    "checkout",
    "checkout_head",
    "checkout_index",
    "checkout_tree",
    "cherrypick",
    "create_note",
    "merge",
    "merge_trees",
    "reset",
    "revert",
    "revert_commit",
    "stash",
    "stash_apply",
    "stash_drop",
    "stash_pop",
}
LOOKS_BEFORE_IT_LOCKS = {"create_reference", "create_reference_direct", "create_branch", "set_head"}
ONLY_IN_REFS = {"set_target", "transaction", "lock_ref"}


def calls(source: str) -> Iterator[ast.Call]:
    yield from (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))


def what_is_forbidden(source: str, *, moves_refs: bool = False) -> list[str]:
    found = []
    for call in calls(source):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        on = ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""
        if name in NEVER | LOOKS_BEFORE_IT_LOCKS:
            found.append(name)
        if name in ONLY_IN_REFS and not moves_refs:
            found.append(name)
        if name == "write" and on.endswith("index"):
            found.append("index.write")
        if name in ("create", "delete") and on.endswith(
            ("references", "branches", "branches.local")
        ):
            found.append(f"references.{name}")
        if name == "create_commit" and ast.unparse(call.args[0]) != "None":
            found.append("create_commit with a ref")
        found += [
            f"force={ast.unparse(keyword.value)}"
            for keyword in call.keywords
            if keyword.arg == "force" and ast.unparse(keyword.value) == "True" and "git" in on
        ]
    return found


@pytest.mark.parametrize("path", sorted((PACKAGE / "store").glob("*.py")), ids=lambda p: p.name)
def test_the_store_never_calls_what_loses_work(path):
    source = path.read_text(encoding="utf-8")
    assert what_is_forbidden(source, moves_refs=path.name == "refs.py") == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("git.checkout('main')", ["checkout"]),
        ("git.index.write()", ["index.write"]),
        ("git.references.create(a, b)", ["references.create"]),
        ("git.create_commit(ref, a, b, c, d, [])", ["create_commit with a ref"]),
        ("git.create_commit(None, a, b, c, d, [])", []),
        ("git.lookup_reference(a).set_target(b)", ["set_target"]),
        ("repository.git.branches.rename(a, b, force=True)", ["force=True"]),
        ("builder.write()", []),
    ],
)
def test_the_reader_finds_them(source, found):
    assert what_is_forbidden(source) == found


def test_no_git_command_forces():
    for path in (PACKAGE / "store").glob("*.py"):
        source = path.read_text(encoding="utf-8")
        for call in calls(source):
            literals = [n.value for n in ast.walk(call) if isinstance(n, ast.Constant)]
            for literal in literals:
                assert literal not in ("--force", "-f", "--hard"), f"{path.name}: {literal}"
