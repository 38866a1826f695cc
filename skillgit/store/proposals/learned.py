"""A night's rules looked for by their words: what a squash into an edited document leaves of them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import pygit2

from skillgit.editing.bullets import find_bullets
from skillgit.editing.document import Document, Region
from skillgit.errors import DocumentError

Rules = dict[str, frozenset[str]]


def find_rules(
    git: pygit2.Repository, base: str, tip: str, paths: Iterable[str], commits: Iterable[str]
) -> str | None:
    """The first of some commits that has all rules which a proposal adds, and none that it takes out."""
    wanted = tuple(paths)
    before, after = _rules(git, base, wanted), _rules(git, tip, wanted)
    added = {path: after[path] - before[path] for path in wanted}
    removed = {path: before[path] - after[path] for path in wanted}
    if not any((*added.values(), *removed.values())):
        return None
    seen: set[tuple[frozenset[str], ...]] = set()
    for commit in commits:
        here = _rules(git, commit, wanted)
        state = tuple(here[path] for path in wanted)
        if state in seen:
            continue
        seen.add(state)
        if all(added[p] <= here[p] and not removed[p] & here[p] for p in wanted):
            return commit
    return None


def _rules(git: pygit2.Repository, commit: str, paths: Iterable[str]) -> Rules:
    """The bullets of the learned region at each path, folded."""
    tree = git[commit].peel(pygit2.Tree)
    return {path: _bullets(_data(tree, path)) for path in paths}


def _data(tree: pygit2.Tree, path: str) -> bytes:
    if path not in tree:
        return b""
    found = tree[path]
    return found.data if isinstance(found, pygit2.Blob) else b""


@lru_cache(maxsize=256)
def _bullets(data: bytes) -> frozenset[str]:
    try:
        document = Document.parse(data)
    except DocumentError:
        return frozenset()
    span = document.layout.region(Region.LEARNED)
    if span is None:
        return frozenset()
    found = find_bullets(document.text, span.inner_start, span.inner_end)
    return frozenset(bullet.key for bullet in found)
