"""Digests: what was read stays readable when the agent has deleted it, to the owner alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillgit.sleep.harvest.digests import INDEX, Digests, Entry
from skillgit.sleep.harvest.sessions import Transcript

TRANSCRIPTS = (Transcript(source="codex", session_ids=("s1",)),)


def entry(*, kept: bool = True, size: int = 1) -> Entry:
    return Entry(path="/a.jsonl", source="codex", version=1, size=size, mtime_ns=1, kept=kept)


def again(folder: Path) -> Digests:
    return Digests(folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    digests = Digests(tmp_path / "kept")
    digests.keep(entry(), TRANSCRIPTS)
    digests.close()
    return tmp_path / "kept"


def test_what_was_kept_is_read_back(folder: Path) -> None:
    digests = again(folder)
    known = digests.known("codex", "/a.jsonl")
    assert known == entry()
    assert digests.transcripts(known) == TRANSCRIPTS
    assert digests.known("claude-code", "/a.jsonl") is None


def test_only_the_owner_can_read_it(folder: Path) -> None:
    assert [oct(path.stat().st_mode & 0o077) for path in folder.iterdir()] == ["0o0", "0o0"]
    assert folder.stat().st_mode & 0o077 == 0


def test_a_session_of_another_project_loses_its_digest(folder: Path) -> None:
    digests = again(folder)
    digests.keep(entry(kept=False), TRANSCRIPTS)
    digests.close()
    assert [path.name for path in folder.iterdir()] == [INDEX]
    assert again(folder).transcripts(entry(kept=False)) is None


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff\xfe"])
def test_a_damaged_digest_counts_as_lost(folder: Path, damage: bytes) -> None:
    (digest,) = (path for path in folder.iterdir() if path.name != INDEX)
    digest.write_bytes(damage)
    assert again(folder).transcripts(entry()) is None


@pytest.mark.parametrize("damage", [b"", b"0\n", b"2\n{}\n", b"1\n{\n", b"\xff"])
def test_a_damaged_index_knows_nothing_and_raises_nothing(folder: Path, damage: bytes) -> None:
    (folder / INDEX).write_bytes(damage)
    assert list(again(folder).entries()) == []


def test_a_line_that_cannot_be_read_costs_itself_alone(folder: Path) -> None:
    index = folder / INDEX
    index.write_text(index.read_text() + "{\n" + entry(size=2).model_dump_json() + "\n")
    assert [known.size for known in again(folder).entries()] == [2]
