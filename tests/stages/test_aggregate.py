from __future__ import annotations

import json

import pytest

from skillgit.errors import BlockedError, CallError
from skillgit.records import Edit, EditOp, Patch, RawPatch, SourceType
from skillgit.stages.aggregate import MERGE_FAILURES, Merged, merge_patches, touch

FAILURE, SUCCESS = SourceType.FAILURE, SourceType.SUCCESS


def patch(*edits: Edit, source: SourceType = FAILURE) -> RawPatch:
    own = tuple(edit.model_copy(update={"source_type": source}) for edit in edits)
    return RawPatch(source_type=source, batch_size=8, patch=Patch(edits=own))


def merge(patches, skill, optimizer, *, merge_batch_size=8, workers=2, ask=True) -> Merged:
    return merge_patches(
        patches,
        skill,
        optimizer,
        merge_batch_size=merge_batch_size,
        workers=workers,
        meta_skill="",
        ask=ask,
    )


def keep_all(request, call):
    """A merger that keeps every edit it is shown, each naming itself as its source."""
    lines = request.messages[-1].content.split("\n")
    shown = [line.split(": ", 1) for line in lines if line[:1].isdigit() and ': {"' in line]
    return {"edits": [{**json.loads(edit), "sources": [int(i)]} for i, edit in shown]}


def alike(name: str) -> str:
    """A rule that may say the same as any other of its kind, so that a merger is asked."""
    return f"Name every source ({name})."


def contents(merged: Merged) -> list[str]:
    return [edit.content for edit in merged.edits]


def test_one_patch_alone_is_passed_through_without_a_call(add, skill, script) -> None:
    optimizer, model = script(keep_all)
    edits = [add(str(i), support_count=i + 1) for i in range(6)]
    parse_failure = RawPatch(source_type=FAILURE, batch_size=8, parse_failure="no JSON")
    merged = merge([parse_failure, patch(*edits), patch(source=SUCCESS)], skill, optimizer)
    assert merged == Merged(edits=tuple(edits))
    assert model.calls == []


@pytest.mark.parametrize("patches", [[], [patch()], [patch(), patch(source=SUCCESS)]])
def test_no_edits_are_no_call(patches, skill, script) -> None:
    optimizer, model = script(keep_all)
    assert merge(patches, skill, optimizer) == Merged()
    assert model.calls == []


def test_failures_and_successes_are_merged_apart_and_then_together(add, skill, script) -> None:
    optimizer, model = script(keep_all)
    patches = [patch(add(alike(f"f{i}"))) for i in range(3)]
    patches += [patch(add(alike(f"s{i}")), source=SUCCESS) for i in range(2)]
    merged = merge(patches, skill, optimizer)
    assert model.slots == ["failure/0/0", "final", "success/0/0"]
    assert contents(merged) == [alike(name) for name in ("f0", "f1", "f2", "s0", "s1")]
    assert [e.merge_level for e in merged.edits] == [2] * 5
    assert [e.source_type for e in merged.edits] == [FAILURE] * 3 + [SUCCESS] * 2
    assert not merged.fallback


def test_many_patches_are_merged_in_levels(add, skill, script) -> None:
    optimizer, model = script(keep_all)
    patches = [patch(add(alike(f"f{i}"))) for i in range(5)]
    merged = merge(patches, skill, optimizer, merge_batch_size=2)
    assert model.slots == ["failure/0/0", "failure/0/1", "failure/1/0", "failure/2/0"]
    assert contents(merged) == [alike(f"f{i}") for i in range(5)]
    assert [e.merge_level for e in merged.edits] == [3, 3, 3, 3, 1]


def test_support_is_that_of_the_distinct_trajectories_behind_all_sources(
    add, skill, script
) -> None:
    joined = {"op": "add", "content": "both", "sources": [0, 2, 2, 9, -1, True, "1"]}
    optimizer, _ = script(lambda request, call: {"edits": [joined]})
    patches = [
        patch(
            add(alike("a"), task_ids=("t1", "t2"), support_count=2),
            add(alike("c"), task_ids=("t2", "t3"), support_count=2),
        ),
        patch(add(alike("b"), task_ids=("t7",), support_count=1)),
    ]
    (edit,) = merge(patches, skill, optimizer).edits
    assert (edit.support_count, edit.task_ids, edit.merge_level) == (3, ("t1", "t2", "t7"), 1)


def test_within_a_minibatch_support_without_names_does_not_add_up(add, skill, script) -> None:
    joined = {"op": "add", "content": "all", "sources": [0, 1, 2]}
    optimizer, _ = script(lambda request, call: {"edits": [joined]})
    patches = [
        patch(
            add(alike("a"), support_count=3),
            add(alike("b"), support_count=2, task_ids=("t1", "t2")),
        ),
        patch(add(alike("c"), support_count=4)),
    ]
    (edit,) = merge(patches, skill, optimizer).edits
    assert (edit.support_count, edit.task_ids) == (7, ("t1", "t2"))


