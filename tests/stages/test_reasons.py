from __future__ import annotations

from skillgit.records import FailurePattern, RawPatch, SourceType
from skillgit.stages.reasons import MOST_PATTERNS, failure_patterns


def patch(*summary: FailurePattern, task_ids: tuple[str, ...] = ()) -> RawPatch:
    return RawPatch(
        source_type=SourceType.FAILURE, batch_size=8, failure_summary=summary, task_ids=task_ids
    )


def test_equal_patterns_of_several_minibatches_are_counted_together() -> None:
    found = failure_patterns(
        [
            patch(
                FailurePattern(
                    failure_type="wrong_tool",
                    description="used pandas",
                    count=2,
                    task_ids=("t1", "t2"),
                )
            ),
            patch(FailurePattern(failure_type="no_dates", count=4)),
            patch(
                FailurePattern(
                    failure_type="Wrong_tool", description="Used  pandas", count=3, task_ids=("t9",)
                )
            ),
        ],
        [],
    )
    assert [(str(p), p.count, p.task_ids) for p in found] == [
        ("wrong_tool: used pandas", 5, ("t1", "t2", "t9")),
        ("no_dates", 4, ()),
    ]


def test_without_a_summary_the_reasons_first_clauses_are_grouped(graded) -> None:
    found = failure_patterns(
        [],
        [
            graded("a", 0.0, reason="no risks section; too long"),
            graded("b", 0.5, reason="No risks section. 3.5 of 4 passed"),
            graded("c", 0.0, reason="scored 3.5 of 4"),
            graded("d", 0.0, reason=" \n"),
            graded("e", 1.0, reason="fine"),
            graded("f", None, reason="timed out"),
        ],
    )
    assert [(str(p), p.count, p.task_ids) for p in found] == [
        ("no risks section", 2, ("a", "b")),
        ("scored 3.5 of 4", 1, ("c",)),
        ("failed without a reason", 1, ("d",)),
    ]


def test_reasons_stand_in_for_the_minibatch_whose_answer_could_not_be_read(graded) -> None:
    found = failure_patterns(
        [
            patch(FailurePattern(failure_type="x", task_ids=("a",)), task_ids=("a",)),
            patch(task_ids=("b",)),
        ],
        [graded("a", 0.0, reason="r"), graded("b", 0.0, reason="s")],
    )
    assert [(p.failure_type, p.task_ids) for p in found] == [("x", ("a",)), ("s", ("b",))]


def test_there_is_an_end_to_the_list(graded) -> None:
    many = [graded(f"t{i}", 0.0, reason=f"reason {i} " + "x" * 999) for i in range(50)]
    found = failure_patterns([], many)
    assert len(found) == MOST_PATTERNS
    assert all(len(str(p)) <= 200 for p in found)
