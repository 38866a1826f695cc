from __future__ import annotations

import pytest

from skillgit.editing.document import Document
from skillgit.editing.matching import is_there


def there(text: str, content: str) -> bool:
    return is_there(Document.parse(text.encode()), content)


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("# A\n\n## B\n\n- x\n", "## B\n- x"),
        ("- x\n- y\n- z\n", "- y\n- z"),
        ("p\n\n```\nx\n```\n", "```\nx\n```"),
        ("- x\n# A\n", "x"),
        ("- “x”\n", '- "x"'),
        ("one\ntwo\n", "one two"),
    ],
)
def test_whole_blocks_are_there(text: str, content: str) -> None:
    assert there(text, content)


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("- x y\n", "x"),
        ("- y x\n", "x"),
        ("- y\n  x\n", "x"),
        ("- x\n  y\n", "x"),
        ("## x\n", "x"),
        ("- x\n- y\n- z\n", "- x\n- z"),
        ("```\nx\n```\n", "x"),
        ("- do not\n\tuse x\n", "use x"),
        ("- a\n", "- A"),
    ],
)
def test_parts_of_blocks_are_not_there(text: str, content: str) -> None:
    assert not there(text, content)
