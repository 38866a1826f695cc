from __future__ import annotations

import importlib
import json
import pkgutil
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from pydantic import Field

import skillgit.judges
import skillgit.sleep
import skillgit.stages
from skillgit.errors import BlockedError, BudgetError, CallError, ConfigError, ReplyError
from skillgit.ports import ReplyT
from skillgit.prompting.answers import Answer
from skillgit.prompting.prompts import (
    SCHEMA_HOLE,
    Optimizer,
    Prompt,
    holes,
    load_prompts,
    prompt_id,
)
from skillgit.records import ModelReply, ModelRequest, PaidCall, Record, Role
from skillgit.records.canonical import slot_seed

JUDGES_WORDS = re.compile(
    r"\b(judge\w*|grader\w*|grading|rubric\w*|regex\w*|section_present|section_contains"
    r"|not_contains|min_chars|max_chars|no_refusal|tool_called|hard score|soft score)\b",
    re.IGNORECASE,
)


def declared_in(*packages: ModuleType) -> dict[str, Prompt[Record, Answer]]:
    found = {}
    for package in packages:
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for value in vars(importlib.import_module(module.name)).values():
                if isinstance(value, Prompt):
                    found[value.name] = value
    return found


PROMPTS = declared_in(skillgit.stages, skillgit.judges, skillgit.sleep)
OPTIMIZERS = declared_in(skillgit.stages, skillgit.sleep)
NIGHT_EDITORS = ["night_failures", "night_successes"]
EDITORS = sorted(
    name
    for name, p in OPTIMIZERS.items()
    if "edits" in p.answer.model_fields and name not in NIGHT_EDITORS
)


# ── the prompts that ship ────────────────────────────────────────────────────────────────────


def test_every_prompt_file_is_declared_and_every_declaration_has_its_file() -> None:
    assert set(load_prompts()) == set(PROMPTS)


@pytest.mark.parametrize("name", sorted(PROMPTS))
def test_a_prompt_names_exactly_its_records_fields(name: str) -> None:
    expected = set(PROMPTS[name].fields.model_fields)
    assert holes(load_prompts()[name]) - {SCHEMA_HOLE} == expected


@pytest.mark.parametrize("name", sorted(OPTIMIZERS))
def test_no_prompt_of_the_optimizer_has_words_of_the_judges(name: str) -> None:
    assert JUDGES_WORDS.findall(load_prompts()[name]) == []


@pytest.mark.parametrize("name", sorted(PROMPTS))
def test_an_answers_schema_is_titled_with_its_record_and_closed(name: str) -> None:
    schema = PROMPTS[name].schema()
    assert schema["title"] == PROMPTS[name].answer.__name__
    assert schema["additionalProperties"] is False


def test_the_prompts_that_ask_for_edits_are_these() -> None:
    merges = ["merge_failures", "merge_final", "merge_successes"]
    failures = ["reflect_failures", "reflect_failures_aware"]
    successes = ["reflect_successes", "reflect_successes_aware"]
    assert [*merges, *failures, *successes] == EDITORS


ANALYSTS = [name for name in EDITORS if name.startswith("reflect")]
MERGERS = [name for name in EDITORS if name.startswith("merge")]
RULE_WRITERS = [*ANALYSTS, *NIGHT_EDITORS, "reflect_plain"]


@pytest.mark.parametrize("name", ANALYSTS)
def test_who_writes_edits_is_told_what_an_edit_is_and_what_a_rule_is(name: str) -> None:
    text = load_prompts()[name]
    for part in ("`add`", "`replace`", "`delete`", "`line`", "closed to edits"):
        assert part in text
    assert "An order to the agent" in text


@pytest.mark.parametrize("name", RULE_WRITERS)
def test_who_writes_rules_is_told_that_no_single_tasks_answer_goes_in(name: str) -> None:
    text = load_prompts()[name]
    assert "is in no rule" in text
    assert "does not speak of" in text


@pytest.mark.parametrize("name", [n for n in RULE_WRITERS if "successes" not in n])
def test_who_mends_failures_is_told_to_keep_the_exact_words_of_a_reason(name: str) -> None:
    text = load_prompts()[name]
    assert "$reasons" in text
    assert "in quotation marks" in text


