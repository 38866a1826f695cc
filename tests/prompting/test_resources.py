from __future__ import annotations

from pathlib import Path

import pytest

from skillgit.prompting.resources import shipped_names, shipped_text

REPOSITORY = Path(__file__).parents[2]


@pytest.mark.parametrize("folder", ["prompts", "hooks"])
def test_what_lies_in_the_checkout_is_shipped(folder: str) -> None:
    lying = sorted(path.name for path in (REPOSITORY / folder).iterdir() if path.is_file())
    assert list(shipped_names(folder)) == lying


def test_a_shipped_text_is_the_files_text() -> None:
    path = REPOSITORY / "prompts" / "rank.md"
    assert shipped_text("prompts", "rank.md") == path.read_text(encoding="utf-8")


def test_a_file_that_is_not_shipped_is_not_found() -> None:
    with pytest.raises(FileNotFoundError):
        shipped_text("prompts", "no_such_prompt.md")
