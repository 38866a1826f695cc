from __future__ import annotations

import pytest

from skillgit.errors import BlockedError, CallError
from skillgit.records import Selection, SourceType
from skillgit.stages.select import rank_and_select


@pytest.fixture
def edits(add):
    return [
        add("0", support_count=1),
        add("1", support_count=3, source_type=SourceType.SUCCESS),
        add("2", support_count=3),
        add("3", support_count=2),
        add("4", support_count=3),
        add("5", support_count=1),
    ]


def select(edits, budget, skill, optimizer) -> Selection:
    return rank_and_select(edits, budget, skill, optimizer, meta_skill="")


def kept(selection: Selection) -> str:
    return "".join(edit.content for edit in selection.edits)


def cut(selection: Selection) -> str:
    return "".join(edit.content for edit in selection.over_budget)


@pytest.mark.parametrize("budget", [None, 6, 7])
def test_within_the_budget_nothing_is_asked(budget, edits, skill, script) -> None:
    optimizer, model = script(lambda request, call: {"selected_indices": [0]})
    selection = select(edits, budget, skill, optimizer)
    assert (kept(selection), cut(selection)) == ("012345", "")
    assert model.calls == []


def test_with_a_budget_of_nothing_nothing_passes_and_nothing_is_asked(edits, skill, script) -> None:
    optimizer, model = script(lambda request, call: {"selected_indices": [0]})
    selection = select(edits, 0, skill, optimizer)
    assert (kept(selection), cut(selection), selection.fallback) == ("", "012345", False)
    assert model.calls == []


@pytest.mark.parametrize(
    ("ranking", "passing", "over"),
    [
        ([5, 0, 3, 1], "5031", "24"),
        ([5, 0, 3, 1, 2, 4], "5031", "24"),
        ([5, 5, 0, 5, 1], "501", "234"),
        ([5, 6, -1, 99, 0], "50", "1234"),
        ([True, False, 2.0, "3", None, [4], 5], "5", "01234"),
        ([10**40, 3], "3", "01245"),
    ],
)
def test_the_top_of_the_ranking_passes_in_its_order(
    ranking, passing, over, edits, skill, script
) -> None:
    answer = {"reasoning": "because", "selected_indices": ranking}
    optimizer, _ = script(lambda request, call: answer)
    selection = select(edits, 4, skill, optimizer)
    assert (kept(selection), cut(selection)) == (passing, over)
    assert (selection.reasoning, selection.fallback) == ("because", False)


@pytest.mark.parametrize("text", ["[4, 0]", "By value, see [9]: [4, 0].", "```\n[4, 0]\n```"])
def test_a_bare_list_is_a_ranking(text, edits, skill, script) -> None:
    optimizer, _ = script(lambda request, call: text)
    assert kept(select(edits, 2, skill, optimizer)) == "40"


@pytest.mark.parametrize(
    "answer",
    [
        "the first four",
        "",
        {"selected_indices": []},
        {"selected_indices": None},
        {"selected_indices": 3},
        {"selected_indices": [True, 6, -1, "0"]},
        {"ranking": [1]},
        CallError("timed out"),
    ],
)
def test_without_a_usable_ranking_support_decides_and_failures_come_first(
    answer, edits, skill, script
) -> None:
    optimizer, _ = script(lambda request, call: answer)
    selection = select(edits, 4, skill, optimizer)
    assert (kept(selection), cut(selection)) == ("2413", "05")
    assert selection.fallback
    assert selection.reasoning.startswith("no usable ranking: ")


def test_without_asking_support_decides_and_it_is_no_fallback(edits, skill, script) -> None:
    optimizer, model = script(lambda request, call: {"selected_indices": [0]})
    selection = rank_and_select(edits, 4, skill, optimizer, meta_skill="", ask=False)
    assert (kept(selection), cut(selection), selection.fallback) == ("2413", "05", False)
    assert selection.reasoning
    assert model.calls == []


def test_six_edits_with_a_budget_of_four_leave_two_over_budget(edits, skill, script) -> None:
    optimizer, _ = script(lambda request, call: {"selected_indices": [0, 1, 2, 3]})
    selection = select(edits, 4, skill, optimizer)
    assert len(selection.edits) == 4
    assert len(selection.over_budget) == 2


def test_the_ranker_sees_evidence_origin_and_budget(add, skill, script) -> None:
    optimizer, model = script(lambda request, call: {"selected_indices": [0]})
    edits = [add("a", support_count=3, merge_level=2), add("b", source_type=SourceType.SUCCESS)]
    select(edits, 1, skill, optimizer)
    prompt = model.prompt("rank")
    assert '"merge_level":2' in prompt
    assert '"support_count":3' in prompt
    assert '"source_type":"success"' in prompt
    assert "only 1 of them" in prompt


def test_a_wrong_key_is_no_reason_to_fall_back(edits, skill, script) -> None:
    optimizer, _ = script(lambda request, call: BlockedError("401"))
    with pytest.raises(BlockedError):
        select(edits, 2, skill, optimizer)