@pytest.mark.parametrize("name", MERGERS)
def test_who_merges_names_sources_and_no_places(name: str) -> None:
    text = load_prompts()[name]
    assert "`sources`" in text
    for part in ("`anchor`", "`line`", "`op`"):
        assert part not in text


@pytest.mark.parametrize("name", NIGHT_EDITORS)
def test_who_writes_edits_at_night_is_told_of_bullets_in_the_learned_region(name: str) -> None:
    text = load_prompts()[name]
    for part in ("`add`", "`replace`", "`delete`", "SKILLOPT-SLEEP:LEARNED START", "quotes nobody"):
        assert part in text
    assert "## What a rule is" in text


def test_how_an_edit_is_written_stands_in_the_same_words_for_every_analyst() -> None:
    texts = [load_prompts()[name] for name in ANALYSTS]
    parts = [text[text.index("## How an edit") : text.index("## What a rule")] for text in texts]
    assert len(set(parts)) == 1


@pytest.mark.parametrize("name", RULE_WRITERS)
def test_what_is_fixed_comes_first_and_the_evidence_last(name: str) -> None:
    text = load_prompts()[name]
    assert text.rstrip().endswith("$trajectories")
    assert text.index("## The skill" if name not in NIGHT_EDITORS else "## The documents") > 800


@pytest.mark.parametrize("name", RULE_WRITERS)
def test_no_example_of_a_rule_is_there_to_be_copied(name: str) -> None:
    assert not re.search(
        r"\b(e\.g\.|for example|for instance)|```", load_prompts()[name], re.IGNORECASE
    )


# ── filling the holes ────────────────────────────────────────────────────────────────────────


class Question(Record):
    topic: str
    count: int = 3


class Reply(Answer):
    score: int = Field(description="From 0 to 9.")
    words: list[str] = Field(default_factory=list)


ASK = Prompt("ask", Question, Reply)


def test_holes_are_filled_in_one_pass() -> None:
    text = ASK.render("$topic, ${count} times, for $$5", Question(topic="$count and $$ and $x"))
    assert text.startswith("$count and $$ and $x, 3 times, for $5")


def test_the_schema_goes_with_the_request_and_stands_in_the_text_only_at_its_hole() -> None:
    assert ASK.render("$topic $count", Question(topic="t")) == "t 3"
    placed = ASK.render("A: $answer_schema B: $topic $count", Question(topic="t"))
    assert placed.index('"title": "Reply"') < placed.index("B: t 3")
    assert placed.count('"title": "Reply"') == 1


def test_a_schema_describes_fields_and_not_classes() -> None:
    class Commented(Answer):
        """What only a reader of the code needs to know."""

        inner: list[Reply]

    schema = json.dumps(Prompt("x", Question, Commented).schema())
    assert "only a reader" not in schema
    assert "From 0 to 9." in schema


@pytest.mark.parametrize("name", sorted(PROMPTS))
def test_no_docstring_is_in_a_schema(name: str) -> None:
    schema = PROMPTS[name].schema()
    defined = schema.get("$defs", {})
    assert isinstance(defined, dict)
    for record in (schema, *defined.values()):
        assert isinstance(record, dict)
        assert record.get("type") != "object" or "description" not in record


def test_a_hole_without_a_field_raises() -> None:
    with pytest.raises(KeyError):
        ASK.render("$nothing", Question(topic="t"))


@pytest.mark.parametrize("text", ["costs $5", "a $ alone", "${", "${a b}", "ends in $"])
def test_a_dollar_that_begins_no_hole_is_an_error(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        holes(text)
    assert "$$" in caught.value.hint


# ── a project's own prompts ──────────────────────────────────────────────────────────────────


def test_a_projects_prompt_stands_in_for_the_shipped_one() -> None:
    own = "Choose $budget of $edits for $skill with $meta_skill, pay $$5."
    texts = load_prompts({"rank": own})
    assert texts["rank"] == own
    assert texts["merge_final"] == load_prompts()["merge_final"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("$budget $edits $skill $meta_skill $colour", r"no hole \$colour exists"),
        ("$budget $skill $meta_skill", r"the hole \$edits is missing"),
        ("", r"\$budget is missing.*\$edits is missing"),
        ("$budget $edits $skill $meta_skill $5", r"'rank'.*begins no hole"),
    ],
)
def test_a_projects_prompt_with_other_holes_is_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_prompts({"rank": text})