def test_support_survives_every_level(add, skill, script) -> None:
    def join_all(request, call):
        joined = alike(f"joined in {call.slot}")
        return {"edits": [{"op": "add", "content": joined, "sources": list(range(9))}]}

    optimizer, _ = script(join_all)
    patches = [patch(add(alike(f"f{i}"), task_ids=(f"t{i}",))) for i in range(5)]
    patches += [patch(add(alike("s"), task_ids=("s1", "s2"), support_count=2), source=SUCCESS)]
    (edit,) = merge(patches, skill, optimizer, merge_batch_size=2).edits
    assert (edit.support_count, edit.merge_level) == (7, 4)
    assert edit.task_ids == ("t0", "t1", "t2", "t3", "t4", "s1", "s2")
    assert edit.source_type is FAILURE


def test_an_edit_that_names_no_source_is_recognised_by_what_it_says(add, skill, script) -> None:
    same = {"op": "append", "content": alike("a"), "target": "brief/SKILL.md"}
    new = {"op": "add", "content": "new", "support_count": 50, "task_ids": ["t1"]}
    optimizer, _ = script(lambda request, call: {"edits": [same, new]})
    patches = [patch(add(alike("a"), support_count=5)), patch(add(alike("b"), support_count=2))]
    recognised, unknown = merge(patches, skill, optimizer).edits
    assert recognised.support_count == 5
    assert (unknown.support_count, unknown.task_ids, unknown.merge_level) == (1, (), 1)


def test_the_same_edit_from_two_minibatches_is_one_with_the_support_of_both(
    add, skill, script
) -> None:
    optimizer, model = script(keep_all)
    patches = [patch(add("a", support_count=3)), patch(add("a", support_count=2))]
    (edit,) = merge(patches, skill, optimizer).edits
    assert edit.support_count == 5
    assert model.calls == []


def test_of_a_failures_and_a_successes_same_edit_the_failure_wins(add, skill, script) -> None:
    optimizer, _ = script(keep_all)
    (edit,) = merge([patch(add("a"), source=SUCCESS), patch(add("a"))], skill, optimizer).edits
    assert edit.source_type is FAILURE


@pytest.mark.parametrize(
    "answer",
    [
        "I merged them.",
        {"edits": []},
        {"edits": "all"},
        {"edits": [1]},
        {"edits": [{"sources": [77], "text": "x"}]},
        {"edits": [{"sources": [], "text": "x"}]},
        CallError("timed out"),
    ],
)
def test_where_a_merge_fails_the_edits_are_strung_together_failures_first(
    answer, add, skill, script
) -> None:
    optimizer, _ = script(lambda request, call: answer)
    patches = [
        patch(add(alike("s0")), source=SUCCESS),
        patch(add(alike("f0"), support_count=2), add(alike("f1"))),
        patch(add(alike("s1")), source=SUCCESS),
        patch(add(alike("f2")), add(alike("f1"), support_count=4)),
    ]
    merged = merge(patches, skill, optimizer)
    assert contents(merged) == [alike(name) for name in ("f0", "f1", "f2", "s0", "s1")]
    assert [e.support_count for e in merged.edits] == [2, 5, 1, 1, 1]
    assert {e.merge_level for e in merged.edits} == {0}
    assert merged.fallback
    assert len(merged.failures) == 3


def test_one_failed_merge_does_not_undo_the_others(add, skill, script) -> None:
    def fail_successes(request, call):
        return "no" if call.slot.startswith("success") else keep_all(request, call)

    optimizer, _ = script(fail_successes)
    patches = [patch(add(alike(f"f{i}"))) for i in range(2)]
    patches += [patch(add(alike(f"s{i}")), source=SUCCESS) for i in range(2)]
    merged = merge(patches, skill, optimizer)
    assert [e.merge_level for e in merged.edits] == [2, 2, 1, 1]
    assert merged.fallback


def test_a_wrong_key_is_no_reason_to_fall_back(add, skill, script) -> None:
    optimizer, _ = script(lambda request, call: BlockedError("401"))
    with pytest.raises(BlockedError):
        merge([patch(add(alike("a"))), patch(add(alike("b")))], skill, optimizer)


# ── an edit of the merger is a text and the numbers of its sources ───────────────────────────


def test_a_merged_edit_goes_where_the_first_of_its_sources_goes(add, skill, script) -> None:
    answer = {"edits": [{"sources": [1, 0], "text": "name every source by its author"}]}
    optimizer, _ = script(lambda request, call: answer)
    patches = [
        patch(add(alike("a"), support_count=2)),
        patch(add("- Name every source.", anchor="- Write short sentences.", support_count=3)),
    ]
    (edit,) = merge(patches, skill, optimizer).edits
    assert (edit.op, edit.anchor) == (EditOp.ADD, "- Write short sentences.")
    assert edit.content == "- name every source by its author"
    assert (edit.support_count, edit.merge_level) == (5, 1)


