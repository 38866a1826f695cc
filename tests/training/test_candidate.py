from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from projects import CONFIG, SKILL_PATH, SKILL_TEXT, Project, brief_tasks
from scripted import (
    Scripted,
    advance,
    answers,
    dies_next,
    requests,
    text_at,
    title_of,
    trained_refs,
)

from skillgit.config import parse_config
from skillgit.editing.document import Document, region_text
from skillgit.editing.layout import Region
from skillgit.errors import ConfigError
from skillgit.records import Action, EditOp, ModelRequest, Outcome
from skillgit.stages.appendix import notes_of
from skillgit.stages.rewrite import WHOLE
from skillgit.train import train
from skillgit.training.cost_estimate import most_calls
from skillgit.training.resume import open_run
from skillgit.training.state import Recorded

SUGGESTIONS = CONFIG + 'update_mode = "rewrite_from_suggestions"\n'
DRAFTS = CONFIG + 'update_mode = "full_rewrite_minibatch"\n'
AWARE = CONFIG + "[reflect]\nskill_aware = true\n"
GUARDED = SKILL_TEXT + (
    "\n<!-- SLOW_UPDATE_START -->\n- Hold on.\n<!-- SLOW_UPDATE_END -->\n"
    "\n<!-- APPENDIX_START -->\n- Remember.\n<!-- APPENDIX_END -->\n"
)
KEY_RISKS = {"op": "add", "content": '- Add a section headed "## Key Risks".'}
NOTHING = {"edits": []}


def project_of(tmp_path: Path, config: str, **more: object) -> Project:
    return Project(tmp_path / "project", config=config, **more)  # type: ignore[arg-type]


def notes_in(records: list[Recorded]) -> list[object]:
    return [record.note for record in records if record.note]


# ── accumulation ─────────────────────────────────────────────────────────────────────────────


def test_accumulation_reflects_on_several_batches_before_one_update(tmp_path: Path) -> None:
    project = project_of(tmp_path, CONFIG + "accumulation = 2\nstop_when_perfect = false\n")
    records = project.train()
    steps = [r for r in records if r.note]
    assert [r.entry.step for r in steps] == [1, 2]
    assert [r.entry.state.epoch for r in steps] == [1, 2]
    assert steps[0].note is not None
    assert steps[0].note.n_total == 8
    slots = {row[2] for row in requests(project) if row[1] == "reflect" and row[0] == 1}
    assert {"failure/0", "failure/1", "batch1/failure/0", "batch1/failure/1"} == slots


def test_the_last_step_of_an_epoch_takes_what_is_left(tmp_path: Path) -> None:
    config = CONFIG.replace("epochs = 2", "epochs = 1") + "accumulation = 2\n"
    project = project_of(tmp_path, config, tasks=brief_tasks(train=10, val=4, test=0))
    idle = Scripted(answers(FailureAnalysis=NOTHING, SuccessAnalysis=NOTHING))
    totals = [r.note.n_total for r in project.train(wrap=idle) if r.note]
    assert totals == [8, 2]


# ── rewritten from suggestions ───────────────────────────────────────────────────────────────


def test_suggestions_are_followed_by_a_rewrite(tmp_path: Path) -> None:
    project, models = project_of(tmp_path, SUGGESTIONS), Scripted()
    records = project.train(wrap=models)
    assert records[-1].entry.state.best.score == 1.0
    assert models.asked("RewrittenDocument")
    accepted = next(r for r in records if r.entry.action is Action.ACCEPT_NEW_BEST)
    assert accepted.note is not None
    assert accepted.note.update_mode == "rewrite_from_suggestions"
    applied = [o for o in accepted.note.edits if o.outcome is Outcome.APPLIED]
    assert applied


def test_the_rewrite_sees_the_suggestions_the_buffer_and_the_memory(tmp_path: Path) -> None:
    harmful = json.dumps({"document": "# Brief\n\n- Keep every answer under 3 words."})
    confidence = {"op": "add", "content": "- State your confidence level."}
    always = answers(FailureAnalysis={"edits": [KEY_RISKS, confidence]})

    def say(request: ModelRequest) -> str | None:
        is_first = (
            title_of(request) == "RewrittenDocument" and len(models.asked("RewrittenDocument")) == 1
        )
        return harmful if is_first else always(request)

    models = Scripted(say)
    project_of(tmp_path, SUGGESTIONS).train(wrap=models)
    prompts = models.asked("RewrittenDocument")
    assert any('"op":"add"' in prompt for prompt in prompts)
    assert any("### Step 1 — REJECT" in prompt for prompt in prompts)
    assert all(f"`{SKILL_PATH}`" in prompt for prompt in prompts)


