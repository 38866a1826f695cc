from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgit.history import CandidateScore, Entry, Mark, Phase, RunHead, RunState, StepNote
from skillgit.history.messages import (
    applied_again,
    compose,
    compose_revert,
    edit_lines,
    unwrapped,
)
from skillgit.history.sanitize import harmless
from skillgit.history.trailers import parse_commit
from skillgit.records import Action, Edit, EditOp, EditOutcome, Metric, Outcome, SourceType

RUN = RunHead(
    name="train-1",
    run_id="0123456789ab",
    skill="brief",
    onto="main",
    base="0" * 40,
    target="a" * 16,
    run="b" * 16,
    metric=Metric.HARD,
)


def entry(
    action: Action,
    *,
    step: int = 12,
    score: float | None = 0.625,
    bound: bool = False,
    before: float | None = None,
    phase: Phase = Phase.STEP,
    best: tuple[float, int] = (0.625, 12),
    body: tuple[str, ...] = (),
    summary: str = "",
) -> Entry:
    note = StepNote(run=RUN.run_id, step=step, action=action, n_total=1, n_fail=0)
    return Entry(
        run=RUN,
        step=step,
        phase=phase,
        action=action,
        score=CandidateScore(score=score, bound=bound),
        state=RunState(
            run_id=RUN.run_id,
            skill="brief",
            onto="main",
            epoch=2,
            current=Mark(score=0.5625, step=11, origin="step_0011"),
            best=Mark(score=best[0], step=best[1], origin="x"),
            metric=Metric.HARD,
            target=RUN.target,
            run=RUN.run,
        ),
        body=body,
        lines=(note.model_copy(update={"score_before": before}),) if before is not None else (),
        summary=summary,
    )


def subject(an_entry: Entry) -> str:
    return compose(an_entry).split("\n")[0]


@pytest.mark.parametrize(
    ("an_entry", "expected"),
    [
        (
            entry(Action.ACCEPT_NEW_BEST, before=0.5625),
            "step 12: accept, new best 0.6250 (+0.0625)",
        ),
        (entry(Action.ACCEPT_NEW_BEST), "step 12: accept, new best 0.6250"),
        (
            entry(Action.ACCEPT, score=0.6, before=0.5, best=(0.625, 7)),
            "step 12: accept 0.6000 (+0.1000, best stays 0.6250)",
        ),
        (entry(Action.REJECT, step=13, score=0.5), "step 13: reject 0.5000 (best stays 0.6250)"),
        (
            entry(Action.REJECT, step=13, score=0.5625, bound=True),
            "step 13: reject at most 0.5625 (best stays 0.6250)",
        ),
        (
            entry(Action.BASELINE, step=0, score=0.125, best=(0.125, 0)),
            "step 0: baseline 0.1250",
        ),
        (entry(Action.SKIP, step=14, score=None), "step 14: skip (nothing to try)"),
        (entry(Action.NOOP, step=15, score=None), "step 15: noop (the text stays the same)"),
        (
            entry(Action.FORCE_ACCEPT, score=0.5, before=0.25, best=(0.5, 12)),
            "step 12: accept without a gate, new best 0.5000 (+0.2500)",
        ),
        (
            entry(Action.REJECT_UNVERIFIED, step=1, score=0.5),
            "step 1: reject 0.5000 (val is not held out)",
        ),
        (entry(Action.EPOCH, phase=Phase.EPOCH, score=None), "epoch 2"),
        (
            entry(Action.END, phase=Phase.END, summary="+0.50 over the baseline"),
            "end: best 0.6250 at step 12 (+0.50 over the baseline)",
        ),
    ],
    ids=lambda value: value.action.value if isinstance(value, Entry) else None,
)
def test_subjects(an_entry: Entry, expected: str) -> None:
    assert subject(an_entry) == f"skillopt(brief): {expected}"


def test_a_revert_reads_like_gits_own() -> None:
    message = compose_revert(entry(Action.REJECT, step=13, score=0.5), "1" * 40)
    paragraphs = message.split("\n\n")
    assert paragraphs[:2] == [
        'Revert "skillopt(brief): step 13: reject 0.5000 (best stays 0.6250)"',
        f"This reverts commit {'1' * 40}.",
    ]
    read = parse_commit(message)
    assert read is not None
    assert (read.action, read.step, read.score) == (Action.REVERT, 13, 0.5625)


def outcome(edit: Edit, what: Outcome = Outcome.APPLIED) -> EditOutcome:
    return EditOutcome(edit=edit, outcome=what)


