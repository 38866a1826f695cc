from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from skillgit.errors import RepositoryError
from skillgit.history import CandidateScore, Entry, Mark, Phase, RunHead, RunState
from skillgit.history.messages import compose, compose_revert
from skillgit.history.trailers import (
    ParsedTrailers,
    epoch_named,
    format_trailers,
    parse_commit,
    parse_state,
    quoted_commits,
    score_text,
    skill_named,
    state_text,
    without_state,
)
from skillgit.records import Action, Metric

SCORES = st.one_of(
    st.just(CandidateScore(score=None)),
    st.builds(CandidateScore, score=st.floats(0, 1), bound=st.booleans()),
)
LOOKALIKES = st.sampled_from(
    [
        "---",
        "--- a/SKILL.md",
        "Signed-off-by: Ada <ada@example.org>",
        "Skillopt-Score: 1.0",
        "Skillopt-State: {}",
        "(cherry picked from commit 0123456789)",
        "# a comment",
        "; another",
        " a continuation",
        "Key: value",
        "",
        "x" * 5000,
        "diff --git a/x b/x",
        "Скилл: значение – ✓",
        "a\u2028b\x85c\x0bd",
    ]
)
BODIES = st.lists(st.one_of(LOOKALIKES, st.text(max_size=40)), max_size=6)


def state(**changes: object) -> RunState:
    return RunState.model_validate(
        {
            "run_id": "0123456789ab",
            "skill": "brief",
            "onto": "main",
            "epoch": 1,
            "current": {"score": 0.5625, "step": 11, "origin": "step_0011"},
            "best": {"score": 0.625, "step": 12, "origin": "step_0012"},
            "metric": "hard",
            "target": "a" * 16,
            "run": "b" * 16,
            **changes,
        }
    )


def entry(
    *body: str, score: CandidateScore | None = None, action: Action = Action.ACCEPT_NEW_BEST
) -> Entry:
    a_state = state()
    return Entry(
        run=RunHead(
            name="train-1",
            run_id=a_state.run_id,
            skill="brief",
            onto="main",
            base="0" * 40,
            target=a_state.target,
            run=a_state.run,
            metric=Metric.HARD,
        ),
        step=12,
        phase=Phase.STEP,
        action=action,
        score=score or CandidateScore(score=0.625),
        state=a_state,
        body=body,
    )


def parsed(message: str) -> ParsedTrailers:
    found = parse_commit(message)
    assert found is not None
    return found


def before_the_header(message: str) -> str:
    """A message as runs made before wrote it, with the state as its last trailer."""
    return f"{message.rstrip()}\nSkillopt-State: {state_text(state())}\n"


def gits_trailers(message: str, *options: str) -> list[str]:
    done = subprocess.run(
        ["git", "interpret-trailers", "--parse", *options],
        input=message.encode(),
        capture_output=True,
        check=True,
    )
    return done.stdout.decode().rstrip("\n").split("\n")


def test_the_paragraph_reads_as_designed() -> None:
    text = format_trailers("train-1", 12, Action.ACCEPT_NEW_BEST, CandidateScore(score=0.625))
    assert text.split("\n") == [
        "Skillopt-Run: train-1",
        "Skillopt-Step: 12",
        "Skillopt-Action: accept_new_best",
        "Skillopt-Score: 0.625",
    ]


@pytest.mark.parametrize(
    ("score", "bound", "text"),
    [
        (0.625, False, "0.625"),
        (0.5625, True, "<=0.5625"),
        (None, False, "unmeasured"),
        (0.0, False, "0.0"),
        (0.1 + 0.2, False, "0.30000000000000004"),
        (1 / 3, False, "0.3333333333333333"),
        (1e-07, False, "1e-07"),
    ],
)
def test_scores_are_exact(score: float | None, bound: bool, text: str) -> None:
    written = CandidateScore(score=score, bound=bound)
    assert score_text(written) == text
    read = parsed(compose(entry(score=written)))
    assert (read.score, read.bound) == (score, bound)


