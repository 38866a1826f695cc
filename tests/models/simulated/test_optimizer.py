"""The optimizer answers in the schema it is given, from what it sees, and errs by plan."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from skillgit.config import SimulationConfig
from skillgit.editing.numbered_lines import NumberedSkill
from skillgit.errors import BlockedError, ReplyError
from skillgit.models.simulated import MODEL_NAMES, SimulatedModel
from skillgit.models.simulated.catalogue import CONFLICTING, GUESSES, HARMFUL, NEUTRAL
from skillgit.models.simulated.obedience import rules_of_line
from skillgit.models.simulated.optimizer import answer
from skillgit.models.simulated.remedies import mends
from skillgit.prompting.prompts import Prompt
from skillgit.prompting.replies import extract
from skillgit.records import (
    Edit,
    EditOp,
    Grade,
    GradedRollout,
    JudgeSpec,
    Message,
    ModelRequest,
    Rollout,
    Score,
    Skill,
    SkillDocument,
    Speaker,
    Split,
    Task,
)
from skillgit.stages.aggregate import MERGE_FAILURES
from skillgit.stages.reasons import Reasons
from skillgit.stages.reflect import REFLECT_FAILURES, REFLECT_PLAIN, REFLECT_SUCCESSES
from skillgit.stages.rendering import numbered_skill, render_attempts, shown_edits, shown_skill
from skillgit.stages.select import RANK

SKILL = Skill(
    name="brief",
    documents=(
        SkillDocument(
            path="skills/brief/SKILL.md",
            data=b'# Brief\n\n- Conclusion first.\n- Finish with "Hope this helps!"\n',
        ),
    ),
)
PLAIN_SHARE = 0.5


def failed(task_id: str, reason: str) -> GradedRollout:
    task = Task(
        id=task_id,
        prompt=f"Write a brief on {task_id}.",
        judge=JudgeSpec(kind="rule"),
        split=Split.TRAIN,
    )
    return GradedRollout(
        task=task,
        rollout=Rollout(task_id=task_id, answer="A short answer."),
        grade=Grade(
            score=Score(hard=0.0, soft=0.0), reason=reason, reasons=tuple(reason.split("; "))
        ),
    )


def request_of(
    prompt: Prompt[Any, Any],
    text: str,
    seed: int,
    *,
    with_schema: bool = True,
) -> ModelRequest:
    schema = prompt.schema()
    shown = text if with_schema else f"{text}\n\n```json\n{json.dumps(schema, indent=1)}\n```\n"
    return ModelRequest(
        model="sim-optimizer",
        messages=(Message(role=Speaker.USER, content=shown),),
        answer_schema=schema if with_schema else None,
        seed=seed,
    )


def reflect_text(*reasons: str, tried: str = "", budget: int = 4) -> str:
    graded = [failed(f"t{number}", reason) for number, reason in enumerate(reasons)]
    return f"{shown(graded)}\n\n{tried}\n\nat most {budget} edits"


def shown(graded: Sequence[GradedRollout], skill: Skill = SKILL) -> str:
    """What an analyst is shown of a skill and of attempts that fell short."""
    reasons = Reasons.of(graded)
    attempts = render_attempts(graded, reasons.numbers_at, 4000)
    return f"{numbered_skill(NumberedSkill(skill))}\n\n{reasons.shown()}\n\n{attempts}"


def usable(prompt: Prompt[Any, Any], text: str, seeds: int = 40) -> list[dict[str, Any]]:
    """The answers that can be read, over some seeds."""
    found: list[dict[str, Any]] = []
    for seed in range(seeds):
        reply = answer(request_of(prompt, text, seed))
        try:
            found.append(extract(reply.text, lambda value: _fitting(prompt, value)))
        except ReplyError:
            continue
    return found


def _fitting(prompt: Prompt[Any, Any], value: Any) -> dict[str, Any]:
    prompt.answer.read(value)
    if not isinstance(value, dict):
        raise ReplyError("no answer")
    return value


def nothing_forgiven(prompt: Prompt[Any, Any], found: dict[str, Any]) -> bool:
    """Whether an answer has every field that was asked for, each as it is after reading."""
    return _has(found, prompt.answer.read(found).model_dump())


def _has(found: Any, read: Any) -> bool:
    if isinstance(read, dict):
        return all(name in found and _has(found[name], value) for name, value in read.items())
    if isinstance(read, list):
        return len(found) == len(read) and all(map(_has, found, read))
    return bool(found == read)


def edits_of(answers: list[dict[str, Any]], skill: Skill = SKILL) -> Counter[str]:
    numbered = NumberedSkill(skill)
    edits = (
        numbered.edit(EditOp(edit["op"]), edit["line"], edit["text"])
        for found in answers
        for edit in found["edits"]
    )
    return Counter(f"{edit.op.value} {edit.content or edit.anchor}" for edit in edits)


def test_what_failed_is_mended() -> None:
    text = reflect_text('must contain "## Key Risks"', 'must contain "## Key Risks"')
    answers = usable(REFLECT_FAILURES, text)
    mended = edits_of(answers)['add - Always add a section headed "## Key Risks".']
    assert mended > PLAIN_SHARE * len(answers)


def test_the_answer_fits_the_schema_and_names_the_reasons_behind_each_edit() -> None:
    text = reflect_text("dates are written as YYYY-MM-DD", 'must contain "## Key Risks"')
    for found in usable(REFLECT_FAILURES, text):
        assert nothing_forgiven(REFLECT_FAILURES, found)
        for edit in found["edits"]:
            if "Key Risks" in edit["text"]:
                assert edit["reasons"] == [2]


def test_an_edit_names_the_reasons_of_every_failure_that_it_mends_for() -> None:
    text = reflect_text('must contain "TL;DR"', 'must contain "TL;DR"', "no commas")
    named = {
        tuple(edit["reasons"])
        for found in usable(REFLECT_FAILURES, text)
        for edit in found["edits"]
        if "TL;DR" in edit["text"]
    }
    assert named == {(1,)}


def test_a_rule_writer_gets_rules_each_against_its_fault() -> None:
    text = reflect_text("dates are written as YYYY-MM-DD", 'must contain "## Key Risks"')
    answers = usable(REFLECT_PLAIN, text)
    for found in answers:
        assert nothing_forgiven(REFLECT_PLAIN, found)
    rules = Counter((r["fault"], r["rule"]) for found in answers for r in found["rules"])
    assert rules[2, '- Always add a section headed "## Key Risks".'] > 0.3 * len(answers)


def test_a_line_that_asks_for_what_is_forbidden_is_deleted() -> None:
    answers = usable(REFLECT_FAILURES, reflect_text('must not contain "Hope this helps"'))
    deleted = edits_of(answers)['delete - Finish with "Hope this helps!"']
    assert deleted > PLAIN_SHARE * len(answers)


def test_what_nobody_explains_is_guessed_from_common_house_rules() -> None:
    text = reflect_text('must contain "## Key Risks"; must have a form it does not have')
    edits = edits_of(usable(REFLECT_FAILURES, text))
    assert sum(n for edit, n in edits.items() if "Confidence" in edit) > 10
    assert sum(n for edit, n in edits.items() if "Key Risks" in edit) > 20


def test_it_also_has_bad_ideas_and_anchors_that_are_nowhere() -> None:
    edits = edits_of(usable(REFLECT_FAILURES, reflect_text("no commas"), seeds=300))
    added = {edit.removeprefix("add - ") for edit in edits}
    for ideas in (NEUTRAL, HARMFUL, CONFLICTING):
        assert added & set(ideas)
    assert any(edit.startswith("replace") for edit in edits)
    assert edits["add - Conclusion first."] > 0


def test_some_answers_cannot_be_read_and_most_can() -> None:
    readable = len(usable(REFLECT_FAILURES, reflect_text("no commas"), seeds=200))
    assert 160 < readable < 200


def test_a_rejected_edit_is_seldom_proposed_again() -> None:
    tried = (
        "### Step 4 — REJECT (5/16 failed)\n  Rejected edits (score 0.5 → 0.5):\n"
        '    1. [add] "- No commas."\n'
    )
    before = edits_of(usable(REFLECT_FAILURES, reflect_text("no commas"), seeds=100))
    after = edits_of(usable(REFLECT_FAILURES, reflect_text("no commas", tried=tried), seeds=100))
    assert after["add - No commas."] < 0.8 * before["add - No commas."]


def test_the_budget_is_kept() -> None:
    text = reflect_text(*(f'must contain "word{n}"' for n in range(9)), budget=2)
    for found in usable(REFLECT_FAILURES, text):
        assert len(found["edits"]) <= 2


def test_successes_are_not_mended() -> None:
    edits = edits_of(usable(REFLECT_SUCCESSES, reflect_text("all checks pass"), seeds=60))
    assert not any(GUESSES[0] in edit for edit in edits)


def test_a_merge_joins_equal_edits_and_says_where_they_come_from() -> None:
    same = Edit(op=EditOp.ADD, content="- No commas.")
    other = Edit(op=EditOp.ADD, content="- Cite a source.", support_count=3)
    again = Edit(op=EditOp.ADD, content="-  no commas")
    text = f"{shown_skill(SKILL)}\n\n{shown_edits([same, other, again])}"
    for found in usable(MERGE_FAILURES, text, seeds=12):
        assert nothing_forgiven(MERGE_FAILURES, found)
        assert [e["sources"] for e in found["edits"]] in ([[0, 2], [1]], [[0, 2]], [[1]])
        assert all(edit["text"] == "" for edit in found["edits"])


def test_a_ranking_goes_by_support() -> None:
    edits = [Edit(op=EditOp.ADD, content=f"- {n}", support_count=n) for n in (1, 5, 3)]
    firsts = Counter(found["selected_indices"][0] for found in usable(RANK, shown_edits(edits)))
    assert firsts.most_common(1)[0][0] == 1
    assert len(firsts) > 1


def test_the_schema_can_stand_in_the_prompt_alone() -> None:
    text = reflect_text('must contain "## Key Risks"')
    replies = [
        answer(request_of(REFLECT_FAILURES, text, seed, with_schema=False)).text
        for seed in range(10)
    ]
    assert sum("Key Risks" in reply for reply in replies) > 5


def test_an_answer_nobody_knows_is_the_smallest_that_fits() -> None:
    schema = {
        "title": "NobodyKnows",
        "type": "object",
        "properties": {
            "n": {"type": "integer", "minimum": 2},
            "kind": {"$ref": "#/$defs/Kind"},
            "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "items": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        },
        "$defs": {"Kind": {"enum": ["low", "high"]}},
    }
    for seed in range(20):
        request = ModelRequest(model="sim-optimizer", messages=(), answer_schema=schema, seed=seed)
        try:
            value = json.loads(answer(request).text)
        except ValueError:
            continue
        assert value == {"n": 2, "kind": "low", "maybe": "simulated", "items": ["simulated"]}


def test_without_a_schema_it_says_what_it_is() -> None:
    reply = answer(ModelRequest(model="sim-optimizer", messages=()))
    assert "simulated" in reply.text


@pytest.mark.parametrize(
    ("reason", "line"),
    [
        ('must contain "## Key Risks"', 'Always add a section headed "## Key Risks".'),
        ('must contain "TL;DR"', 'Start with a "TL;DR" line.'),
        ('must contain "Confidence: high"', 'Close with a line "Confidence: high".'),
        ('must contain "as of today"', 'Include the phrase "as of today".'),
        ('must not contain ","', "Do not use commas."),
        ('must not contain "utilized"', 'Avoid the word "utilized".'),
        ('must have a section headed "Upgrade"', 'Always add a section headed "## Upgrade".'),
        (
            'must contain "owner" in a section headed "Key Risks"',
            'In the "## Key Risks" section, mention "owner".',
        ),
        ("must have at most 700 characters", "Keep every answer under 100 words."),
        ("must have at least 700 characters", "Write at least 101 words."),
        ('must call the tool "look_up"', "Use the `look_up` tool before answering."),
        ("never use commas", "Never use commas."),
        ("a brief closes with a confidence line", "A brief closes with a confidence line."),
        ('missing: the section "Key Risks"', 'Always add a section headed "## Key Risks".'),
    ],
)
def test_reasons_are_understood(reason: str, line: str) -> None:
    assert mends(reason) == (line,)
    if "tool" not in reason:
        assert rules_of_line(line)


@pytest.mark.parametrize(
    "reason", ["must have a form it does not have", "must not refuse the task", ""]
)
def test_a_reason_that_says_nothing_is_mended_by_nothing(reason: str) -> None:
    assert mends(reason) == ()


@pytest.mark.parametrize("line", [*GUESSES, *HARMFUL, *CONFLICTING])
def test_what_the_catalogue_offers_the_target_understands(line: str) -> None:
    assert rules_of_line(line)


@pytest.mark.parametrize("line", NEUTRAL)
def test_neutral_lines_change_nothing(line: str) -> None:
    assert rules_of_line(line) == ()


def test_a_model_without_a_role_is_refused_by_name(clock: Any) -> None:
    model = SimulatedModel(SimulationConfig(), clock)
    with pytest.raises(BlockedError, match="gpt-nobody") as caught:
        model.complete(ModelRequest(model="gpt-nobody", messages=()))
    for name in MODEL_NAMES:
        assert name in caught.value.hint


def test_in_process_latency_is_slept_and_tokens_are_estimated(clock: Any) -> None:
    model = SimulatedModel(SimulationConfig(latency_ms=50), clock)
    message = Message(role=Speaker.USER, content="x" * 41)
    reply = model.complete(ModelRequest(model="sim-target-small", messages=(message,)))
    assert clock.slept == [0.05]
    assert reply.milliseconds == 50
    assert reply.usage.prompt_tokens == 11
    assert reply.usage.completion_tokens == -(-len(reply.text) // 4)


def test_a_mend_for_one_kind_of_task_is_now_and_then_limited_to_it() -> None:
    notes = [failed(f"n{n}", "no commas") for n in range(2)]
    briefs = [failed("b", 'must contain "TL;DR"')]
    notes = [
        note.model_copy(
            update={"task": note.task.model_copy(update={"prompt": "Write a release note on x."})}
        )
        for note in notes
    ]
    text = shown([*notes, *briefs])
    edits = edits_of(usable(REFLECT_FAILURES, text, seeds=100))
    assert edits["add - In notes, no commas."] > 5
    assert edits["add - No commas."] > edits["add - In notes, no commas."]


def test_a_line_that_undoes_others_is_taken_out_when_their_mend_is_there_already() -> None:
    harmful = SKILL.main.data + b"- No commas.\n- Keep every answer under five words.\n"
    skill = SKILL.with_document(SKILL.main.path, harmful)
    answers = usable(REFLECT_FAILURES, shown([failed("t", "no commas")], skill))
    deleted = edits_of(answers, skill)["delete - Keep every answer under five words."]
    assert deleted > PLAIN_SHARE * len(answers)


def test_a_comma_in_a_line_is_no_reason_to_delete_it() -> None:
    skill = SKILL.with_document(SKILL.main.path, SKILL.main.data + b"- Plain words, always.\n")
    text = shown([failed("t", 'must not contain ","')], skill)
    edits = edits_of(usable(REFLECT_FAILURES, text), skill)
    assert not any(edit.startswith("delete") for edit in edits)
    assert edits["add - Do not use commas."] > 20


def test_numbers_in_the_skill_are_not_the_budget() -> None:
    skill = SKILL.with_document(SKILL.main.path, SKILL.main.data + b"- Make 1 edit.\n")
    reasons = "; ".join(f'must contain "word{n}"' for n in range(3))
    text = f"{shown([failed('t', reasons)], skill)}\n\n4 edits"
    sizes = {len(found["edits"]) for found in usable(REFLECT_FAILURES, text)}
    assert max(sizes) > 1
