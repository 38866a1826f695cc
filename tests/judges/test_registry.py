"""Which judge a task gets."""

from __future__ import annotations

import pytest

from skillgit.errors import TaskError
from skillgit.judges import JUDGES, JudgeResources, build_judge, judge_identity
from skillgit.records import JudgeSpec, Split, Task


def task(kind: str) -> Task:
    return Task(id="t1", prompt="p", reference="r", judge=JudgeSpec(kind=kind), split=Split.VAL)


def test_an_unknown_judge_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(TaskError, match=r"task 't1': judge 'exakt': .* did you mean 'exact'"):
        build_judge(task("exakt"), JudgeResources())
    with pytest.raises(TaskError, match="known are rule, exact"):
        judge_identity(task("astrology"), JudgeResources())


def test_every_kind_has_a_version_in_its_identity() -> None:
    assert all(kind.version >= 1 for kind in JUDGES.values())
    assert judge_identity(task("exact"), JudgeResources())["version"] == 1