@given(score=SCORES, step=st.integers(0, 10**6), action=st.sampled_from(list(Action)))
def test_what_is_written_is_read(score: CandidateScore, step: int, action: Action) -> None:
    text = format_trailers("train-1", step, action, score)
    assert parsed(f"subject\n\n{text}\n") == ParsedTrailers(
        run="train-1",
        step=step,
        action=action,
        score=score.score,
        bound=score.bound if score.score is not None else False,
    )


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(body=BODIES, score=SCORES)
@example(body=["---"], score=CandidateScore(score=None))
def test_git_and_we_agree_on_every_body(body: list[str], score: CandidateScore) -> None:
    message = compose(entry(*body, score=score))
    read = parsed(message)
    assert read.state is None
    assert gits_trailers(message) == format_trailers(
        read.run,
        read.step,
        read.action,
        CandidateScore(score=read.score, bound=read.bound),
    ).split("\n")


def test_git_log_agrees(repo: Path, git: object) -> None:
    assert callable(git)
    messages = [
        compose(entry("- add x", score=CandidateScore(score=0.1 + 0.2))),
        compose(entry("Key: value", score=CandidateScore(score=0.5625, bound=True))),
        compose(entry(score=CandidateScore(score=None))),
        compose_revert(entry(action=Action.REJECT), "1" * 40),
    ]
    for message in messages:
        git("commit", "-q", "--allow-empty", "--cleanup=strip", "-F", "-", text=message)
    log = git("log", "--reverse", "--format=%(trailers:key=Skillopt-Score,valueonly,separator=)")
    read = [parsed(m) for m in messages]
    assert log.split() == [score_text(CandidateScore(score=r.score, bound=r.bound)) for r in read]
    kept = git("log", "--reverse", "--format=%B%x00").split("\0\n")[:-1]
    assert [m.strip() for m in kept] == [m.strip() for m in messages]


@pytest.mark.parametrize(
    "message",
    [
        "",
        "Fix a typo",
        "Fix\n\nSigned-off-by: Ada <a@example.org>\n",
        "Skillopt-Run: train-1",
        "subject\n\nSkillopt-Run: train-1\nSkillopt-Step: 1\n",
        "subject\n\nSkillopt-Run: train-1\n\nA last paragraph.\n",
        "\n\n\n",
    ],
)
def test_a_foreign_commit_is_none(message: str) -> None:
    assert parse_commit(message) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Skillopt-Score: 0.625", "Skillopt-Score: nan"),
        ("Skillopt-Score: 0.625", "Skillopt-Score: 0_625"),
        ("Skillopt-Score: 0.625", "Skillopt-Score: "),
        ("Skillopt-Step: 12", "Skillopt-Step: -1"),
        ("Skillopt-Step: 12", "Skillopt-Step: \u0661"),
        ("Skillopt-Action: accept_new_best", "Skillopt-Action: accepted"),
        ('Skillopt-State: {"best"', 'Skillopt-State: {"worst"'),
        ('Skillopt-State: {"best"', "Skillopt-State: " + "[" * 50_000),
        ("Skillopt-Step: 12", "Skillopt-Step: 12\nSkillopt-Step: 13"),
    ],
)
def test_a_damaged_commit_is_none(old: str, new: str) -> None:
    message = before_the_header(compose(entry()))
    assert old in message
    assert parse_commit(message.replace(old, new)) is None


def test_a_newer_format_is_an_error() -> None:
    newer = before_the_header(compose(entry())).replace('"v":1', '"new":true,"v":2')
    with pytest.raises(RepositoryError, match="format 2") as caught:
        parse_commit(newer)
    assert "upgrade" in caught.value.hint


