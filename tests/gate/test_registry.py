"""Every rule announces itself: in the reference, and in the page on choosing one."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillgit.gate import RULES

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", RULES)
def test_every_rule_is_explained_where_gates_are_chosen(name: str) -> None:
    assert RULES[name].explanation in (DOCS / "how-to" / "choose-a-gate.md").read_text()


@pytest.mark.parametrize("name", RULES)
def test_every_rule_names_itself(name: str) -> None:
    assert f"`{name}`" in RULES[name].summary
    assert f"`{name}`" in RULES[name].explanation
