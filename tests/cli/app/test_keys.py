from __future__ import annotations

import pytest

from skillgit.cli.app.keys import is_loopback


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:8080/v1", True),
        ("http://localhost/v1", True),
        ("http://[::1]:8080/v1", True),
        ("http://127.1.2.3/", True),
        ("https://api.openai.com/v1", False),
        ("http://localhost.example.org/v1", False),
        ("http://127.0.0.1.example.org/v1", False),
        ("http://127.0.0.1@example.org/v1", False),
        ("http://[oops/v1", False),
        ("", False),
    ],
)
def test_only_this_machine_is_this_machine(url: str, expected: bool) -> None:
    assert is_loopback(url) is expected
