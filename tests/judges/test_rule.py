"""The rule judge: every operator, and settings that are refused."""

from __future__ import annotations

from typing import Any

import pytest
from work import grows_in_proportion

from skillgit.errors import TaskError
from skillgit.judges import JudgeResources, build_judge, judge_identity, looks_at_shape_only
from skillgit.records import (
    Grade,
    JudgeSpec,
    Message,
    PaidCall,
    Record,
    Rollout,
    Speaker,
    Split,
    Task,
    ToolCall,
)

NOTHING = JudgeResources()


def no_paid(call: PaidCall, request: Record, reply: object, perform: object) -> Any:
    raise AssertionError("a rule judge pays for nothing")


def rule_task(*checks: Any, **settings: Any) -> Task:
    spec = JudgeSpec(kind="rule", settings={"checks": list(checks), **settings})
    return Task(id="bm-001", prompt="p", judge=spec, split=Split.VAL)


def grade(answer: str, *checks: Any, calls: tuple[str, ...] = ()) -> Grade:
    spoken = Message(
        role=Speaker.ASSISTANT,
        content=answer,
        tool_calls=tuple(ToolCall(id=str(n), name=name) for n, name in enumerate(calls)),
    )
    rollout = Rollout(task_id="bm-001", answer=answer, trajectory=(spoken,))
    return build_judge(rule_task(*checks), NOTHING).grade(rollout, no_paid, "bm-001/0")


def passes(answer: str, op: str, arg: Any = None, calls: tuple[str, ...] = ()) -> bool:
    return grade(answer, {"op": op, "arg": arg}, calls=calls).passed


def test_hard_is_all_and_soft_is_the_share() -> None:
    checks = [{"op": "contains", "arg": word} for word in ("one", "two", "three", "four")]
    result = grade("one two three", *checks)
    assert result.score is not None
    assert (result.score.hard, result.score.soft) == (0.0, 0.75)
    assert grade("one two three four", *checks).passed


def test_the_reason_names_failed_checks_by_hint_or_plain_words() -> None:
    result = grade(
        "short",
        {"op": "contains", "arg": "## Key Risks"},
        {"op": "min_chars", "arg": 9, "hint": "say more"},
        {"op": "contains", "arg": "short"},
    )
    assert result.reason == 'must contain "## Key Risks"; say more'


def test_a_regex_is_never_shown() -> None:
    result = grade("nothing", {"op": "regex", "arg": "[Cc]onfidence\\s*[:=]"})
    assert "onfidence" not in result.reason
    assert result.reason


@pytest.mark.parametrize(
    ("answer", "op", "arg", "right"),
    [
        ("we saw KEY risks", "contains", "Key Risks", True),
        ("in der STRASSE", "contains", "Straße", True),
        ("caf\u0065\u0301", "contains", "CAFÉ", True),
        ("İstanbul", "contains", "i̇stanbul", True),
        ("nothing", "contains", "thing else", False),
        ("All GOOD", "not_contains", "good", False),
        ("All fine", "not_contains", "good", True),
        ("Confidence: high", "regex", "[Cc]onfidence\\s*[:=]", True),
        ("CONFIDENCE: high", "regex", "[Cc]onfidence\\s*[:=]", False),
        ("CONFIDENCE: high", "regex", "(?i)confidence", True),
        ("a\nb", "regex", "(?m)^b$", True),
        ("abc", "max_chars", 3, True),
        ("abcd", "max_chars", 3, False),
        ("abcd", "max_chars", 4.0, True),
        ("😀😀", "max_chars", 2, True),
        ("abc", "min_chars", 3, True),
        ("ab", "min_chars", 3, False),
    ],
)
def test_texts_forms_and_lengths(answer: str, op: str, arg: Any, right: bool) -> None:
    assert passes(answer, op, arg) is right


@pytest.mark.parametrize("op", ["section_present", "section_contains"])
@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("### 1. Key Risks (Риски) — обзор", True),
        ("intro\n\n## Key Risks\n\n- one", True),
        ("## **Key** _Risks_:", True),
        ("# KEY   RISKS #", True),
        ("## \U0001f6a8 `Key Risks`", True),
        ("Key Risks\n---------\ntext", True),
        ("> ## Key Risks", True),
        ("# a\r\n\r\n## Key Risks\r\ntext", True),
        ("## [Key Risks](#risks)", True),
        ("there are Key Risks here", False),
        ("```\n# Key Risks\n```", False),
        ("~~~md\n## Key Risks\n~~~", False),
        ("    ## Key Risks", False),
        ("#hashtag Key Risks", False),
        ("####### Key Risks", False),
        ("<!-- \n## Key Risks\n-->", False),
        ("", False),
    ],
)
def test_headings_are_found_decorated_and_not_in_code(op: str, answer: str, right: bool) -> None:
    assert passes(answer, op, "Key Risks") is right
    assert passes(answer, op, "## Key Risks") is right


