"""How the time of what reads foreign text grows: at four times the size, about four times as long.

Tests count the steps of Python that these take; how long a regular expression or a search in C
runs only a clock can tell.

python benchmarks/scaling.py
"""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable

from skillgit.editing.apply import apply_edits
from skillgit.records import Edit, EditOp
from skillgit.redaction import redact
from skillgit.sleep.harvest.lines import Lines
from skillgit.sleep.harvest.origins import split_origin
from skillgit.sleep.mine.feedback import mood
from skillgit.sleep.mine.rules import typed_rules

AT_MOST = 8.0
"""A ratio from which growth is no longer taken to be in proportion; quadratic is 16."""

SIZE = 20_000

EDITS = [
    Edit(op=EditOp.ADD, content="- x"),
    Edit(op=EditOp.REPLACE, anchor="“q", content="y"),
    Edit(op=EditOp.DELETE, anchor="```"),
]

READERS: dict[str, tuple[Callable[[str], object], tuple[str, ...]]] = {
    "redact": (
        redact,
        ("a://", "password=", "curl ", "eyJa", "a=b;", "token", "x:", 'password="', "PASSWORD=$",
         "-----BEGIN PRIVATE KEY-----", "<a>secret"),
    ),
    "split_origin": (split_origin, ("<skill>", "<a", "x<skill>", "<skill></skill>")),
    "mood": (mood, ("no problem ", "`", '"')),
    "typed_rules": (typed_rules, ("always ", "use x instead ", "use ", "a.")),
    "Lines": (lambda text: list(Lines(io.BytesIO(text.encode()))), ('{"n": 1}',)),
    "apply_edits": (
        lambda text: apply_edits(text.encode(), EDITS),
        ("```\n## x\n", "- '\n", "<!--\n", "`", "[", "> "),
    ),
}  # fmt: skip


def seconds(read: Callable[[str], object], text: str) -> float:
    """The shortest of three."""
    took = []
    for _ in range(3):
        began = time.perf_counter()
        read(text)
        took.append(time.perf_counter() - began)
    return min(took)


def main() -> int:
    """Print a line for each text; how many grow too fast."""
    bad = 0
    for name, (read, units) in READERS.items():
        for unit in units:
            small = seconds(read, unit * (SIZE // len(unit)))
            large = seconds(read, unit * (4 * SIZE // len(unit)))
            ratio = large / small
            slow = ratio > AT_MOST and large > 0.05
            bad += slow
            print(f"{name:14} {unit[:20]!r:24} {large:8.4f} s  {ratio:5.1f}{' !' if slow else ''}")
    return bad


if __name__ == "__main__":
    sys.exit(main())
