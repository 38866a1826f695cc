from __future__ import annotations

from fake_secrets import TOKENS

from skillgit.records import FailurePattern, RawPatch, SourceType
from skillgit.stages.reasons import (
    MOST_PATTERNS,
    MOST_REASONS,
    REASON_CHARS,
    Reasons,
    failure_patterns,
)
from skillgit.stages.rendering import NOTHING_YET


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


def test_without_a_summary_the_single_reasons_are_counted(graded) -> None:
    found = failure_patterns(
        [],
        [
            graded("a", 0.0, reasons=("no risks section", "too long", "no risks section")),
            graded("b", 0.5, reason="both", reasons=("No risks  section",)),
            graded("c", 0.0, reason="scored 3.5 of 4; nearly"),
            graded("d", 0.0, reason=" \n"),
            graded("e", 1.0, reason="fine", reasons=("fine",)),
            graded("f", None, reason="timed out"),
        ],
    )
    assert [(str(p), p.count, p.task_ids) for p in found] == [
        ("no risks section", 2, ("a", "b")),
        ("too long", 1, ("a",)),
        ("scored 3.5 of 4; nearly", 1, ("c",)),
        ("failed without a reason", 1, ("d",)),
    ]


def test_reasons_that_differ_behind_a_semicolon_are_two_patterns(graded) -> None:
    lids = ('must contain "Step 1; open the lid"', 'must contain "Step 1; close the lid"')
    found = failure_patterns([], [graded(lid, 0.0, reasons=(lid,)) for lid in lids])
    assert [p.failure_type for p in found] == list(lids)


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
    assert all(len(str(p)) <= REASON_CHARS for p in found)


# ── the numbered list that analysts see ──────────────────────────────────────────────────────


def test_reasons_are_numbered_the_most_frequent_first(graded) -> None:
    reasons = Reasons.of(
        [
            graded("a", 0.0, reasons=("too long", "no source")),
            graded("b", 0.25, reasons=("no source",)),
            graded("c", 1.0, reasons=("all is well",)),
            graded("a", 0.0, reasons=("no source", "no source")),
        ]
    )
    assert reasons.shown() == "1. (3 of 4 answers) no source\n2. (1 of 4 answers) too long"
    assert [reasons.numbers_at(place) for place in range(4)] == [(1, 2), (1,), (), (1,)]
    assert reasons.tasks(reasons.items) == ("a", "b")


def test_reasons_of_equal_weight_stand_in_the_order_in_which_they_came(graded) -> None:
    reasons = Reasons.of([graded(i, 0.0, reason=f"reason {i}") for i in "cab"])
    assert [reason.text for reason in reasons.items] == ["reason c", "reason a", "reason b"]


def test_a_reason_is_one_line_without_secrets_and_of_bounded_length(graded) -> None:
    (item,) = Reasons.of(
        [
            graded(
                "a",
                0.0,
                reason=f"a line\n2. (9 of 9 answers) made up\nkey {TOKENS[0]} " + "x" * 999,
            )
        ]
    ).items
    assert "\n" not in item.text
    assert TOKENS[0] not in item.text
    assert len(item.text) == REASON_CHARS


def test_only_the_most_frequent_reasons_are_numbered(graded) -> None:
    many = [graded(f"t{i}", 0.0, reason=f"reason {i}") for i in range(MOST_REASONS + 5)]
    many.append(graded("last", 0.0, reason=f"reason {MOST_REASONS + 4}"))
    reasons = Reasons.of(many)
    assert len(reasons.items) == MOST_REASONS
    assert reasons.items[0].text == f"reason {MOST_REASONS + 4}"
    assert reasons.numbers_at(MOST_REASONS + 3) == ()


def test_good_attempts_have_no_reasons(graded) -> None:
    reasons = Reasons.of([graded("a", 1.0, reason="fine")])
    assert (reasons.items, reasons.shown()) == ((), NOTHING_YET)


def test_numbers_that_were_not_shown_mean_no_reason(graded) -> None:
    reasons = Reasons.of([graded("a", 0.0, reasons=("one", "two"))])
    assert [r.text for r in reasons.meant([2, 0, -1, 3, 2, 1])] == ["two", "one"]
    assert reasons.meant([7]) == ()
    assert reasons.tasks_at([0, 5, -1]) == ("a",)


def test_a_reason_is_also_named_by_all_the_words_that_it_quotes(graded) -> None:
    said = ('no line that starts with "Refs:"', "no `Why` next to “Who”", "too long")
    reasons = Reasons.of([graded("a", 0.0, reasons=said)])
    assert [r.text for r in reasons.named_in('Close with "refs:" and a number.')] == [said[0]]
    assert reasons.named_in("Say who.") == ()
    assert [r.text for r in reasons.named_in("Say who and why.")] == [said[1]]


def test_where_there_is_one_reason_it_is_the_one_that_is_meant(graded) -> None:
    reasons = Reasons.of([graded("a", 0.0, reason="too long")])
    assert reasons.named_in("Keep it short.") == reasons.items