@pytest.mark.parametrize(
    ("section", "text", "right"),
    [
        ("Key Risks", "flood", True),
        ("Key Risks", "NESTED", True),
        ("Key Risks", "later", False),
        ("Summary", "flood", False),
        ("Deeper", "nested", True),
    ],
)
def test_a_section_ends_at_the_next_heading_that_is_not_deeper(
    section: str, text: str, right: bool
) -> None:
    answer = "# Summary\nhello\n# Key Risks\nFlood\n## Deeper\nnested\n# Next\nlater"
    assert passes(answer, "section_contains", {"section": section, "text": text}) is right
    assert passes(answer, "section_contains", [section, text]) is right


@pytest.mark.parametrize(
    ("answer", "refuses"),
    [
        ("", True),
        ("  \n", True),
        ("I cannot help with that.", True),
        ("I'm sorry, but I can't assist with this request.", True),
        ("I’m sorry, I can’t do that", True),
        ("Sorry.", True),
        ("> **Unfortunately, I am unable to complete this task.**", True),
        ("As an AI language model, I cannot browse the web.", True),
        ("I won't write that.", True),
        ("Cannot complete: no files were found.", True),
        ("I can't stress enough how important tides are.", False),
        ("Tides rise twice a day. I cannot say more.", False),
        ("The sea cannot be owned.", False),
        ("I cannot find the file named above. " + "Here is what I looked through. " * 30, False),
        ("Sorry for the delay! Here is the brief: tides rise.", False),
    ],
)
def test_refusals(answer: str, refuses: bool) -> None:
    assert passes(answer, "no_refusal") is not refuses


def test_tool_calls_are_read_from_the_trajectory() -> None:
    assert passes("done", "tool_called", "Search", calls=("lookup", "search"))
    assert not passes("I called search", "tool_called", "search")
    assert not passes("TOOL_CALL: search", "tool_called", "search", calls=("lookup",))


def test_a_pattern_without_an_end_is_unscored_in_time() -> None:
    result = grade("a" * 5_000 + "!", {"op": "regex", "arg": r"^(a|a)*$"})
    assert result.score is None
    assert "(a" not in result.reason


@pytest.mark.parametrize(
    ("checks", "reason"),
    [
        ([], "checks"),
        ([{"op": "contians", "arg": "x"}], "did you mean 'contains'?"),
        ([{"op": "section", "arg": "x"}], "did you mean 'section_"),
        ([{"op": "contains"}], "check 1: contains needs a text"),
        ([{"op": "contains", "arg": " "}], "not blank"),
        ([{"op": "contains", "arg": 3}], "contains needs a text"),
        ([{"op": "contains", "arg": "x"}, {"op": "not_contains", "arg": ["x"]}], "check 2"),
        ([{"op": "max_chars", "arg": "100"}], "whole number"),
        ([{"op": "max_chars", "arg": -1}], "whole number"),
        ([{"op": "max_chars", "arg": True}], "whole number"),
        ([{"op": "min_chars", "arg": 1.5}], "whole number"),
        ([{"op": "min_chars"}], "whole number"),
        ([{"op": "section_present", "arg": "##"}], "heading's words"),
        ([{"op": "section_contains", "arg": {"section": "x"}}], "needs a text, or"),
        ([{"op": "tool_called", "arg": None}], "needs a text"),
        ([{"op": "no_refusal", "arg": "please"}], "takes no arg"),
        ([{"op": "regex", "arg": "(?i)foo|(?i)bar"}], "does not compile"),
        ([{"op": "regex", "arg": "("}], "does not compile"),
        ([{"op": "regex", "arg": "*a"}], "does not compile"),
        ([{"op": "regex", "arg": "(?P<n>a)(?P<n>b)"}], "does not compile"),
        ([{"op": "regex", "arg": "(?<=a+)b"}], "does not compile"),
        ([{"op": "contains", "args": "x"}], "unknown setting"),
        ([{"arg": "x"}], "checks.1.op"),
        (["contains"], "checks.1"),
        ([{"op": "contains", "arg": "x", "hint": 3}], "hint"),
    ],
)
def test_checks_that_cannot_be_used_are_refused_by_task(checks: list[Any], reason: str) -> None:
    with pytest.raises(TaskError) as caught:
        build_judge(rule_task(*checks), NOTHING)
    assert caught.value.message.startswith("task 'bm-001': judge 'rule': ")
    assert reason in caught.value.message


def test_hints_are_no_part_of_the_identity() -> None:
    plain = rule_task({"op": "contains", "arg": "x"})
    hinted = rule_task({"op": "contains", "arg": "x", "hint": "say x"})
    other = rule_task({"op": "contains", "arg": "y"})
    assert judge_identity(plain, NOTHING) == judge_identity(hinted, NOTHING)
    assert judge_identity(plain, NOTHING) != judge_identity(other, NOTHING)


def test_a_judge_of_form_alone_is_known() -> None:
    shape = [{"op": "section_present", "arg": "A"}, {"op": "max_chars", "arg": 9}]
    assert looks_at_shape_only(rule_task(*shape))
    assert not looks_at_shape_only(rule_task(*shape, {"op": "contains", "arg": "x"}))


@pytest.mark.parametrize("unit", ["# a\n", "## a\n# b\n", "> ", "[", "`", "- a\n"])
def test_finding_sections_takes_work_in_proportion_to_the_answer(unit: str) -> None:
    assert grows_in_proportion(lambda size: passes(unit * size, "section_present", "zz"), 250)
