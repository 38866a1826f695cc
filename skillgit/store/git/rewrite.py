"""The same commit in another place: its authorship, times and message kept to the byte."""

from __future__ import annotations

import pygit2
from pygit2.enums import ObjectType

from skillgit.store.git.trees import written

_SIGNATURES = (b"gpgsig ", b"gpgsig-sha256 ", b"mergetag ")


def commit_elsewhere(
    git: pygit2.Repository,
    commit: pygit2.Commit,
    parent: str,
    *,
    tree: str | None = None,
    message: str | None = None,
    in_order: bool = False,
) -> str:
    """The id of a copy of a commit on another parent; it is in no branch yet.

    Its tree and message are the commit's own unless others are given. A signature would not
    hold, so it is left out. `in_order` makes the copy no older than its parent.
    """
    header, _, own_message = commit.read_raw().partition(b"\n\n")
    lines = [f"tree {tree or commit.tree_id}".encode(), f"parent {parent}".encode()]
    earliest = git[parent].peel(pygit2.Commit).commit_time if in_order else 0
    for line in _kept(header.split(b"\n")):
        if line.startswith(b"committer "):
            lines.append(_not_before(line, earliest))
        elif not line.startswith((b"tree ", b"parent ")):
            lines.append(line)
    text = own_message if message is None else message.encode("utf-8")
    data = b"\n".join(lines) + b"\n\n" + text
    return str(written(lambda: git.write(ObjectType.COMMIT, data)))


def header_of(commit: pygit2.Commit) -> tuple[dict[str, list[str]], bytes]:
    """The fields of a commit's header, each with its values, and the message's bytes."""
    header, _, message = commit.read_raw().partition(b"\n\n")
    fields: dict[str, list[str]] = {"parent": []}
    for line in _kept(header.split(b"\n")):
        name, _, value = line.decode("utf-8", "surrogateescape").partition(" ")
        fields.setdefault(name, []).append(value)
    return fields, message


def _kept(lines: list[bytes]) -> list[bytes]:
    """The header without signatures and the indented lines that go on with them."""
    kept: list[bytes] = []
    in_signature = False
    for line in lines:
        in_signature = line.startswith(_SIGNATURES) or (in_signature and line.startswith(b" "))
        if not in_signature:
            kept.append(line)
    return kept


def _not_before(committer: bytes, earliest: int) -> bytes:
    who, time, zone = committer.rsplit(b" ", 2)
    return b" ".join((who, b"%d" % max(int(time), earliest), zone))