@pytest.mark.parametrize("text", [None, "", "  "])
def test_without_a_text_the_first_source_keeps_its_words(text, add, skill, script) -> None:
    first = add(alike("a"), support_count=2, source_type=FAILURE)
    answer = {"edits": [{"sources": [0], "text": text}, {"sources": [1, 2], "text": text}]}
    optimizer, _ = script(lambda request, call: answer)
    patches = [patch(first), patch(add(alike("b")), add(alike("c")))]
    alone, joined = merge(patches, skill, optimizer).edits
    assert alone == first
    assert (joined.content, joined.merge_level) == (alike("b"), 1)


def test_a_merger_is_asked_for_sources_and_a_text_alone() -> None:
    item = MERGE_FAILURES.schema()["$defs"]["MergedEdit"]
    assert set(item["properties"]) == {"sources", "text"}


# ── what needs no merger ─────────────────────────────────────────────────────────────────────


def test_edits_of_which_no_two_touch_are_put_together_without_a_call(add, skill, script) -> None:
    optimizer, model = script(keep_all)
    patches = [
        patch(add("- Name every source.", support_count=2)),
        patch(add("- Close with a confidence line.")),
        patch(add("- Use British spelling throughout."), source=SUCCESS),
    ]
    merged = merge(patches, skill, optimizer)
    assert model.calls == []
    assert contents(merged) == [edit.patch.edits[0].content for edit in patches]
    assert [e.support_count for e in merged.edits] == [2, 1, 1]
    assert [e.merge_level for e in merged.edits] == [0, 0, 0]
    assert not merged.fallback


def test_only_the_side_that_has_something_to_decide_is_asked(add, skill, script) -> None:
    optimizer, model = script(keep_all)
    patches = [patch(add(alike(name))) for name in ("a", "b")]
    patches += [
        patch(add(text), source=SUCCESS) for text in ("Use British spelling.", "Greet nobody ever.")
    ]
    merge(patches, skill, optimizer)
    assert model.slots == ["failure/0/0", "final"]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ({"content": "Name every source."}, {"content": "name each SOURCE by author"}, True),
        ({"content": "Name every source."}, {"content": "Close with confidence."}, False),
        ({"content": "aaaa", "anchor": "- x"}, {"content": "bbbb", "anchor": "- x"}, True),
        ({"content": "aaaa", "anchor": ""}, {"content": "bbbb", "anchor": ""}, False),
        (
            {"content": "aaaa", "anchor": "- x", "target": "skill"},
            {"content": "bbbb", "anchor": "- x", "target": "brief/SKILL.md"},
            True,
        ),
        (
            {"content": "aaaa", "anchor": "- x", "target": "other.md"},
            {"content": "bbbb", "anchor": "- x"},
            False,
        ),
        ({"op": "delete", "anchor": "- Name sources."}, {"content": "Name all sources."}, True),
        ({"content": "aaaa", "anchor": "- Name sources."}, {"content": "Name sources."}, False),
        ({"content": "a"}, {"content": "b"}, False),
    ],
)
def test_edits_touch_that_share_their_place_or_their_words(one, other, expected, add) -> None:
    ours, theirs = add(**{"content": "", **one}), add(**{"content": "", **other})
    assert touch(ours, theirs, "brief/SKILL.md") is expected
    assert touch(theirs, ours, "brief/SKILL.md") is expected


def test_what_nothing_stands_behind_is_not_merged(add, skill, script) -> None:
    optimizer, model = script(keep_all)
    patches = [patch(add(alike("a"))), patch(add(alike("b"), support_count=0))]
    assert contents(merge(patches, skill, optimizer)) == [alike("a")]
    assert model.calls == []


def test_without_asking_the_first_edit_stands_for_all_that_answer_its_reason(
    add, skill, script
) -> None:
    optimizer, model = script(keep_all)
    patches = [
        patch(
            add(alike("a"), rationale="no source", support_count=2, task_ids=("t1", "t2")),
            add("Be short.", rationale="too long"),
        ),
        patch(add(alike("b"), rationale="no source", task_ids=("t7",))),
    ]
    merged = merge(patches, skill, optimizer, ask=False)
    assert model.calls == []
    assert contents(merged) == [alike("a"), "Be short."]
    assert [e.support_count for e in merged.edits] == [3, 1]
    assert merged.edits[0].task_ids == ("t1", "t2", "t7")


def test_a_merge_of_one_is_refused(skill, script) -> None:
    optimizer, _ = script(keep_all)
    with pytest.raises(ValueError, match="at least two"):
        merge([], skill, optimizer, merge_batch_size=1)
