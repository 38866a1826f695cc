"""Rules are recognised in natural lines, and what follows them passes the checks they are for."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.config import SimulationConfig
from skillgit.models.simulated.drafts import canned_draft
from skillgit.models.simulated.obedience import follow, obeyed, rules_of_line, stated_rules

TASK = "Write a research brief on heat pumps in listed buildings."
WHOLLY = SimulationConfig(obedience=1.0)


def written(skill: str, task: str = TASK, config: SimulationConfig = WHOLLY, seed: int = 1) -> str:
    return follow(canned_draft(task), obeyed(skill, task, seed, "fresh", config))


FOLLOWED = [
    ('Always include a "Key Risks" section.', r"(?m)^## Key Risks$"),
    ('Add a section headed "## Key Risks".', r"(?m)^## Key Risks$"),
    ("Every brief has a `### Next Steps` section.", r"(?m)^### Next Steps$"),
    ("Include a Key Risks section.", r"(?m)^## Key Risks$"),
    ('In the "## Risks" section, mention "owner".', r"## Risks\n- owner"),
    ('End with a line "Confidence: high".', r"(?m)^Confidence: high$"),
    ("End with `Confidence: <low|medium|high>`.", r"(?m)^Confidence: high$"),
    ("Close every brief with a confidence line.", r"[Cc]onfidence\s*[:=]"),
    ('Finish with the line "Written by the office"', r"Written by the office\Z"),
    ('Begin with "Dear reader"', r"\ADear reader"),
    ("Start with a TL;DR line.", r"(?m)^TL;DR: "),
    ("Never use commas.", r"\A[^,]*\Z"),
    ("Write without commas", r"\A[^,]*\Z"),
    ("Write dates in ISO format.", r"\d{4}-\d\d-\d\d"),
    ("Dates are written as YYYY-MM-DD.", r"(?s)\A(?!.*\d/\d\d/\d{4})"),
    ("Keep every answer under 40 words.", r"\A\S+(?:\s+\S+){0,39}\s*\Z"),
    ("Never write more than 40 words.", r"\A\S+(?:\s+\S+){0,39}\s*\Z"),
    ("Keep every answer under five words.", r"\A\S+(?:\s+\S+){0,4}\Z"),
    ("Write at least 250 words.", r"\A\S+(?:\s+\S+){249,}\Z"),
    ("Use no more than 2 sentences.", r"\A[^.!]*[.!][^.!]*[.!]\s*\Z"),
    ("Write at least 14 sentences.", r"\A(?:[^.!]*[.!]){14}"),
    ("Write 300+ words.", r"\A\S+(?:\s+\S+){299,}\Z"),
    ("Answer in 30 words or fewer.", r"\A\S+(?:\s+\S+){0,29}\s*\Z"),
    ("No capital letters are allowed.", r"\A[^A-Z]*\Z"),
    ("Refrain from using commas.", r"\A[^,]*\Z"),
    ('The word "very" must not appear.', r"(?s)\A(?!.*\bvery\b)"),
    ("Write in 3 paragraphs.", r"\A[^\n]+(?:\n\n[^\n]+){2}\Z"),
    ("Write everything in lower case.", r"\A[^A-Z]*\Z"),
    ("The entire answer is in capital letters.", r"\A[^a-z]*\Z"),
    ('Use the word "URGENT" in capital letters.', r"\bURGENT\b"),
    ("Put a title in <<double angle brackets>>.", r"<<[^>\n]+>>"),
    ("Use at least 4 bullet points.", r"(?m)(?:^- .*\n?){4}"),
    ("Leave at least 2 placeholders in square brackets.", r"(?s)\[[^\]]+\].*\[[^\]]+\]"),
    ("Highlight at least 3 phrases with *asterisks*.", r"(?s)(?:\*[^*\n]+\*.*){3}"),
    ("Wrap the whole answer in double quotation marks.", r'(?s)\A".*"\Z'),
    ('Avoid the word "utilized".', r"(?s)\A(?!.*utilized)"),
    ('Never say "very".', r"(?s)\A(?!.*\bvery\b)"),
    ('Mention the phrase "as of today".', r"as of today"),
    ("Do not use the first person.", r"(?s)\A(?!.*\b(?:I|[Ww]e)\b)"),
    ("Do not use exclamation marks.", r"\A[^!]*\Z"),
    ("Cite at least one source.", r"(?m)^Source: "),
    ("Add a postscript (P.S.).", r"(?m)^P\.S\. "),
    ("Sign off with kind regards.", r"Kind regards\Z"),
    ("Give distances in metric units.", r"kilometres"),
]


@pytest.mark.parametrize(("line", "pattern"), FOLLOWED)
def test_a_rule_in_the_skill_is_followed_and_without_it_the_check_fails(
    line: str, pattern: str
) -> None:
    assert re.search(pattern, written(f"# Skill\n\n- {line}\n"))
    assert not re.search(pattern, written("# Skill\n\n- Be clear.\n"))


@pytest.mark.parametrize(
    "line",
    [
        'Do not add a "Key Risks" section.',
        'Never end with "Hope this helps".',
        "Be clear and friendly.",
        "Write a brief on the subject in plain words.",
        "Put the most important point first.",
        "## Key Risks",
    ],
)
def test_a_line_that_asks_for_nothing_known_changes_nothing(line: str) -> None:
    assert written(line) == written("")


def test_frontmatter_and_fences_state_no_rule() -> None:
    skill = "---\nname: x\ndescription: never use commas\n---\n```\nNever use commas.\n```\n"
    assert stated_rules(skill) == ()


def test_json_is_one_object() -> None:
    assert set(json.loads(written("Return valid JSON only."))) == {"answer"}


def test_a_rule_for_one_kind_of_task_leaves_the_others_alone() -> None:
    skill = '- In release notes, add a section headed "## Upgrade".\n'
    assert "## Upgrade" in written(skill, "Write a release note for the tide tables 4.4.")
    assert "## Upgrade" not in written(skill)


def test_rules_that_contradict_each_other_really_do() -> None:
    skill = '- Use the word "URGENT" in capital letters.\n- Write everything in lower case.\n'
    assert "URGENT" not in written(skill)
    assert "urgent" in written(skill)


def test_two_skills_that_state_a_rule_in_other_words_share_its_luck() -> None:
    half = SimulationConfig(obedience=0.5)
    one = '- Add a section headed "## Key Risks".\n'
    other = '# Other\n\n- Be brief.\n- Always include a "Key Risks" section.\n'
    for seed in range(40):
        shares = {
            "## Key Risks" in written(skill, config=half, seed=seed) for skill in (one, other)
        }
        assert len(shares) == 1


def test_obedience_is_a_share_of_seeds() -> None:
    kept = sum(
        "," not in written("No commas.", config=SimulationConfig(obedience=0.7), seed=seed)
        for seed in range(400)
    )
    assert 0.6 < kept / 400 < 0.8


def test_long_skills_are_forgotten_and_short_ones_are_not() -> None:
    forgetful = SimulationConfig(obedience=1.0, forgetting=1.0)
    rule = "- Never use commas.\n"
    assert "," not in written(rule, config=forgetful)
    assert "," in written(rule + "word " * 3000, config=forgetful)


@given(st.text(max_size=200))
def test_any_line_can_be_read_and_followed(line: str) -> None:
    rules_of_line(line)
    assert isinstance(written(line), str)
