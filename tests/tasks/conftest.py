"""Files held in memory, read through the ports that `load_tasks` takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

import pytest

Held = tuple[Callable[[str], bytes], Callable[[str], list[str]]]


def held_files(files: Mapping[str, bytes | str]) -> Held:
    """`read` and `list_files` over a mapping of paths to contents."""
    data = {k: v.encode() if isinstance(v, str) else v for k, v in files.items()}

    def read(path: str) -> bytes:
        if path not in data:
            raise FileNotFoundError(2, "No such file or directory", path)
        return data[path]

    def list_files(folder: str) -> list[str]:
        return [
            name
            for name in data
            if name == folder or PurePosixPath(folder) in PurePosixPath(name).parents
        ]

    return read, list_files


@pytest.fixture
def held() -> Callable[[Mapping[str, bytes | str]], Held]:
    return held_files
