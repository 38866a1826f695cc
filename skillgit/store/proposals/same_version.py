"""Is a commit elsewhere the copy of a run's version? Told by its trailers, and by who made it when.

A copy has no state: of two runs of one name, the author and the score tell which it is of.
"""

from __future__ import annotations

from typing import NamedTuple

import pygit2

from skillgit.history import CandidateScore
from skillgit.history.trailers import (
    ParsedTrailers,
    parse_commit,
    quoted_commits,
    score_text,
    without_state,
)
from skillgit.store.git.trees import author_of, message_of


class VersionMark(NamedTuple):
    """By what a version is known again; `author` is empty where a message only quotes it."""

    run: str
    step: int
    action: str
    score: str
    author: str

    def is_same(self, other: VersionMark) -> bool:
        """Whether two commits are of one version.

        A replay may have another score, a squash or a person's new commit another author.
        """
        if self[:3] != other[:3]:
            return False
        return self.score == other.score or "" != self.author == other.author


def mark_of(trailers: ParsedTrailers, author: str = "") -> VersionMark:
    """The mark of a version."""
    score = score_text(CandidateScore(score=trailers.score, bound=trailers.bound))
    return VersionMark(trailers.run, trailers.step, trailers.action.value, score, author)


def marks_of(commit: pygit2.Commit) -> frozenset[VersionMark]:
    """The marks of the versions that a commit is of: its own, or those that a squash quotes."""
    message = message_of(commit)
    own = parse_commit(message)
    if own is not None:
        return frozenset((mark_of(own, author_of(commit)),))
    return frozenset(map(mark_of, quoted_commits(message)))


def own_mark(commit: pygit2.Commit) -> VersionMark | None:
    """The mark of the version that a commit is of."""
    own = parse_commit(message_of(commit))
    return None if own is None else mark_of(own, author_of(commit))


def kept_message(commit: pygit2.Commit) -> str | None:
    """The message that a copy has where it is not the commit's own: runs made before told a state."""
    message = message_of(commit)
    kept = without_state(message)
    return None if kept == message else kept