def test_a_projects_prompt_that_is_none_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(ConfigError, match="'ranking'") as caught:
        load_prompts({"ranking": "x"})
    assert "reflect_failures" in caught.value.hint


def test_a_prompts_id_is_the_one_git_gives_it(repo: Path, git: Callable[..., str]) -> None:
    text = "Größe $x\r\n"
    (repo / "p.md").write_bytes(text.encode())
    assert prompt_id(text) == git("hash-object", "--no-filters", "p.md").strip()


# ── asking ───────────────────────────────────────────────────────────────────────────────────


class OneAnswer:
    """A model with one answer, behind a door that lets everything through."""

    def __init__(self, answer: ModelReply | Exception) -> None:
        self.answer = answer
        self.requests: list[ModelRequest] = []
        self.calls: list[PaidCall] = []

    def complete(self, request: ModelRequest) -> ModelReply:
        self.requests.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def paid(
        self, call: PaidCall, request: Record, reply: type[ReplyT], perform: Callable[[], ReplyT]
    ) -> ReplyT:
        self.calls.append(call)
        return perform()


def optimizer_of(model: OneAnswer) -> Optimizer:
    return Optimizer(
        model=model,
        model_name="m",
        paid=model.paid,
        texts={"ask": "$topic $count"},
        seed=42,
        temperature=0.5,
        max_tokens=100,
    )


def answer_to(text: str, finish_reason: str = "stop") -> Reply:
    model = OneAnswer(ModelReply(text=text, finish_reason=finish_reason))
    return optimizer_of(model).ask(ASK, Question(topic="t"), purpose="p", slot="s").answer


def test_a_question_becomes_one_paid_call_of_the_optimizer() -> None:
    model = OneAnswer(ModelReply(text='Well: {"score": 3, "extra": true}'))
    optimizer = optimizer_of(model)
    answered = optimizer.ask(ASK, Question(topic="t"), purpose="reflect", slot="failure/0")
    assert answered.answer == Reply(score=3)
    assert answered.text == 'Well: {"score": 3, "extra": true}'
    assert model.calls == [PaidCall(role=Role.OPTIMIZER, purpose="reflect", slot="failure/0")]
    (request,) = model.requests
    assert request.seed == slot_seed(42, "reflect", "failure/0")
    assert (request.model, request.temperature, request.max_tokens) == ("m", 0.5, 100)
    assert request.answer_schema == ASK.schema()
    assert optimizer.prompt_ids == {"ask": prompt_id("$topic $count")}


@pytest.mark.parametrize(
    "text",
    [
        '{"score": true}',
        '{"score": "3"}',
        '{"score": 3.5}',
        '{"score": NaN}',
        '{"score": 1e309}',
        '{"score": null}',
        '{"score": 3, "words": "none"}',
        '{"score": 3, "words": [1]}',
        "{}",
        "3",
        "",
    ],
)
def test_an_answer_is_not_bent_into_shape(text: str) -> None:
    with pytest.raises(ReplyError) as caught:
        answer_to(text)
    assert caught.value.text == text
    assert "token limit" not in str(caught.value)


def test_the_first_value_that_fits_is_the_answer() -> None:
    assert answer_to('{"score": "high"} I mean {"score": 4, "words": ["a"]}').score == 4


def test_an_answer_that_was_cut_off_says_so() -> None:
    with pytest.raises(ReplyError, match="cut off by the token limit"):
        answer_to('{"score": ', finish_reason="length")
    assert answer_to('{"score": 3}', finish_reason="length").score == 3


@pytest.mark.parametrize("error", [CallError("x"), BlockedError("x"), BudgetError("x")])
def test_a_call_that_failed_is_for_the_asker_to_judge(error: Exception) -> None:
    with pytest.raises(type(error)):
        optimizer_of(OneAnswer(error)).ask(ASK, Question(topic="t"), purpose="p", slot="s")
