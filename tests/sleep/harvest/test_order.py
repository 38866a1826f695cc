"""Order: parents first, then time, then lines."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st
from transcripts import START

from skillgit.records import Speaker
from skillgit.sleep.harvest.order import Node, in_order
from skillgit.sleep.harvest.raw_turns import RawTurn
from skillgit.sleep.harvest.sessions import Origin


def node(name: str, parent: str = "", minute: float | None = None) -> Node:
    time = None if minute is None else START + timedelta(minutes=minute)
    turn = RawTurn(name, time, Speaker.USER, Origin.HUMAN, name)
    return Node(name, parent, time, turn)


def names(*nodes: Node) -> list[str]:
    return [turn.id for turn in in_order(nodes)]


def test_an_answer_that_stands_before_its_question_comes_after_it() -> None:
    assert names(node("answer", "question", 2), node("question", "", 1)) == ["question", "answer"]


def test_a_parent_comes_first_even_when_clocks_disagree() -> None:
    assert names(node("b", "a", 1), node("a", "", 5)) == ["a", "b"]


def test_branches_are_told_in_order_of_time() -> None:
    found = names(node("a", "", 1), node("c", "a", 4), node("b", "a", 2), node("d", "b", 3))
    assert found == ["a", "b", "d", "c"]


def test_a_record_that_stands_twice_counts_once() -> None:
    assert names(node("a", "", 1), node("b", "a", 2), node("a", "", 9)) == ["a", "b"]


def test_a_missing_parent_is_none_and_a_circle_is_broken() -> None:
    assert names(node("a", "gone", 1)) == ["a"]
    assert names(node("a", "a", 1)) == ["a"]
    assert names(node("x", "y", 2), node("y", "x", 1), node("z", "", 3)) == ["z", "y", "x"]


def test_a_record_without_a_time_has_that_of_the_line_before() -> None:
    assert names(node("a", "", 1), node("b"), node("c", "", 0)) == ["c", "a", "b"]


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8), st.integers(0, 5)), max_size=12))
def test_every_id_comes_out_once_and_after_its_parent(rows: list[tuple[int, int, int]]) -> None:
    nodes = [node(f"n{a}", f"n{b}", m) for a, b, m in rows]
    out = names(*nodes)
    assert sorted(out) == sorted({n.id for n in nodes})
