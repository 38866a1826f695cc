from __future__ import annotations

import time

import pytest

from skillgit.errors import BlockedError, CallError
from skillgit.records import GradedRollout, RawPatch, Skill, SourceType
from skillgit.stages.reflect import cut_minibatches, run_minibatch_reflect


def reflect(optimizer, graded, skill, **changes) -> tuple[RawPatch, ...]:
    settings = {
        "edit_budget": 4,
        "minibatch_size": 2,
        "failure_only": False,
        "max_chars": 2_000,
        "seed": 7,
        "step_buffer": "",
        "meta_skill": "",
        "workers": 4,
    }
    return run_minibatch_reflect(graded, skill, optimizer, **{**settings, **changes})


def one_add(content: str = "x", **fields: object) -> dict[str, object]:
    return {"edits": [{"op": "add", "content": content, **fields}]}


@pytest.fixture
def batch(graded) -> list[GradedRollout]:
    fails = [graded(f"f{i}", 0.0) for i in range(5)]
    partly = [graded("p0", 0.348)]
    passes = [graded(f"s{i}", 1.0) for i in range(3)]
    return [*fails, *partly, *passes, graded("u0", None)]


def test_failures_and_successes_are_cut_apart_and_the_unscored_left_out(batch) -> None:
    cut = cut_minibatches(batch, minibatch_size=4, failure_only=False, seed=1)
    kinds = [(m.source_type, m.index, len(m.graded)) for m in cut]
    failure, success = SourceType.FAILURE, SourceType.SUCCESS
    assert kinds == [(failure, 0, 3), (failure, 1, 3), (success, 0, 3)]
    assert {i for m in cut[:2] for i in m.task_ids} == {"f0", "f1", "f2", "f3", "f4", "p0"}
    assert set(cut[2].task_ids) == {"s0", "s1", "s2"}


@pytest.mark.parametrize(
    ("tasks", "most", "sizes"),
    [(10, 8, [5, 5]), (10, 3, [3, 3, 2, 2]), (8, 8, [8]), (9, 8, [5, 4]), (1, 8, [1]), (0, 8, [])],
)
def test_minibatches_are_even(graded, tasks: int, most: int, sizes: list[int]) -> None:
    failures = [graded(f"f{i}", 0.0) for i in range(tasks)]
    cut = cut_minibatches(failures, minibatch_size=most, failure_only=False, seed=1)
    assert [len(m.graded) for m in cut] == sizes
    assert len({i for m in cut for i in m.task_ids}) == tasks


def test_the_seed_alone_decides_who_sits_together(batch) -> None:
    def ids(seed: int) -> list[tuple[str, ...]]:
        cut = cut_minibatches(batch, minibatch_size=2, failure_only=True, seed=seed)
        return [m.task_ids for m in cut]

    assert ids(1) == ids(1)
    assert len({tuple(ids(seed)) for seed in range(10)}) > 1


def test_failure_only_skips_the_success_analyst(batch, skill, script) -> None:
    optimizer, model = script(lambda request, call: one_add())
    reflect(optimizer, batch, skill, failure_only=True)
    assert model.slots == ["failure/0", "failure/1", "failure/2"]


def test_patches_come_in_minibatch_order_whoever_answers_first(batch, skill, script) -> None:
    def slow_first(request, call):
        time.sleep(0.05 if call.slot == "failure/0" else 0)
        return one_add(call.slot)

    optimizer, _ = script(slow_first)
    patches = reflect(optimizer, batch, skill)
    contents = [p.patch.edits[0].content for p in patches]
    assert contents == ["failure/0", "failure/1", "failure/2", "success/0", "success/1"]
    kinds = [p.patch.edits[0].source_type for p in patches]
    assert kinds == [SourceType.FAILURE] * 3 + [SourceType.SUCCESS] * 2
    assert [p.batch_size for p in patches] == [2, 2, 2, 2, 1]


def test_nothing_scored_is_no_call(graded, skill, script) -> None:
    optimizer, model = script(lambda request, call: one_add())
    assert reflect(optimizer, [graded("u", None)], skill) == ()
    assert model.calls == []


@pytest.mark.parametrize(
    ("claims", "support", "task_ids"),
    [
        ({}, 1, ()),
        ({"support_count": 2}, 2, ()),
        ({"support_count": 99}, 3, ()),
        ({"support_count": True}, 1, ()),
        ({"task_ids": ["a", "b"]}, 2, ("a", "b")),
        ({"task_ids": ["a", "a", "foreign"]}, 1, ("a",)),
        ({"task_ids": ["foreign"], "support_count": 99}, 3, ()),
        ({"task_ids": ["a"], "support_count": 3}, 1, ("a",)),
    ],
)
def test_support_is_what_the_minibatch_can_bear_out(
    claims, support, task_ids, graded, skill, script
) -> None:
    optimizer, _ = script(lambda request, call: one_add(**claims))
    batch = [graded(i, 0.0) for i in "abc"]
    (patch,) = reflect(optimizer, batch, skill, minibatch_size=8)
    (edit,) = patch.patch.edits
    assert (edit.support_count, edit.task_ids) == (support, task_ids)


def test_an_answer_that_cannot_be_read_is_recorded_and_the_others_count(
    batch, skill, script
) -> None:
    optimizer, _ = script(
        lambda request, call: "no change is needed" if call.slot == "failure/1" else one_add()
    )
    patches = reflect(optimizer, batch, skill)
    assert [p.parse_failure is None for p in patches] == [True, False, True, True, True]
    assert patches[1].patch.edits == ()
    assert len(patches[1].task_ids) == 2


