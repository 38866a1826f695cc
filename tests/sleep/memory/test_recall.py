"""Recall: like tasks come back from the archive, and nothing that was held out."""

from __future__ import annotations

from skillgit.records import JudgeSpec, Split, Task
from skillgit.sleep.memory.recall import apart_from, recall, similarity


def task(name: str, prompt: str, split: Split = Split.TRAIN) -> Task:
    return Task(id=name, prompt=prompt, judge=JudgeSpec(kind="exact"), split=split)


TONIGHT = [task("now", "write a report on the tides of the northern coast")]
ARCHIVE = [
    task("far", "translate this letter into french"),
    task("near", "write a report on the winds of the southern coast"),
    task("nearest", "write a report on the tides of the southern coast"),
]


def names(tasks: list[Task]) -> list[str]:
    return [t.id for t in tasks]


def test_the_most_similar_come_back_in_the_archives_order() -> None:
    assert names(recall(TONIGHT, ARCHIVE, 1)) == ["nearest"]
    assert names(recall(TONIGHT, ARCHIVE, 2)) == ["near", "nearest"]
    assert recall(TONIGHT, ARCHIVE, 0) == []


def test_what_has_no_word_in_common_never_comes_back() -> None:
    assert names(recall(TONIGHT, ARCHIVE, 3)) == ["near", "nearest"]


def test_what_is_held_out_stays_so_with_all_that_is_nearly_the_same() -> None:
    held_out = [task("val", ARCHIVE[2].prompt.upper(), Split.VAL)]
    assert names(recall(TONIGHT, [*ARCHIVE, *held_out], 1)) == ["near"]
    assert names(recall([*TONIGHT, *held_out], ARCHIVE, 1)) == ["near"]
    assert names(apart_from(ARCHIVE, held_out)) == ["far", "near"]


def test_a_task_of_tonight_is_not_its_own_memory() -> None:
    assert recall(TONIGHT, TONIGHT, 3) == []


def test_similarity_is_the_share_of_words_in_common() -> None:
    assert similarity(task("a", "one two three"), task("b", "Two three four")) == 0.5
    assert similarity(task("a", "?"), task("b", "?")) == 0.0
