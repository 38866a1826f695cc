from __future__ import annotations

import pytest

from skillgit.history import NoteLine, ReportNote, ScoresLine, StepNote
from skillgit.records import Action
from skillgit.store.notes.ledger import parse_line, parse_lines

STEP = StepNote(run="r" * 12, step=1, action=Action.SKIP, n_total=4, n_fail=1)
REPORT = ReportNote(run="r" * 12, markdown="# Night\n- «ok»\n")
SCORES = ScoresLine(repeat=0, run="r", step=1, target="t", tasks={"a": (1.0, 0.5), "b": None})


@pytest.mark.parametrize("line", [STEP, REPORT, SCORES])
def test_a_line_reads_back_as_it_was_written(line: NoteLine):
    assert parse_line(line.to_line()) == line


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a person's remark",
        "[]",
        "null",
        '{"kind": "of tomorrow", "x": 1}',
        '{"kind": "step"}',
        '{"kind": ["step"]}',
        '{"kind":"scores","repeat":0,"run":"r","step":1,"target":"t","tasks":{"a":[NaN,1]}}',
        "[" * 100_000,
    ],
)
def test_what_is_no_line_of_ours_is_skipped(text):
    assert parse_line(text) is None


def test_lines_come_in_the_order_of_their_text_each_once():
    texts = [line.to_line() for line in (STEP, REPORT, STEP, SCORES)]
    assert parse_lines([*texts, "", "remark"]) == parse_lines(reversed(texts))
    assert len(parse_lines(texts)) == 3
