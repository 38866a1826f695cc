from __future__ import annotations

import pytest

from skillgit.config import parse_config
from skillgit.gate.guards import guard
from skillgit.gate.guards.leaks import leaks
from skillgit.records import JudgeSpec, Skill, SkillDocument, Split, Task

PROMPT = "Write a brief on tidal power in Wales, its sites, its costs and who builds it there."
CONFIG = """
[skill]
path = "SKILL.md"
[tasks]
path = "t.jsonl"
[target]
provider = "simulated"
model = "t"
[optimizer]
provider = "simulated"
model = "o"
"""


def task(
    task_id: str = "t1",
    *,
    checks: list[dict[str, str]] | None = None,
    reference: object = None,
    prompt: str = "Do it.",
    split: Split = Split.TRAIN,
) -> Task:
    judge = JudgeSpec(kind="rule", settings={"checks": checks or []})  # type: ignore[dict-item]
    return Task(id=task_id, prompt=prompt, judge=judge, reference=reference, split=split)  # type: ignore[arg-type]


def regex(arg: str) -> Task:
    return task(checks=[{"op": "regex", "arg": arg}])


@pytest.mark.parametrize("source", [r"[Cc]onfidence\s*[:=]", r"^Total: \d+$", r"(?i)foo|bar"])
def test_the_source_of_a_regex_check_is_a_leak(source: str) -> None:
    text = f"- Write something that matches `{source}`."
    assert leaks(text, [regex(source)]) == ["leak: the source of a regex check (task t1)"]


def test_a_pattern_without_its_flags_and_anchors_is_one_too() -> None:
    assert leaks(r"Match Total: \d+ somewhere.", [regex(r"(?i)^Total: \d+$")])


def test_what_other_checks_ask_for_is_no_leak() -> None:
    checks = [
        {"op": "contains", "arg": "## Key Risks"},
        {"op": "section_contains", "arg": "Summary"},
        {"op": "section_present", "arg": "Key Risks"},
        {"op": "max_chars", "arg": "2000"},
    ]
    text = 'Add "## Key Risks", with a Summary, in at most 2000 characters.'
    assert leaks(text, [task(checks=checks)]) == []


def test_a_regex_that_is_a_plain_word_is_no_leak() -> None:
    assert leaks("State your Confidence.", [regex("Confidence")]) == []


@pytest.mark.parametrize("reference", ["The Severn estuary", ["no", "Severn Estuary"], 48213])
def test_a_tasks_reference_is_a_leak(reference: object) -> None:
    text = "Always answer that it is the Severn  estuary, or 48213."
    assert leaks(text, [task(reference=reference, split=Split.VAL)]) == [
        "leak: the reference of task t1"
    ]


def test_part_of_a_word_is_no_reference() -> None:
    assert leaks("Be categorical.", [task(reference="categ")]) == []


def test_a_label_that_several_tasks_share_is_no_leak() -> None:
    tasks = [task(f"t{i}", reference="positive") for i in range(3)]
    assert leaks("Say positive or negative.", tasks) == []
    assert leaks("Say positive or negative.", tasks[:1]) != []


def test_yes_and_no_are_no_leak() -> None:
    assert leaks("Say yes or no, A or B.", [task(reference="yes"), task("b", reference="B")]) == []


def test_twelve_successive_words_of_a_train_task_are_a_leak() -> None:
    words = PROMPT.split()
    assert leaks("So: " + " ".join(words[2:14]).upper(), [task(prompt=PROMPT)]) == [
        "leak: 12 successive words of train task t1"
    ]
    assert leaks("So: " + " ".join(words[2:13]), [task(prompt=PROMPT)]) == []


def test_words_of_a_val_task_or_of_a_template_are_not_quoted() -> None:
    assert leaks(PROMPT, [task(prompt=PROMPT, split=Split.VAL)]) == []
    tasks = [task(f"t{i}", prompt=f"{PROMPT} Number {i}.") for i in range(4)]
    assert leaks(PROMPT, tasks) == []


def skill(text: str) -> Skill:
    return Skill(name="s", documents=(SkillDocument(path="SKILL.md", data=text.encode()),))


def test_only_what_is_new_is_marked() -> None:
    old, new = skill(r"Match `\d+ days`."), skill(r"Match `\d+ days` and `\d+ weeks`.")
    tasks = [regex(r"\d+ days"), regex(r"\d+ weeks").model_copy(update={"id": "t2"})]
    found = guard(new, old, tasks, parse_config(CONFIG))
    assert found.warnings == ("leak: the source of a regex check (task t2)",)
    assert found.refusals == ()


def test_the_setting_makes_it_a_refusal() -> None:
    config = parse_config(CONFIG + '[gate]\nleak = "reject"\n')
    found = guard(skill(r"\d+ weeks"), skill(""), [regex(r"\d+ weeks")], config)
    assert len(found.refusals) == 1
    assert found.warnings == ()
