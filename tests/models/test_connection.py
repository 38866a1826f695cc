from __future__ import annotations

import pytest

from skillgit.models.connection import Address


@pytest.mark.parametrize(
    ("url", "loopback"),
    [
        ("http://127.0.0.1:8000/v1", True),
        ("http://127.9.9.9/v1", True),
        ("http://[::1]:8000/v1", True),
        ("http://localhost/v1", True),
        ("http://localhost.example/v1", False),
        ("https://10.0.0.1/v1", False),
        ("https://127.0.0.1@evil.example/v1", False),
    ],
)
def test_this_machine_is_told_from_others(url: str, loopback: bool) -> None:
    assert Address(url).is_loopback is loopback


def test_user_info_is_kept_apart_from_what_is_shown() -> None:
    address = Address("https://ada:p%40ss@lab.example/v1")
    assert address.shown == "https://lab.example/v1"
    assert address.password == "p@ss"
    assert address.authorization == "Basic YWRhOnBAc3M="
    assert Address("https://lab.example/v1").authorization is None
