from __future__ import annotations

import re
import time

import pytest

from skillgit.errors import BlockedError, CallError, ContextError
from skillgit.prompting.prompts import load_prompts
from skillgit.records import Edit, EditOp, GradedRollout, RawPatch, Skill, SourceType
from skillgit.stages.reflect import RULE_WRITERS, cut_minibatches, run_minibatch_reflect
from skillgit.stages.support import unsupported


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


# ── what stands behind an edit ───────────────────────────────────────────────────────────────


@pytest.fixture
def fallen(graded) -> list[GradedRollout]:
    """Three attempts: two lack a source, one of them and the third are too long."""
    return [
        graded("a", 0.0, reasons=('no line that starts with "Refs:"', "too long")),
        graded("b", 0.0, reasons=('no line that starts with "Refs:"',)),
        graded("c", 0.0, reasons=("too long", "no greeting")),
    ]


def number_of(reason: str, prompt: str) -> int:
    (line,) = [line for line in prompt.split("\n") if line.endswith(f"answers) {reason}")]
    return int(line.partition(".")[0])


def answering(reason: str, **fields: object):
    """An analyst whose one edit answers a reason by its number."""

    def answer(request, call):
        number = number_of(reason, request.messages[-1].content)
        edit = {"op": "add", "line": 0, "text": "Be brief.", "reasons": [number], **fields}
        return {"thought": "why", "edits": [edit]}

    return answer


def only_edit(patches: tuple[RawPatch, ...]) -> Edit:
    ((edit,),) = [patch.patch.edits for patch in patches]
    return edit


def test_support_is_the_attempts_behind_the_reasons_that_an_edit_answers(
    fallen, skill, script
) -> None:
    optimizer, model = script(answering("too long"))
    edit = only_edit(reflect(optimizer, fallen, skill, minibatch_size=8))
    assert (edit.support_count, set(edit.task_ids)) == (2, {"a", "c"})
    assert edit.rationale == "too long"
    assert edit.source_type is SourceType.FAILURE
    prompt = model.prompt("failure/0")
    assert '(2 of 3 answers) no line that starts with "Refs:"' in prompt
    assert "(1 of 3 answers) no greeting" in prompt


def test_every_attempt_names_the_numbers_of_its_reasons(fallen, skill, script) -> None:
    optimizer, model = script(answering("too long"))
    reflect(optimizer, fallen, skill, minibatch_size=8)
    prompt = model.prompt("failure/0")
    refs, long, hello = (
        number_of(reason, prompt)
        for reason in ('no line that starts with "Refs:"', "too long", "no greeting")
    )
    told = {
        part[1]: part.split("\n")[2].partition("short ")[2]
        for part in prompt.split("### Task ")[1:]
    }
    wanted = {"a": {refs, long}, "b": {refs}, "c": {long, hello}}
    for task_id, numbers in wanted.items():
        assert told[task_id] == f"({', '.join(map(str, sorted(numbers)))})."


def test_the_analyst_of_good_answers_names_them_by_number(graded, skill, script) -> None:
    edit = {"op": "add", "line": 0, "text": "Greet.", "attempts": [2, 1, 2, 9, 0]}
    optimizer, _ = script(lambda request, call: {"thought": "", "edits": [edit]})
    batch = [graded(i, 1.0) for i in "abc"]
    edit = only_edit(reflect(optimizer, batch, skill, minibatch_size=8))
    (shown,) = cut_minibatches(batch, minibatch_size=8, failure_only=False, seed=7)
    assert edit.task_ids == tuple(shown.task_ids[place] for place in (1, 0))
    assert edit.support_count == 2
    assert edit.source_type is SourceType.SUCCESS


@pytest.mark.parametrize("numbers", [[], [99], [0], [-1], ["x"], None, "none"])
def test_an_edit_that_answers_no_reason_has_no_support(numbers, fallen, skill, script) -> None:
    edit = {"op": "add", "line": 0, "text": "Write a heading.", "reasons": numbers}
    optimizer, _ = script(lambda request, call: {"thought": "", "edits": [edit]})
    patches = reflect(optimizer, fallen, skill, minibatch_size=8)
    assert (only_edit(patches).support_count, only_edit(patches).task_ids) == (0, ())
    assert unsupported(patches) == (only_edit(patches),)