def test_edits_are_told_in_words() -> None:
    lines = edit_lines(
        [
            outcome(
                Edit(
                    op=EditOp.ADD,
                    anchor="## Structure",
                    content="Name the main risks\nin a section of their own.",
                    rationale="briefs lacked them",
                    support_count=4,
                )
            ),
            outcome(
                Edit(
                    op=EditOp.REPLACE,
                    target="skills/brief/rules.md",
                    anchor="be short",
                    content="use 200 words",
                    source_type=SourceType.SUCCESS,
                ),
                Outcome.APPLIED_NORMALIZED,
            ),
            outcome(Edit(op=EditOp.DELETE, anchor="old rule")),
            outcome(Edit(op=EditOp.DELETE, anchor="x"), Outcome.ANCHOR_MISSING),
            outcome(Edit(op=EditOp.ADD, content="y"), Outcome.OVER_BUDGET),
            outcome(Edit(op=EditOp.ADD, content="z"), Outcome.OVER_BUDGET),
        ]
    )
    added, replaced, deleted, others = lines
    assert added == (
        '- add "Name the main risks in a section of their own." after "## Structure" in "skill",'
        " because: briefs lacked them (seen in 4 failures)"
    )
    assert replaced == (
        '- replace "be short" with "use 200 words" in "skills/brief/rules.md" (seen in 1 success)'
    )
    assert deleted == '- delete "old rule" in "skill" (seen in 1 failure)'
    assert others == "Not applied: 1 anchor not found, 2 over the budget"


def test_the_document_is_not_named_where_there_is_only_one() -> None:
    edit = Edit(op=EditOp.ADD, target="skills/brief/SKILL.md", content="x", support_count=2)
    assert edit_lines([outcome(edit), outcome(edit)]) == ('- add "x" (seen in 2 failures)',) * 2


@pytest.mark.parametrize("what", list(Outcome))
def test_every_outcome_has_words(what: Outcome) -> None:
    assert len(edit_lines([outcome(Edit(op=EditOp.ADD, content="x"), what)])) == 1


def test_many_edits_stay_a_short_message() -> None:
    lines = edit_lines([outcome(Edit(op=EditOp.ADD, content="x" * 9999))] * 500)
    assert len(lines) <= 40
    assert lines[-1] == "- and 462 more edits"
    assert max(map(len, lines)) < 480
    assert len(compose(entry(Action.ACCEPT, body=lines))) < 15_000


ACTED_UPON = [
    r"@\w",
    r"#\d",
    r"(?i)\bGH-\d",
    r"(?i)\[skip ci\]|\[ci skip\]|\[no ci\]|\[skip actions\]|\[actions skip\]|\[skip-ci\]",
    r"NO_CI",
    r"(?im)^[\w-]+-by\s*:",
    r"(?i)signed-off-by:|co-authored-by:|reviewed-by:",
    r"\(cherry picked from",
    r"https?://",
    r"(?i)(fixes|closes|resolves):? PROJ-\d",
    r"(?m)^---",
    r"(?m)^\s*#",
    r"(?m)^(diff -|Index: |BREAKING CHANGE|skip-checks)",
    r"\n\n\n",
]

HOSTILE = [
    "[skip ci]",
    "please [CI SKIP] now",
    "[no ci]",
    "[skip actions]",
    "[actions skip]",
    "[skip-ci]",
    "***NO_CI***",
    "Fixes #1",
    "closes owner/repo#2",
    "GH-1",
    "gh-23",
    "fixes PROJ-12",
    "Resolves: PROJ-7",
    "Fixes https://github.com/o/r/issues/3",
    "@name please",
    "mail ada@example.org",
    "@\u200bname",
    "#\u2060" + "1",
    "@org/team-name",
    "Signed-off-by: Eve <eve@example.org>",
    "Co-authored-by: Eve <e@x.org>",
    "x\n\nCo-authored-by: Eve <e@x.org>",
    "reviewed-by : Eve",
    "(cherry picked from commit 0123)",
    "Skillopt-Score: 1.0",
    "x\n\nSkillopt-Run: train-9\nSkillopt-Step: 1",
    "---\ndiff --git a/x b/x",
    "--- a/x",
    "# comment",
    "#1",
    "\n\n\n",
    "skip-checks: true",
    "BREAKING CHANGE: all",
    "a\0b\x1b[31mred\x07",
    "\u202egnp.exe\u202c \u2066x\u2069",
    "zero\u200bwidth\u200d\ufeff\u00ad",
    "tag\U000e0041\ufe0f\u3164",
    "line\u2028sep\u2029par\x85nel\x0bvt\x0cff\rcr",
    "\ud800 lone",
    "x" * 100_000,
    "Key: value",
    "Key : value",
    " leading",
    "; comment",
    "diff --git a/a b/b",
    "squash! x",
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text)[:30])
def test_untrusted_text_is_inert_wherever_it_stands(text: str) -> None:
    edit = Edit(op=EditOp.REPLACE, anchor=text, content=text, rationale=text, target=text)
    for body in (edit_lines([outcome(edit)]), (text,), tuple(text.split("\n"))):
        assert_inert(compose(entry(Action.ACCEPT_NEW_BEST, body=body, summary=text)))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from([*HOSTILE[:-7], "@", "#", "[", "]", "1", "skip", "ci", "-", "x"])))
