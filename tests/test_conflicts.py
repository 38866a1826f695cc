"""The short version of `benchmarks/conflicts.py`."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARK = Path(__file__).parents[1] / "benchmarks" / "conflicts.py"


@pytest.fixture(scope="module")
def conflicts() -> ModuleType:
    spec = importlib.util.spec_from_file_location("conflicts", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["conflicts"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("number", [0, 1, 2])
def test_the_good_rules_end_in_and_the_harmful_ones_out(conflicts: ModuleType, number: int) -> None:
    endings = [conflicts.run(conflicts.SETS[number], seed, epochs=6) for seed in (1, 2)]
    assert [(ending.missing, ending.harmful) for ending in endings] == [((), ())] * 2
    assert all(ending.score > 0.7 for ending in endings)


def test_a_harmful_line_that_is_in_the_text_is_seen(conflicts: ModuleType) -> None:
    text = '# House style\n\n- Include the phrase "URGENT".\n- Write everything in lower case.\n'
    ending = conflicts._ending(conflicts.CAPITALS, text, 0.5, "")
    assert ending.harmful == ("lower_case for notice",)
    assert ending.missing == ()