@pytest.mark.parametrize(
    "sent",
    [
        "# Mine\n\n- All new.\n",
        "---\nname: other\n---\n# Mine\n",
        "# Mine\n\n<!-- SLOW_UPDATE_START -->\n- Stolen.\n<!-- SLOW_UPDATE_END -->\n\n- After.",
        "# Mine\n<!-- APPENDIX_START -->\n",
        "```markdown\n# Mine\n\n- x\n```",
        "# Mine\n\n```\nopen",
        "",
        3,
    ],
)
@pytest.mark.parametrize("config", [SUGGESTIONS, DRAFTS])
def test_protected_parts_are_the_same_bytes_whatever_is_sent(
    tmp_path: Path, config: str, sent: object
) -> None:
    rewrite = {"reasoning": "", "document": sent}
    say = answers(
        FailureAnalysis={"edits": [KEY_RISKS]},
        SuccessAnalysis=NOTHING,
        RewrittenDocument=rewrite,
        FailureRewrite=rewrite,
        SuccessRewrite=rewrite,
        MergedDocument=rewrite,
    )
    off = "[slow_update]\nenabled = false\n[meta_skill]\nenabled = false\n"
    config = config.replace("epochs = 2", "epochs = 1") + off + "[gate]\nenabled = false\n"
    project = project_of(tmp_path, config, skill=GUARDED, tasks=brief_tasks(4, 2, 0))
    records = project.train(wrap=Scripted(say))
    before, after = Document.parse(GUARDED.encode()), Document.parse(text_at(project).encode())
    for region in (Region.SLOW_UPDATE, Region.APPENDIX):
        assert region_text(after, region) == region_text(before, region)
    assert after.frontmatter == before.frontmatter
    changed = records[1].entry.action is Action.FORCE_ACCEPT
    assert changed is ("# Mine" in text_at(project))
    assert records[1].note is not None
    assert changed or records[1].note.update_failures or config.startswith(DRAFTS[:20])


def test_a_rewrite_that_cannot_be_used_leaves_its_suggestions_without_effect(
    tmp_path: Path,
) -> None:
    say = answers(FailureAnalysis={"edits": [KEY_RISKS]}, RewrittenDocument="I would rather not.")
    records = project_of(tmp_path, SUGGESTIONS).train(wrap=Scripted(say))
    note = next(r.note for r in records if r.note)
    assert note.action is Action.NOOP
    assert {o.outcome for o in note.edits} == {Outcome.NOOP}
    assert SKILL_PATH in note.update_failures[0]


def test_every_document_that_has_suggestions_is_rewritten(tmp_path: Path) -> None:
    config = SUGGESTIONS.replace(
        f'path = "{SKILL_PATH}"', f'path = "{SKILL_PATH}"\nfiles = ["refs/*.md"]'
    )
    project = project_of(tmp_path, config)
    style = "skills/brief/refs/style.md"
    project.write(style, "# Style\n\n- Be kind.\n")
    project.commit("Add a reference")
    models = Scripted(
        answers(
            FailureAnalysis={"edits": [{**KEY_RISKS, "target": style}]}, SuccessAnalysis=NOTHING
        )
    )
    project.train(wrap=models)
    assert all(f"The document `{style}`" in p for p in models.asked("RewrittenDocument"))
    assert "Key Risks" in project.git("show", f"skillopt/best:{style}")


# ── every minibatch its own document ─────────────────────────────────────────────────────────


def test_each_minibatch_writes_a_document_and_they_are_merged(tmp_path: Path) -> None:
    project, models = project_of(tmp_path, DRAFTS), Scripted()
    records = project.train(wrap=models)
    assert records[-1].entry.state.best.score == 1.0
    assert models.asked("FailureRewrite")
    assert models.asked("MergedDocument")
    assert not models.asked("FailureAnalysis")
    first = records[1].note
    assert first is not None
    assert first.learning_rate is None
    (outcome,) = first.edits
    assert outcome.edit.anchor == WHOLE
    assert outcome.edit.support_count == 4


def test_a_document_rejected_on_this_text_is_not_paid_for_again(tmp_path: Path) -> None:
    bad = {"reasoning": "", "document": "# Brief\n\n- Keep every answer under 3 words."}
    say = answers(FailureRewrite=bad, SuccessRewrite={"reasoning": "", "document": ""})
    records = project_of(tmp_path, DRAFTS).train(wrap=Scripted(say))
    actions = [r.note.action for r in records if r.note]
    assert actions[0] is Action.REJECT
    assert set(actions[1:]) == {Action.NOOP}
    outcomes = {o.outcome for r in records[2:] if r.note for o in r.note.edits}
    assert outcomes == {Outcome.KNOWN_REJECTED}


