"""Nights over the simulated model, in process."""

from __future__ import annotations

from pathlib import Path

import pytest
from night_projects import House, make_house


@pytest.fixture
def house(tmp_path: Path) -> House:
    return make_house(tmp_path / "repo")
