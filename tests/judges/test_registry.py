"""Which judge a task gets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillgit.errors import TaskError
from skillgit.judges import JUDGES, JudgeResources, read_judge
from skillgit.judges.checks import OPERATORS
from skillgit.records import JudgeSpec, Split, Task


def task(kind: str) -> Task:
    return Task(id="t1", prompt="p", reference="r", judge=JudgeSpec(kind=kind), split=Split.VAL)


def test_an_unknown_judge_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(TaskError, match=r"task 't1': judge 'exakt': .* did you mean 'exact'"):
        read_judge(task("exakt")).build(JudgeResources())
    with pytest.raises(TaskError, match="known are rule, exact"):
        read_judge(task("astrology")).identity(JudgeResources())


def test_every_kind_has_a_version_in_its_identity() -> None:
    assert all(kind.version >= 1 for kind in JUDGES.values())
    assert read_judge(task("exact")).identity(JudgeResources())["version"] == 1


PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "judges.md").read_text()


def test_the_docs_name_every_kind_operator_and_setting() -> None:
    for name, kind in JUDGES.items():
        assert f"\n## {name}\n" in PAGE
        section = PAGE.split(f"\n## {name}\n")[1].split("\n## ")[0]
        assert all(setting in section for setting in kind.settings.model_fields)
    assert all(f"`{op}`" in PAGE for op in OPERATORS)


def test_the_judges_that_the_docs_show_can_be_built() -> None:
    examples = [block.split("```")[0] for block in PAGE.split("```json\n")[1:]]
    assert len(examples) == len(JUDGES)
    for example in examples:
        settings = json.loads(example)
        spec = JudgeSpec(kind=settings.pop("kind"), settings=settings)
        read_judge(Task(id="t", prompt="p", reference="3", judge=spec, split=Split.VAL)).build(
            JudgeResources()
        )