def test_where_nobody_writes_a_document_the_step_is_skipped(tmp_path: Path) -> None:
    empty = {"reasoning": "", "document": " "}
    say = answers(FailureRewrite=empty, SuccessRewrite=empty)
    records = project_of(tmp_path, DRAFTS).train(wrap=Scripted(say))
    assert {r.note.action for r in records if r.note} == {Action.SKIP}


def test_a_merge_that_fails_takes_the_first_of_its_drafts_and_says_so(tmp_path: Path) -> None:
    project = project_of(tmp_path, DRAFTS)
    records = project.train(wrap=Scripted(answers(MergedDocument="no")))
    merged = [r.note for r in records if r.note and r.note.merge_fallback]
    assert merged
    assert all(note.update_failures for note in merged)


# ── the learning rate ────────────────────────────────────────────────────────────────────────


def test_a_decision_of_0_makes_no_edit(tmp_path: Path) -> None:
    config = CONFIG + '[lr]\nmode = "autonomous"\n'
    say = answers(LearningRateDecision={"learning_rate": 0})
    records = project_of(tmp_path, config).train(wrap=Scripted(say))
    notes = [r.note for r in records if r.note and r.note.edits]
    assert notes
    assert {o.outcome for note in notes for o in note.edits} == {Outcome.OVER_BUDGET}
    assert {note.action for note in notes} == {Action.NOOP}


def test_without_a_learning_rate_every_edit_is_tried_and_nothing_is_ranked(tmp_path: Path) -> None:
    many = {"edits": [{"op": "add", "content": f"- Rule {i}."} for i in range(7)]}
    say = answers(FailureAnalysis=many, SuccessAnalysis=NOTHING)
    models = Scripted(say)
    records = project_of(tmp_path, CONFIG + '[lr]\nmode = "none"\n').train(wrap=models)
    assert records[1].note is not None
    assert len(records[1].note.edits) == 7
    assert {o.outcome for o in records[1].note.edits} == {Outcome.APPLIED}
    assert not models.asked("Ranking")


# ── edits that are not made as they were meant ───────────────────────────────────────────────


def test_an_edit_that_answers_no_reason_is_unsupported_and_the_next_step_is_told(
    tmp_path: Path,
) -> None:
    beside = {"op": "add", "line": 0, "text": "- Write a title.", "reasons": []}
    say = answers(FailureAnalysis={"edits": [KEY_RISKS, beside]}, SuccessAnalysis=NOTHING)
    models, project = Scripted(say), project_of(tmp_path, CONFIG)
    first = project.train(wrap=models)[1].note
    assert first is not None
    outcomes = {o.edit.content: o.outcome for o in first.edits}
    assert outcomes == {
        "- Write a title.": Outcome.UNSUPPORTED, KEY_RISKS["content"]: Outcome.APPLIED,
    }  # fmt: skip
    assert "Write a title." not in text_at(project)
    assert any(
        "Not made:" in prompt and 'Write a title.": it answers no reason' in prompt
        for prompt in models.asked("FailureAnalysis")
    )


@pytest.mark.parametrize(
    ("anchor", "above"),
    [("## Style", "- Write in full sentences."), ("A line that nobody wrote.", "- Be kind.")],
)
def test_an_addition_whose_place_is_not_found_goes_to_an_end(
    tmp_path: Path, anchor: str, above: str
) -> None:
    skill = SKILL_TEXT.replace("## Style", "## style") + "\n## Tone\n\n- Be kind.\n"
    say = answers(FailureAnalysis={"edits": [{**KEY_RISKS, "anchor": anchor}]})
    project = project_of(tmp_path, CONFIG, skill=skill)
    records = project.train(wrap=Scripted(say))
    assert records[1].note is not None
    (outcome,) = [o for o in records[1].note.edits if o.edit.content == KEY_RISKS["content"]]
    assert outcome.outcome is Outcome.PLACED_AT_END
    assert outcome.edit.anchor == ""
    assert records[1].entry.action is Action.ACCEPT_NEW_BEST
    assert f"{above}\n{KEY_RISKS['content']}\n" in text_at(project, "skillopt/best")


# ── the plain style ──────────────────────────────────────────────────────────────────────────

PLAIN = CONFIG.replace('model = "sim-optimizer"', 'model = "sim-optimizer"\nstyle = "plain"')


