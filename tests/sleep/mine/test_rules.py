"""Rules that a person typed outright, and the checks made of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from work import grows_in_proportion

from skillgit.judges import JudgeResources, build_judge
from skillgit.records import JudgeSpec, Rollout, Split, Task
from skillgit.sleep.mine.rules import checks_in, typed_rules


@pytest.mark.parametrize(
    "text",
    [
        "always use uv here",
        "Please always use uv in this repo.",
        "From now on, write commit messages in the imperative",
        "never commit to main",
        "you should always run the formatter",
        "don't use print, use the logger",
        "Do not add comments to generated code",
        "prefer pathlib over os.path",
        "use pytest instead of unittest",
        "use pnpm, not npm",
        "we always squash commits",
        "avoid abbreviations in names",
        "no, never touch the lock file",
        "make sure to update the changelog",
        "remember to bump the version",
    ],
)
def test_a_rule(text: str) -> None:
    assert [rule.text for rule in typed_rules(text)]


@pytest.mark.parametrize(
    "text",
    [
        "why do you always use pip?",
        "should I always use uv?",
        "it never works",
        "The build always fails on Mondays",
        "never mind",
        "I don't know",
        "don't worry about it",
        "I never said that",
        "add a test for the parser",
        "```\nalways use uv here\n```",
        'He said "always use uv here" to me',
        "> always use uv here",
        "",
    ],
)
def test_no_rule(text: str) -> None:
    assert typed_rules(text) == ()


@pytest.mark.parametrize(
    ("text", "good", "bad"),
    [
        ("always use uv here", "uv run pytest", "the output of pip"),
        ("use pytest instead of unittest", "pytest -q", "python -m unittest"),
        ("use pnpm, not npm", "pnpm install", "npm install"),
        ("never use print", "log.info(x)", "then print it"),
        ("don't use `os.path` here", "Path(x)", "os.path.join"),
        ("prefer pathlib over os.path", "from pathlib import Path", "os.path"),
        ("always include a `## Risks` section", "## Risks\nnone", "nothing"),
        ("never write TODO", "done", "a TODO"),
    ],
)
def test_a_rule_that_names_something_becomes_a_check(text: str, good: str, bad: str) -> None:
    checks = checks_in(text)
    task = Task(
        id="t", prompt="p", split=Split.TRAIN,
        judge=JudgeSpec(kind="rule", settings={"checks": list(checks)}),
    )  # fmt: skip
    judge = build_judge(task, JudgeResources())

    def passes(answer: str) -> bool:
        return judge.grade(Rollout(task_id="t", answer=answer), None, "").passed  # type: ignore[arg-type]

    assert passes(good)
    assert not passes(bad)
    assert all(check["hint"] == text for check in checks)


def test_a_rule_that_names_nothing_has_no_check() -> None:
    assert checks_in("always be brief and clear") == ()
    for text in (
        "use this instead of that",
        "use bullet points instead of a table",
        "use bullets, not tables",
        "don't use emojis",
        "never add comments",
        "use tabs instead of spaces",
        "always write tests",
        "prefer composition over inheritance",
    ):
        assert checks_in(text) == (), text


@given(st.text(max_size=200))
def test_nothing_raises(text: str) -> None:
    typed_rules(text)


@pytest.mark.parametrize("unit", ["always ", "use x instead ", "use ", "a."])
def test_rules_are_found_with_work_in_proportion_to_the_text(unit: str) -> None:
    assert grows_in_proportion(lambda size: typed_rules(unit * size), 1_000)