@pytest.mark.parametrize(
    "touch",
    [
        lambda m: m + "Signed-off-by: Ada Tester <ada@example.org>\n",
        lambda m: m + "(cherry picked from commit " + "0" * 40 + ")\n",
        lambda m: m.replace("\n", "\r\n"),
        lambda m: m.rstrip("\n"),
        lambda m: m + "\n\n \n",
        lambda m: m.replace("Skillopt-Step: 12", "skillopt-step :  12"),
        lambda m: m.replace(',"run_id"', ',\n "run_id"'),
        lambda m: m + "Change-Id: I0123\n",
        lambda m: m + "# a comment\n",
    ],
)
def test_a_commit_touched_later_is_still_read_as_git_does(touch: object) -> None:
    assert callable(touch)
    message = touch(before_the_header(compose(entry())))
    assert parsed(message) == parsed(before_the_header(compose(entry())))
    touched = touch(compose(entry()))
    assert parsed(touched) == parsed(compose(entry()))
    assert [line for line in gits_trailers(message) if line.lower().startswith("skillopt-")] != []


TOUCHES = st.sampled_from(
    [
        "",
        " ",
        "# a comment",
        "#Skillopt-Run: train-9",
        " continued",
        "Signed-off-by: Ada <ada@example.org>",
        "(cherry picked from commit 0123)",
        "words of a person",
        "Key: value",
        "Skillopt-Step: 13",
        ": x",
    ]
)


@settings(max_examples=100, deadline=None)
@given(touches=st.lists(st.tuples(st.integers(0, 8), TOUCHES), max_size=4))
def test_git_and_we_agree_on_messages_that_others_touched(touches: list[tuple[int, str]]) -> None:
    lines = before_the_header(compose(entry("- add x"))).split("\n")
    for place, line in touches:
        lines.insert(place + 3, line)
    message = "\n".join(lines)
    seen = [line for line in gits_trailers(message, "--no-divider") if "Skillopt-" in line]
    clean = "subject\n\n" + "\n".join(sorted(seen, key=_usual_place)) + "\n"
    assert parse_commit(message) == (parse_commit(clean) if _is_whole(seen) else None)


def _is_whole(seen: list[str]) -> bool:
    """Whether each trailer stands there once; only the state may be missing."""
    places = sorted(map(_usual_place, seen))
    return places in ([0, 1, 2, 3], [0, 1, 2, 3, 4])


def _usual_place(line: str) -> int:
    order = ("Skillopt-Run", "Skillopt-Step", "Skillopt-Action", "Skillopt-Score", "Skillopt-State")
    return order.index(line.partition(":")[0])


def test_marks_keep_not_measured_apart_from_zero() -> None:
    unmeasured = state(current=Mark(score=None, step=0, origin="initial_skill").model_dump())
    zero = state(current=Mark(score=0.0, step=0, origin="initial_skill").model_dump())
    read = [parse_state(state_text(s)) for s in (unmeasured, zero)]
    assert [s and s.current.score for s in read] == [None, 0.0]


def test_a_state_is_one_line_that_is_read_back() -> None:
    written = state(onto="a\u2028b\nтема")
    text = state_text(written)
    assert len(text.splitlines()) == 1 or "\n" not in text
    assert parse_state(text) == written
    assert parse_state("{}") is None


def test_the_state_of_runs_made_before_is_read_and_can_be_left_out() -> None:
    message = before_the_header(compose(entry("- add x")))
    assert parsed(message).state == state()
    assert without_state(message) == compose(entry("- add x"))
    assert without_state("Mine\n\nSkillopt-State: {}\n") == "Mine\n\nSkillopt-State: {}\n"


def test_a_squash_quotes_versions_of_both_kinds() -> None:
    new, old = compose(entry("- add x")), before_the_header(compose(entry("- add y")))
    quoted = "\n".join(f"    {line}" for line in f"{new}\ncommit 2\n\n{old}".split("\n"))
    found = quoted_commits(f"Squashed commit of the following:\n\n{quoted}")
    assert [(q.step, q.state) for q in found] == [(12, None), (12, state())]


def test_subjects_name_the_skill_and_the_epoch() -> None:
    assert skill_named(compose(entry())) == "brief"
    assert skill_named(compose_revert(entry(action=Action.REJECT), "1" * 40)) == "brief"
    assert skill_named("Fix a typo") is None
    assert epoch_named("skillopt(brief): epoch 2 (new guidance)\n") == 2
    assert epoch_named("skillopt(brief): step 2: accept 0.5") is None