def test_in_the_plain_style_rules_alone_are_asked_for(tmp_path: Path) -> None:
    project, models = project_of(tmp_path, PLAIN), Scripted()
    records = project.train(wrap=models)
    titles = {title_of(request) for request in models.requests}
    assert "PlainAnalysis" in titles
    assert not titles & {
        "FailureAnalysis", "SuccessAnalysis", "MergedPatch", "Ranking", "LearningRateDecision",
    }  # fmt: skip
    best = records[-1].entry.state.best.score
    assert best is not None
    assert best > 0.0
    edits = [o.edit for r in records if r.note for o in r.note.edits]
    assert edits
    assert {edit.op for edit in edits} == {EditOp.ADD}


def test_in_the_plain_style_the_best_supported_rules_are_taken(tmp_path: Path) -> None:
    rules = [{"fault": n, "rule": rule} for n, rule in enumerate(["Be kind.", "Be brief."], 1)]
    config = PLAIN + "[lr]\nmax = 1\nmin = 1\n"
    say = answers(PlainAnalysis={"rules": rules})
    first = project_of(tmp_path, config).train(wrap=Scripted(say))[1].note
    assert first is not None
    by_outcome = {o.outcome: o.edit for o in first.edits}
    assert by_outcome[Outcome.APPLIED].support_count >= max(
        o.edit.support_count for o in first.edits
    )
    assert Outcome.OVER_BUDGET in by_outcome


# ── notes on lapses ──────────────────────────────────────────────────────────────────────────


def lapse(note: str) -> dict[str, object]:
    return {"edits": [], "lapses": [{"note": note, "task_ids": []}]}


def test_a_step_with_lapses_and_no_edits_still_keeps_its_notes(tmp_path: Path) -> None:
    say = answers(AwareFailureAnalysis=lapse("Close with the line."), AwareSuccessAnalysis=NOTHING)
    project = project_of(tmp_path, AWARE)
    records = project.train(wrap=Scripted(say))
    first = records[1]
    assert first.entry.action is Action.FORCE_ACCEPT
    assert first.entry.score.score is None
    assert first.entry.state.best.origin == "initial_skill"
    assert "<!-- APPENDIX_START -->\n- Close with the line.\n<!-- APPENDIX_END -->" in text_at(
        project, first.commit.id
    )
    assert [r.note.action for r in records[2:] if r.note] == [Action.SKIP] * 3
    assert records[-1].entry.score.score is not None


def test_notes_go_with_the_edits_of_their_step(tmp_path: Path) -> None:
    both = {**lapse("Close with the line."), "edits": [KEY_RISKS]}
    say = answers(AwareFailureAnalysis=both, AwareSuccessAnalysis=NOTHING)
    project = project_of(tmp_path, AWARE)
    records = project.train(wrap=Scripted(say))
    assert records[1].entry.action is Action.ACCEPT_NEW_BEST
    assert "Close with the line." in text_at(project, "skillopt/best")
    assert records[1].note is not None
    assert records[1].note.appendix is not None
    assert records[1].note.appendix.added == ("Close with the line.",)


def test_off_by_default_nobody_is_asked_for_lapses(tmp_path: Path) -> None:
    models = Scripted()
    project_of(tmp_path, CONFIG).train(wrap=models)
    assert not models.asked("AwareFailureAnalysis")


@pytest.mark.parametrize(("source", "kept"), [("both", True), ("failure_only", False)])
def test_the_appendix_source_says_who_may_write_notes(
    tmp_path: Path, source: str, kept: bool
) -> None:
    passing = [
        task | {"judge": {"kind": "rule", "checks": [{"op": "min_chars", "arg": 1}]}}
        if task["split"] == "train"
        else task
        for task in brief_tasks()
    ]
    note = lapse("Nearly forgot the line.")
    say = answers(AwareSuccessAnalysis=note, SuccessAnalysis=note)
    config = AWARE + f'appendix_source = "{source}"\n'
    project = project_of(tmp_path, config, tasks=passing)
    project.train(wrap=Scripted(say))
    assert ("Nearly forgot" in text_at(project)) is kept


def test_past_the_most_notes_they_are_consolidated(tmp_path: Path) -> None:
    several = {"edits": [], "lapses": [{"note": f"Note {i}."} for i in range(4)]}
    say = answers(
        AwareFailureAnalysis=several,
        AwareSuccessAnalysis=NOTHING,
        ConsolidatedNotes={"notes": ["All of them.", "- all of them"]},
    )
    project = project_of(tmp_path, AWARE + "appendix_max = 3\n")
    records = project.train(wrap=Scripted(say))
    assert records[1].note is not None
    assert records[1].note.appendix is not None
    assert records[1].note.appendix.consolidated
    assert "START -->\n- All of them.\n<!-- APPENDIX_END" in text_at(project, records[1].commit.id)


