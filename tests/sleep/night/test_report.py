from __future__ import annotations

from datetime import UTC, datetime

from skillgit.records import Action, EditOp
from skillgit.sleep.memory.state import EditRecord
from skillgit.sleep.night.report import SleepReport

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def record(
    target: str, content: str, why: str = "", op: str = "add", anchor: str = ""
) -> EditRecord:
    return EditRecord(op=EditOp(op), target=target, content=content, rationale=why, anchor=anchor)


def test_the_report_is_the_agreed_text() -> None:
    report = SleepReport(
        night=7,
        project="/p",
        started_at=NOW,
        ended_at=NOW,
        baseline_score=0.5,
        candidate_score=2 / 3,
        accepted=True,
        gate_action=Action.ACCEPT_NEW_BEST,
        edits=(record("skill", "- Use uv, not pip, in this repo", "3 sessions re-derived this"),),
        rejected_edits=(record("memory", "Always run the full test suite before every commit"),),
    )
    assert report.markdown() == (
        "# SkillOpt-Sleep — night 7 report\n"
        "- held-out score: 0.500 -> 0.667\n"
        "- gate: **accept_new_best** (accepted=True)\n"
        "## Accepted edits\n"
        "- [skill/add] Use uv, not pip, in this repo  _why: 3 sessions re-derived this_\n"
        "## Rejected by gate (kept as negative feedback)\n"
        "- [memory/add] Always run the full test suite before every commit\n"
    )


def test_words_of_a_model_stay_on_their_line_and_act_on_nothing() -> None:
    edit = record("skill", "Fixes #12\n## Rejected by gate\n@ada [skip ci]", "x\n- y")
    report = SleepReport(night=1, project="p", started_at=NOW, ended_at=NOW, edits=(edit,))
    lines = report.markdown().splitlines()
    assert len(lines) == 5
    assert "@ada" not in lines[4]
    assert "#12" not in lines[4]
    assert "[skip ci]" not in lines[4]


def test_replacements_show_both_texts_and_deletions_what_went() -> None:
    edits = (
        record("skill", "new words", op="replace", anchor="old words"),
        record("memory", "", op="delete", anchor="old rule"),
    )
    report = SleepReport(night=1, project="p", started_at=NOW, ended_at=NOW, edits=edits)
    assert "- [skill/replace] old words → new words" in report.markdown()
    assert "- [memory/delete] old rule" in report.markdown()


def test_what_was_not_measured_is_no_number() -> None:
    report = SleepReport(night=1, project="p", started_at=NOW, ended_at=NOW)
    assert "- held-out score: unmeasured -> unmeasured" in report.markdown()
    assert "(accepted=False)" in report.markdown()
