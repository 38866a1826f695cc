"""One thing has one name, and a plain one: the words that were given up are used nowhere."""

from __future__ import annotations

import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]

GIVEN_UP = frozenset(
    (
        "Bench", "Workshop", "open_workshop", "Moment", "Occasion", "Hearing", "Judged",
        "incumbent", "Foresight", "Outside", "Wishes", "Bedroom", "Evening", "Attic", "Patient",
        "Yardstick", "yardstick", "yardsticks", "Backed", "Witness", "Champion", "Descent",
        "came_out", "noised", "sleep_through", "read_standing", "Standing", "Ground", "Fit",
        "Said", "as_said", "Fate",
    )
)  # fmt: skip
"""Names in code, each exactly as it was."""

GIVEN_UP_IN = {"skillgit/gate": frozenset(("wealth", "stake", "stakes", "STAKES", "pace"))}
"""Names that are given up in one folder and mean something else in others."""

METAPHORS = re.compile(r"(?i)\b(?:the bench|workshop|incumbent|foresight|bedroom|yardsticks?)\b")
"""Words that say nothing to whoever has not read the code, in texts for people."""

SELF = Path(__file__).name


def tracked(*suffixes: str) -> list[Path]:
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    paths = [ROOT / name for name in done.stdout.decode().split("\0") if name.endswith(suffixes)]
    return [path for path in paths if path.is_file() and path.name != SELF]


def names(path: Path) -> Iterator[tuple[int, str]]:
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type == tokenize.NAME:
                yield token.start[0], token.string


def where(path: Path, line: int, word: str) -> str:
    return f"{path.relative_to(ROOT)}:{line}: {word}"


def test_no_name_in_the_code_is_one_that_was_given_up() -> None:
    still = []
    for path in tracked(".py"):
        folder = path.parent.relative_to(ROOT).as_posix()
        forbidden = GIVEN_UP | GIVEN_UP_IN.get(folder, frozenset())
        still += [where(path, line, name) for line, name in names(path) if name in forbidden]
    assert still == []


def test_no_text_for_people_has_a_word_of_ours_alone() -> None:
    """Docstrings, comments, messages, prompts and pages; decisions stay as they were written."""
    still = []
    for path in tracked(".py", ".md", ".1", ".toml"):
        still += [
            where(path, number, match[0])
            for number, line in enumerate(path.read_text().splitlines(), start=1)
            if "decisions" not in path.parts and (match := METAPHORS.search(line))
        ]
    assert still == []


def test_no_page_names_code_that_was_renamed() -> None:
    still = []
    for path in tracked(".md"):
        if "decisions" in path.parts:
            continue
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            spans = " ".join(re.findall(r"`([^`]+)`", line))
            words = set(re.findall(r"\w+", spans))
            still += [where(path, number, word) for word in sorted(words & GIVEN_UP)]
    assert still == []
