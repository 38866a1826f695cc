"""Near-duplicates: what is folded, and where the threshold lies."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.tasks import near_duplicates
from skillgit.tasks.near_duplicates import THRESHOLD, Trigram, clusters, fold, trigrams


def test_case_spaces_and_punctuation_are_folded_digits_are_not() -> None:
    assert fold("Add 2 numbers!") == fold("add   2 NUMBERS")
    assert fold("Straße") == fold("STRASSE")
    assert fold("Add 2 numbers") != fold("Add 3 numbers")
    assert fold("+") != fold("-")


def test_one_word_in_a_hundred_is_a_near_duplicate_one_in_ten_is_not() -> None:
    words = [f"w{n}" for n in range(100)]
    long, changed = " ".join(words), " ".join([*words[:50], "other", *words[51:]])
    assert clusters([long, changed]) == [[0, 1]]
    assert clusters([" ".join(words[:10]), " ".join([*words[:5], "x", *words[6:10]])]) == [[0], [1]]


def test_a_chain_of_relatives_is_one_cluster() -> None:
    words = [f"w{n}" for n in range(100)]
    texts = [" ".join([*words[:50], f"v{n}", *words[51:]]) for n in range(5)]
    assert clusters([*texts, "quite another"]) == [[0, 1, 2, 3, 4], [5]]


def test_a_script_without_spaces_is_compared_by_its_letters() -> None:
    text = (
        "请写一份关于潮汐的简短报告并说明主要风险以及您的信心程度谢谢合作再见朋友们大家好欢迎光临"
    )
    assert clusters([text, text + "啊", "另外一件事情完全不同"]) == [[0, 1], [2]]


@given(st.lists(st.text("ab c.", max_size=40), max_size=12))
def test_clusters_are_what_comparing_every_pair_finds(texts: list[str]) -> None:
    found = clusters(texts)
    assert sorted(i for group in found for i in group) == list(range(len(texts)))
    home = {i: n for n, group in enumerate(found) for i in group}
    sets = [trigrams(text) for text in texts]
    for i, j in combinations(range(len(texts)), 2):
        union = sets[i] | sets[j]
        alike = bool(union) and len(sets[i] & sets[j]) >= THRESHOLD * len(union)
        if alike or fold(texts[i]) == fold(texts[j]):
            assert home[i] == home[j]


def test_of_tasks_made_from_one_template_each_is_compared_about_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared = 0
    alike = near_duplicates._alike

    def counting(left: frozenset[Trigram], right: frozenset[Trigram]) -> bool:
        nonlocal compared
        compared += 1
        return alike(left, right)

    monkeypatch.setattr(near_duplicates, "_alike", counting)
    words = " ".join(f"w{n}" for n in range(200))
    assert len(clusters([f"{words} about topic {n}" for n in range(600)])) == 1
    assert compared < 2 * 600
