"""Commits as objects: made with headers of one's own, and made again in another place.

What is made again keeps its authorship, times and message to the byte.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import pygit2
from pygit2.enums import ObjectType

from skillgit.history.trailers import STATE_HEADER
from skillgit.store.git.trees import written

_LEFT_OUT = (b"gpgsig ", b"gpgsig-sha256 ", b"mergetag ", f"{STATE_HEADER} ".encode())


def commit_with(
    git: pygit2.Repository,
    who: pygit2.Signature,
    message: str,
    tree: pygit2.Oid,
    parent: pygit2.Oid,
    headers: Mapping[str, str],
) -> pygit2.Oid:
    """A commit with headers of one's own after git's; it is in no branch yet.

    Shape: each header's value is one line.
    """
    for name, value in headers.items():
        if "\n" in value or "\0" in value:
            raise ValueError(f"the header {name} has more than one line")
    # It returns the text of the commit, whatever its stub says.
    text = cast("str", git.create_commit_string(who, who, message, tree, [parent]))
    own = "".join(f"\n{name} {value}" for name, value in headers.items())
    header, _, rest = text.partition("\n\n")
    data = f"{header}{own}\n\n{rest}".encode("utf-8", "surrogateescape")
    return git.write(ObjectType.COMMIT, data)


def header_value(commit: pygit2.Commit, name: str) -> str | None:
    """The value of a header that stands there once."""
    header, _, _ = commit.read_raw().partition(b"\n\n")
    prefix = f"{name} ".encode()
    values = [line for line in header.split(b"\n") if line.startswith(prefix)]
    return values[0][len(prefix) :].decode("utf-8", "replace") if len(values) == 1 else None


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
    hold, and a run's state is its branch's alone, so both are left out. `in_order` makes the copy no older than its parent.
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
    """The header without what is left out and the indented lines that go on with it."""
    kept: list[bytes] = []
    is_out = False
    for line in lines:
        is_out = line.startswith(_LEFT_OUT) or (is_out and line.startswith(b" "))
        if not is_out:
            kept.append(line)
    return kept


def _not_before(committer: bytes, earliest: int) -> bytes:
    who, time, zone = committer.rsplit(b" ", 2)
    return b" ".join((who, b"%d" % max(int(time), earliest), zone))
