from __future__ import annotations

from typing import Any

import pytest
from hostile import HOSTILE
from markdown_it import MarkdownIt

from skillgit.history import Costs, TestNote
from skillgit.records import Edit, EditOp, Metric, Score
from skillgit.review.pull_request.body import MOST_CHARACTERS, body, title
from skillgit.review.pull_request.evidence import EditSet, Evidence, TaskChange


def evidence(**fields: Any) -> Evidence:
    given = {
        "run": "train-1",
        "run_id": "0123456789ab",
        "skill": "brief",
        "onto": "main",
        "base": "1" * 40,
        "commit": "2" * 40,
        "metric": Metric.HARD,
        "target": "a" * 16,
        "fingerprint": "b" * 16,
        "before": 0.125,
        "after": 0.625,
        "noted": True,
    }
    return Evidence.model_validate({**given, **fields})


def tried(*edits: Edit, step: int = 3) -> EditSet:
    return EditSet(step=step, edits=edits, before=0.125, after=0.5)


def written(**fields: Any) -> str:
    return body(evidence(**fields), branch="skillopt/train-1")


def test_the_scores_stand_first() -> None:
    test = TestNote(run="0123456789ab", n_tasks=4, baseline=0.0, best=0.5, final=0.5)
    text = written(test=test)
    assert "| val | 0.1250 | **0.6250** | +0.5000 |" in text
    assert "| test, 4 tasks never shown | 0.0000 | 0.5000 |  |" in text
    assert title(evidence()) == "skillopt(brief): train-1: 0.1250 → 0.6250"


def test_tasks_that_got_worse_stand_first_and_unchanged_ones_are_counted() -> None:
    def change(task: str, before: float, after: float) -> TaskChange:
        return TaskChange(
            task=task,
            before=Score(hard=before, soft=before),
            after=Score(hard=after, soft=after),
        )

    text = written(tasks=(change("a", 0, 1), change("b", 1, 0), change("c", 1, 1)))
    assert text.index("| `b` |") < text.index("| `a` |")
    assert "| `c` |" not in text
    assert "1 of 3 scored as before" in text


def test_an_edit_says_why_and_what_stands_behind_it() -> None:
    edit = Edit(
        op=EditOp.ADD,
        anchor="- One summary.",
        content="- Name the risks.",
        rationale="three briefs had none",
        support_count=3,
        task_ids=("b-01", "b-02", "b-03"),
    )
    text = written(accepted=(tried(edit),))
    assert "- **add** `- Name the risks.` after `- One summary.`" in text
    assert "  - why: three briefs had none" in text
    assert "  - seen in 3 failures: `b-01`, `b-02`, `b-03`" in text


def test_rejected_edits_are_folded_away() -> None:
    edit = Edit(op=EditOp.DELETE, anchor="- Be short.")
    text = written(rejected=(tried(edit), tried(edit, step=4)))
    assert "<details><summary>Rejected: 2 edits in 2 steps</summary>" in text


def test_cost_check_and_undo_are_there() -> None:
    text = written(costs=Costs(calls={"target": 40, "optimizer": 3}, prompt_tokens=1200))
    assert "3 optimizer, 40 target calls; 1,200 tokens." in text
    assert "skillgit verify origin/main...origin/skillopt/train-1" in text
    assert "git revert 111111111111..222222222222" in text
    assert "Target `aaaaaaaaaaaaaaaa`, run `bbbbbbbbbbbbbbbb`" in text


def test_the_report_of_a_night_is_shown_as_it_is() -> None:
    report = "# SkillOpt-Sleep — night 7 report\n- gate: **accept_new_best**\n"
    text = written(run="night-7", report=report)
    assert "```text\n# SkillOpt-Sleep — night 7 report\n- gate: **accept_new_best**" in text
    assert "refs/notes" not in text


def test_without_notes_only_the_claims_are_told() -> None:
    assert "only what its commits say is known" in written(noted=False)


@pytest.mark.parametrize("text", HOSTILE)
def test_no_word_of_a_model_acts(text: str) -> None:
    edit = Edit(
        op=EditOp.REPLACE, anchor=text, content=text, rationale=text, target=text, task_ids=(text,)
    )
    tasks = (TaskChange(task=text, before=None, after=Score(hard=1, soft=1)),)
    whole = written(
        accepted=(tried(edit), tried(Edit(op=EditOp.ADD, content="x"))),
        rejected=(tried(edit),),
        tasks=tasks,
        warnings=(text,),
        report=text,
        skill=text,
        target_model=text,
    )
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(whole)
    for forbidden in ("<script", "<img", "<a ", 'javascript:alert(1)"', "<h1", "<hr"):
        assert forbidden not in html
    assert html.count("<details>") == html.count("</details>") == 1
    assert "@everyone" not in whole
    assert "[skip ci]" not in whole


def test_a_body_is_never_longer_than_hosts_take() -> None:
    edits = [Edit(op=EditOp.ADD, content=f"{i} " + "word " * 100) for i in range(40)]
    sets = tuple(tried(*edits, step=step) for step in range(1, 60))
    text = written(accepted=sets, rejected=sets)
    assert len(text) <= MOST_CHARACTERS
    assert "The rest was cut" in text
    assert text.count("<details>") == text.count("</details>")
    assert "### Undo it" in text