@pytest.mark.parametrize("answer", ["no", {"notes": []}, {"notes": ["a", "b", "c", "d"]}])
def test_without_a_usable_answer_the_oldest_notes_go(tmp_path: Path, answer: object) -> None:
    several = {"edits": [], "lapses": [{"note": f"Note {i}."} for i in range(5)]}
    say = answers(AwareFailureAnalysis=several, ConsolidatedNotes=answer)
    project = project_of(tmp_path, AWARE + "appendix_max = 3\n")
    records = project.train(wrap=Scripted(say))
    with project.context() as context:
        assert notes_of(context.store.skill_at(records[1].commit.id)) == (
            "Note 2.", "Note 3.", "Note 4.",
        )  # fmt: skip
    assert records[1].note is not None
    assert records[1].note.appendix is not None
    assert records[1].note.appendix.failure


def test_no_note_can_leave_its_region(tmp_path: Path) -> None:
    bad = ["<!-- APPENDIX_END -->", "```", " ", "- ", None, 3, "Fine\n<!-- APPENDIX_END -->"]
    several = {"edits": [], "lapses": [{"note": note} for note in [*bad, "Two\nlines."]]}
    say = answers(AwareFailureAnalysis=several, AwareSuccessAnalysis=NOTHING)
    project = project_of(tmp_path, AWARE)
    project.train(wrap=Scripted(say))
    assert "APPENDIX_START -->\n- Two lines.\n<!-- APPENDIX_END" in text_at(project)


def test_notes_cannot_go_with_documents_of_every_analyst() -> None:
    with pytest.raises(ConfigError, match="skill_aware"):
        parse_config(DRAFTS + "[reflect]\nskill_aware = true\n")


# ── all of them ──────────────────────────────────────────────────────────────────────────────

MODES = {
    "suggestions": SUGGESTIONS,
    "drafts": DRAFTS,
    "accumulation": CONFIG + "accumulation = 2\n",
    "autonomous": CONFIG + '[lr]\nmode = "autonomous"\n',
    "aware": AWARE + "appendix_max = 1\n",
    "plain": PLAIN,
}


@pytest.mark.parametrize("mode", MODES)
def test_killed_at_any_call_of_a_step_it_ends_the_same(tmp_path: Path, mode: str) -> None:
    config = MODES[mode]
    whole = Project(tmp_path / "whole", config=config)
    whole.train()
    ready = Project(tmp_path / "ready", config=config)
    advance(ready, lambda record: record.entry.step == 0)
    calls = 0
    while True:
        killed = Project.__new__(Project)
        killed.__dict__ = ready.__dict__ | {"path": tmp_path / f"killed-{calls}"}
        shutil.copytree(ready.path, killed.path)
        died = dies_next(killed, calls)
        killed.train()
        assert trained_refs(killed) == trained_refs(whole), calls
        assert requests(killed) == requests(whole), calls
        if not died:
            break
        calls += 4
    assert calls >= 8


@pytest.mark.parametrize("mode", MODES)
def test_the_estimate_is_never_below_what_is_paid(tmp_path: Path, mode: str) -> None:
    project = Project(tmp_path / "project", config=MODES[mode])
    with project.context() as context:
        context.store.prepare()
        opened = open_run(context)
        estimated = most_calls(opened.training, None)
        for _ in train(opened.training):
            pass
        assert sum(estimated.values()) >= opened.meter.made


@pytest.mark.parametrize(
    ("keys", "rates"),
    [
        ("", [4, 3, 2, 2]),
        ("max = 6\n", [5, 4, 3, 2]),
        ("min = 4\n", [4, 4, 4, 4]),
        ('scheduler = "constant"\n', [4, 4, 4, 4]),
        ('scheduler = "linear"\nmax = 10\n', [8, 6, 4, 2]),
    ],
)
def test_each_key_of_the_schedule_changes_the_rates(
    tmp_path: Path, keys: str, rates: list[int]
) -> None:
    say = answers(FailureAnalysis=NOTHING, SuccessAnalysis=NOTHING)
    records = project_of(tmp_path, CONFIG + f"[lr]\n{keys}").train(wrap=Scripted(say))
    found = [r.note.learning_rate for r in records if r.note]
    assert [rate.raw_learning_rate for rate in found if rate] == rates


def test_the_most_edits_is_what_an_analyst_is_told(tmp_path: Path) -> None:
    models = Scripted()
    project_of(tmp_path, CONFIG + "[lr]\nmax = 3\nmin = 1\n").train(wrap=models)
    assert all("at most 3 edits" in prompt for prompt in models.asked("FailureAnalysis"))