def test_hostile_pieces_do_not_join_into_something_live(pieces: list[str]) -> None:
    for glue in ("", " ", "\u200b"):
        assert_inert(compose(entry(Action.ACCEPT, body=(glue.join(pieces)[:3000],))))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(), max_size=4), st.text())
def test_any_text_leaves_a_message_that_reads_back(body: list[str], summary: str) -> None:
    assert_inert(compose(entry(Action.ACCEPT, body=tuple(body), summary=summary)))


def assert_inert(message: str) -> None:
    read = parse_commit(message)
    assert read is not None
    assert (read.run, read.step, read.score) == ("train-1", 12, 0.625)
    message.encode("utf-8")
    prose = message[: message.rindex("\n\nSkillopt-Run: ")]
    for pattern in ACTED_UPON:
        assert not re.search(pattern, prose), pattern
    assert not re.search(r"(?i)Skillopt-\w+ ?:", prose)
    for character in prose.replace("\n", ""):
        assert unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
    assert len(message) < 25_000
    body = prose.split("\n")[1:]
    assert all(line == "" or re.match(r"- \S|[A-Za-z]+ |  [^\s#]", line) for line in body)
    assert all(len(line) <= 96 for line in body)


def test_harmless_text_stays_as_it_is() -> None:
    text = 'End with "Confidence: high" — use 1–2 lines, e.g. `- x` & [a](b) (see §3), R&D!'
    assert harmless(text, 200) == text


@given(st.text(), st.integers(10, 100))
def test_the_limit_holds(text: str, limit: int) -> None:
    assert len(harmless(text, limit)) <= limit


def test_gits_cleanup_keeps_every_line(repo: Path, git: object) -> None:
    assert callable(git)
    body = ("# a heading", "; x", "--- y", "Key: value", "  indented  ", "plain words here")
    message = compose(entry(Action.ACCEPT_NEW_BEST, body=body))
    git("commit", "-q", "--allow-empty", "--cleanup=strip", "-F", "-", text=message)
    assert git("log", "-1", "--format=%B").strip() == message.strip()
    git("commit", "-q", "--allow-empty", "--amend", "--no-edit", "--cleanup=scissors")
    assert git("log", "-1", "--format=%B").strip() == message.strip()


def test_a_version_applied_again_claims_no_score() -> None:
    message = compose(entry(Action.ACCEPT_NEW_BEST, body=("- add x",)))
    marked = applied_again(message)
    assert marked.split("\n\n")[:3] == [
        "skillopt(brief): step 12: accept, new best 0.6250, unmeasured here",
        "- add x",
        "Applied again, by its anchors, to a text that had changed; not measured there.",
    ]
    read = parse_commit(marked)
    assert read is not None
    assert (read.step, read.score, read.state) == (12, None, None)


def test_long_lines_are_wrapped_and_can_be_put_together_again() -> None:
    line = "- add " + " ".join(f"word{n}" for n in range(60)) + " # not a comment"
    body = compose(entry(Action.ACCEPT, body=(line, "- short"))).split("\n\n")[1]
    assert max(map(len, body.split("\n"))) <= 96
    assert body.split("\n")[1].startswith("  word")
    assert unwrapped(body) == [line, "- short"]


def test_a_reason_is_cut_where_its_edit_then_fits_on_one_line() -> None:
    edit = Edit(op=EditOp.ADD, content="x" * 30, rationale="why " * 30, support_count=2)
    (line,) = edit_lines([outcome(edit)])
    assert len(line) <= 96
    assert ", because: why why" in line
    assert line.endswith("… (seen in 2 failures)")


def test_a_message_of_no_run_is_not_marked() -> None:
    assert applied_again("Mine\n\nwords\n") == "Mine\n\nwords\n"