def test_a_call_that_failed_is_recorded_as_one(batch, skill, script) -> None:
    optimizer, _ = script(
        lambda request, call: CallError("timed out") if call.slot == "success/0" else one_add()
    )
    patches = reflect(optimizer, batch, skill)
    assert patches[3].parse_failure == "call failed: timed out"


def test_when_every_call_failed_the_step_is_blocked(batch, skill, script) -> None:
    optimizer, _ = script(lambda request, call: CallError("timed out"))
    with pytest.raises(BlockedError, match=r"none of the optimizer's 5 calls.*timed out"):
        reflect(optimizer, batch, skill)


def test_when_no_answer_could_be_read_the_step_goes_on(batch, skill, script) -> None:
    optimizer, _ = script(lambda request, call: "Sorry.")
    assert all(p.parse_failure for p in reflect(optimizer, batch, skill))


def test_a_wrong_key_stops_at_once(batch, skill, script) -> None:
    optimizer, model = script(lambda request, call: BlockedError("401"))
    with pytest.raises(BlockedError, match="401"):
        reflect(optimizer, batch, skill, workers=1)
    assert len(model.calls) == 1


def test_an_answer_cut_off_by_the_token_limit_says_so(graded, skill, script) -> None:
    optimizer, model = script(lambda request, call: '{"edits": [{"op": "add", "cont')
    model.finish_reason = "length"
    (patch,) = reflect(optimizer, [graded("a", 0.0)], skill)
    assert patch.parse_failure is not None
    assert patch.parse_failure.startswith("cut off by the token limit")


def test_six_edits_with_a_budget_of_four_are_all_kept_for_select(graded, skill, script) -> None:
    six = {"edits": [{"op": "add", "content": str(i)} for i in range(6)]}
    optimizer, _ = script(lambda request, call: six)
    (patch,) = reflect(optimizer, [graded("a", 0.0)], skill)
    assert len(patch.patch.edits) == 6


def test_an_item_that_is_no_edit_is_dropped_and_counted(graded, skill, script) -> None:
    answer = {"edits": [{"op": "explode"}, {"op": "remove", "anchor": "a"}]}
    optimizer, _ = script(lambda request, call: answer)
    (patch,) = reflect(optimizer, [graded("a", 0.0)], skill)
    assert len(patch.patch.edits) == 1
    assert len(patch.dropped) == 1


def test_the_shape_with_a_patch_inside_is_read_with_its_summary(graded, skill, script) -> None:
    answer = {
        "patch": {"reasoning": "because", "edits": [{"op": "append", "content": "x"}]},
        "failure_summary": [
            {"failure_type": "no_risks", "description": "none\nat all", "count": 99},
            {"failure_type": "b", "task_ids": ["a", "foreign"], "count": 7},
            {"failure_type": "", "count": 1},
            "nonsense",
        ],
    }
    optimizer, _ = script(lambda request, call: answer)
    (patch,) = reflect(optimizer, [graded("a", 0.0), graded("b", 0.0)], skill)
    assert patch.patch.reasoning == "because"
    assert [(str(p), p.count, p.task_ids) for p in patch.failure_summary] == [
        ("no_risks: none at all", 2, ()),
        ("b", 1, ("a",)),
    ]


@pytest.mark.parametrize("summary", [None, "none", 3, {"a": 1}, [None, 1, []]])
def test_a_summary_that_cannot_be_read_does_no_harm(summary, graded, skill, script) -> None:
    optimizer, _ = script(lambda request, call: {**one_add(), "failure_summary": summary})
    (patch,) = reflect(optimizer, [graded("a", 0.0)], skill)
    assert patch.failure_summary == ()
    assert len(patch.patch.edits) == 1


def test_the_analyst_sees_skill_budget_buffer_memory_and_trajectories(
    graded, skill, script
) -> None:
    optimizer, model = script(lambda request, call: one_add())
    reflect(
        optimizer,
        [graded("a", 0.0, answer="A $5 answer")],
        skill,
        edit_budget=3,
        step_buffer="### Step 4 — REJECT",
        meta_skill="Short rules work.",
    )
    prompt = model.prompt("failure/0")
    for part in (
        "`brief/SKILL.md`",
        "- Write short sentences.",
        "at most 3 edits",
        "### Step 4 — REJECT",
        "Short rules work.",
        "### Task `a`",
        "A $5 answer",
        "no risks section",
    ):
        assert part in prompt
    assert "the secret reference" not in prompt


def test_without_a_budget_the_analyst_is_given_no_number(graded, skill: Skill, script) -> None:
    optimizer, model = script(lambda request, call: one_add())
    reflect(optimizer, [graded("a", 0.0)], skill, edit_budget=None)
    assert "at most" not in model.prompt("failure/0").split("## What an edit is")[0]


def test_equal_steps_ask_equal_questions(batch, skill, script) -> None:
    asked = []
    for workers in (1, 8):
        optimizer, model = script(lambda request, call: one_add())
        reflect(optimizer, batch, skill, workers=workers)
        pairs = zip(model.calls, model.requests, strict=True)
        asked.append(sorted((call.slot, request.model_dump_json()) for call, request in pairs))
    assert asked[0] == asked[1]
    seeds = {request.seed for request in model.requests}
    assert len(seeds) == len(model.requests)