def test_a_wrong_number_beside_the_words_that_a_reason_quotes_is_that_reason(
    fallen, skill, script
) -> None:
    edit = {"op": "add", "line": 0, "text": 'Close with a "refs:" line.', "reasons": [99]}
    optimizer, _ = script(lambda request, call: {"thought": "", "edits": [edit]})
    edit = only_edit(reflect(optimizer, fallen, skill, minibatch_size=8))
    assert (edit.support_count, set(edit.task_ids)) == (2, {"a", "b"})


@pytest.mark.parametrize("hard", [0.0, 1.0])
def test_a_rule_that_is_copied_from_the_prompt_has_no_support(
    hard: float, graded, skill, script
) -> None:
    kind = "reflect_successes" if hard else "reflect_failures"
    text = load_prompts()[kind]
    rule = next(line for line in text.split("\n") if line.startswith("- An order"))
    edit = {"op": "add", "line": 0, "text": rule, "reasons": [1], "attempts": [1]}
    optimizer, _ = script(lambda request, call: {"thought": "", "edits": [edit]})
    copied = only_edit(reflect(optimizer, [graded("a", hard)], skill))
    assert (copied.support_count, copied.task_ids) == (0, ())


def test_words_that_stand_in_the_prompt_by_chance_are_not_copied(graded, skill, script) -> None:
    optimizer, _ = script(answering("no risks section", text="plain sentences"))
    assert only_edit(reflect(optimizer, [graded("a", 0.0)], skill)).support_count == 1


def test_a_line_of_the_skill_may_be_said_again_in_an_edit(graded, skill, script) -> None:
    text = "Write short sentences."
    optimizer, _ = script(answering("no risks section", text=text))
    assert only_edit(reflect(optimizer, [graded("a", 0.0)], skill)).support_count == 1


def test_an_analyst_names_the_line_by_its_number_and_the_record_has_the_anchor(
    graded, skill, script
) -> None:
    def second_line(request, call):
        shown = request.messages[-1].content
        (line,) = [row for row in shown.split("\n") if row.endswith("| - Write short sentences.")]
        return answering(
            "no risks section", op="replace", line=int(line.partition("|")[0]), text="Be brief."
        )(request, call)

    optimizer, _ = script(second_line)
    edit = only_edit(reflect(optimizer, [graded("a", 0.0)], skill))
    assert (edit.op, edit.target) == (EditOp.REPLACE, "brief/SKILL.md")
    assert (edit.anchor, edit.content) == ("- Write short sentences.", "- Be brief.")


@pytest.mark.parametrize(
    ("claims", "support", "task_ids"),
    [
        ({}, 1, ()),
        ({"support_count": 2}, 1, ()),
        ({"support_count": 99}, 1, ()),
        ({"support_count": True}, 1, ()),
        ({"task_ids": ["a", "b"]}, 2, ("a", "b")),
        ({"task_ids": ["a", "a", "foreign"]}, 1, ("a",)),
        ({"task_ids": ["foreign"], "support_count": 99}, 1, ()),
        ({"task_ids": ["a"], "support_count": 3}, 1, ("a",)),
    ],
)
def test_in_the_older_form_support_is_the_tasks_that_are_named_and_in_the_minibatch(
    claims, support, task_ids, graded, skill, script
) -> None:
    optimizer, _ = script(lambda request, call: one_add(**claims))
    batch = [graded(i, 0.0) for i in "abc"]
    (patch,) = reflect(optimizer, batch, skill, minibatch_size=8)
    (edit,) = patch.patch.edits
    assert (edit.support_count, edit.task_ids) == (support, task_ids)


# ── what cannot be read, and what does not come back ─────────────────────────────────────────


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
    prompt = model.prompt("failure/0")
    assert "Write as many edits as the evidence asks for" in prompt
    assert not re.search(r"at most \d", prompt)


# ── rules alone, for small models ────────────────────────────────────────────────────────────


