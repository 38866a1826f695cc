"""A part of a proposal: what it does to some documents, one skill's say, and to nothing else."""

from __future__ import annotations

from collections.abc import Collection

import pygit2

from skillgit.errors import UserError
from skillgit.history.trailers import parse_commit
from skillgit.store.git.trees import message_of
from skillgit.store.proposals.adopted import Lineage, changed_paths


def part_of(git: pygit2.Repository, whole: Lineage, documents: Collection[str]) -> Lineage:
    """The part of a proposal that is about some documents.

    It is a proposal like any other, but for its commits: those that change one of the documents,
    and of these only what they change there counts. All of a proposal is no part but the whole.

    Raises: UserError when the proposal changes none of the documents.
    """
    changes = {commit: _changed(git, commit) for commit in whole.commits}
    chosen = tuple(c for c, paths in changes.items() if not paths.isdisjoint(documents))
    if not chosen:
        raise UserError(
            f"{whole.run} changes none of {', '.join(sorted(documents))}",
            hint=f"It changes {', '.join(whole.paths)}." if whole.paths else "",
        )
    if all(paths <= set(documents) for paths in changes.values()):
        return whole
    messages = [message_of(git[commit].peel(pygit2.Commit)) for commit in chosen]
    trailers = [found for found in map(parse_commit, messages) if found is not None]
    return whole.model_copy(
        update={
            "commits": chosen,
            "steps": frozenset((t.step, t.action.value) for t in trailers),
            "paths": tuple(path for path in whole.paths if path in documents),
            "is_part": True,
        }
    )


def _changed(git: pygit2.Repository, commit_id: str) -> set[str]:
    commit = git[commit_id].peel(pygit2.Commit)
    return set(changed_paths(commit.parents[0].tree, commit.tree))