def rules(*pairs: tuple[int, str]):
    found = [{"fault": fault, "rule": rule} for fault, rule in pairs]
    return lambda request, call: {"rules": found}


def test_a_rule_writer_looks_at_failures_alone_and_sees_the_skill_without_numbers(
    batch, skill, script
) -> None:
    optimizer, model = script(rules((1, "Add a risks section.")))
    patches = reflect(optimizer, batch, skill, analysts=RULE_WRITERS, edit_budget=1)
    assert model.slots == ["failure/0", "failure/1", "failure/2"]
    assert {patch.source_type for patch in patches} == {SourceType.FAILURE}
    prompt = model.prompt("failure/0")
    assert "\n# Brief\n\n- Write short sentences.\n" in prompt
    assert "at most 1 rule." in prompt
    assert "1. (2 of 2 answers) no risks section" in prompt


def test_a_rule_is_an_addition_where_it_fits_best_with_the_attempts_of_its_fault(
    fallen, skill, script
) -> None:
    optimizer, _ = script(rules((1, "Add a risks section."), (3, "Greet."), (9, "Anything.")))
    (patch,) = reflect(optimizer, fallen, skill, analysts=RULE_WRITERS, minibatch_size=8)
    first, second, third = patch.patch.edits
    assert (first.op, first.anchor, first.content) == (EditOp.ADD, "", "- Add a risks section.")
    assert [edit.support_count for edit in (first, second, third)] == [2, 1, 0]
    assert second.rationale == "no greeting"
    assert unsupported([patch]) == (third,)


def test_a_rule_that_is_copied_from_the_plain_prompt_has_no_support(graded, skill, script) -> None:
    copied = "It says what the answer has, never what an answer lacked."
    optimizer, _ = script(rules((1, copied), (1, "Add a risks section.")))
    (patch,) = reflect(optimizer, [graded("a", 0.0)], skill, analysts=RULE_WRITERS)
    assert [edit.support_count for edit in patch.patch.edits] == [0, 1]


@pytest.mark.parametrize(
    "answer",
    [
        [{"fault": 1, "rule": "Be brief."}, {"fault": 1}],
        {"rules": [{"fault": "fault 1", "rule": "Be brief.", "why": "x"}, "nonsense"]},
        'Sure!\n```json\n{"rules": [{"fault": "1", "rule": "Be brief."}, 3]}\n```',
    ],
)
def test_a_plain_answer_is_read_in_its_common_shapes(answer, graded, skill, script) -> None:
    optimizer, _ = script(lambda request, call: answer)
    (patch,) = reflect(optimizer, [graded("a", 0.0)], skill, analysts=RULE_WRITERS)
    assert [(e.content, e.support_count) for e in patch.patch.edits] == [("- Be brief.", 1)]
    assert len(patch.dropped) == 1


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


# ── a context that is too short ──────────────────────────────────────────────────────────────


def only_takes(most: int):
    def answer(request, call):
        if len(request.messages[-1].content) > most:
            raise ContextError("longer than the context")
        return one_add()

    return answer


def test_a_minibatch_that_does_not_fit_the_context_is_made_smaller(graded, skill, script) -> None:
    failures = [graded(f"f{i}", 0.0, answer="a" * 1_500) for i in range(8)]
    optimizer, model = script(only_takes(7_500))
    (patch,) = reflect(optimizer, failures, skill, minibatch_size=8)
    assert [edit.content for edit in patch.patch.edits] == ["x"]
    assert patch.shortened == "2 of 8 attempts, 2000 characters of each"
    assert len(model.calls) == 3


def test_then_less_of_one_attempt_is_shown(graded, skill, script) -> None:
    optimizer, _ = script(only_takes(3_800))
    (patch,) = reflect(optimizer, [graded("f0", 0.0, answer="a" * 4_000)], skill, max_chars=4_000)
    assert patch.shortened.startswith("1 of 1 attempts, ")
    assert patch.parse_failure is None


def test_a_context_that_takes_nothing_is_a_call_that_failed(graded, skill, script) -> None:
    optimizer, _ = script(only_takes(10))
    with pytest.raises(BlockedError, match="longer than the context"):
        reflect(optimizer, [graded("f0", 0.0)], skill)
