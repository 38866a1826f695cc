from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from projects import CONFIG, SKILL_PATH, SKILL_TEXT, Project
from scripted import (
    Scripted,
    advance,
    answers,
    dies_next,
    lines_of,
    requests,
    text_at,
    title_of,
    trained_refs,
)

from skillgit.errors import BlockedError, CallError
from skillgit.history import TestNote
from skillgit.history.notes import ComparisonNote, MetaSkillNote, Renewal, SlowUpdateNote
from skillgit.records import Action, ModelRequest, Role
from skillgit.train import train
from skillgit.training.cost_estimate import most_calls
from skillgit.training.resume import open_run
from skillgit.training.state import Recorded, load_state

FOUR = (
    CONFIG.replace("epochs = 2", "epochs = 4").replace("seed = 3", "seed = 6")
    + "stop_when_perfect = false\n"
)
GUIDANCE = "<!-- SLOW_UPDATE_START -->"


def in_epoch_2(edit: dict[str, str], **by_title: object) -> Callable[[ModelRequest], str | None]:
    """An analyst with one idea, which comes in epoch 2, beside fixed answers."""
    others = answers(SuccessAnalysis={"edits": []}, **by_title)
    asked = 0

    def say(request: ModelRequest) -> str | None:
        nonlocal asked
        if title_of(request) != "FailureAnalysis":
            return others(request)
        asked += 1
        return json.dumps({"edits": [edit] if asked > 4 else []})

    return say


KEY_RISKS = {"op": "add", "content": '- Add a section headed "## Key Risks".'}


def guidance(*lines: str) -> dict[str, str]:
    return {"reflection": "", "reasoning": "", "guidance": "\n".join(lines)}


def region(text: str) -> str:
    found = re.search(r"<!-- SLOW_UPDATE_START -->\n(.*?)<!-- SLOW_UPDATE_END -->", text, re.DOTALL)
    return found[1] if found else ""


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, list[Recorded], Scripted]:
    """A run of four epochs, with all that was asked in it."""
    project = Project(tmp_path_factory.mktemp("four") / "project", config=FOUR)
    models = Scripted()
    return project, project.train(wrap=models), models


# ── what is seen over four epochs ────────────────────────────────────────────────────────────


def test_the_guidance_changes_only_at_epochs_ends(
    four: tuple[Project, list[Recorded], Scripted],
) -> None:
    project, records, _ = four
    before = ""
    for record in records:
        now = region(text_at(project, record.commit.id))
        if record.entry.action is not Action.EPOCH:
            assert now == before, record.commit.subject
        before = now
    assert before


def test_the_first_epoch_is_compared_with_nothing(
    four: tuple[Project, list[Recorded], Scripted],
) -> None:
    _, records, _ = four
    ends = [r for r in records if r.entry.action is Action.EPOCH]
    assert ends[0].entry.lines == ()
    assert ends[0].entry.finished_at is None
    kinds = [type(line) for line in ends[1].entry.lines]
    assert kinds == [ComparisonNote, SlowUpdateNote, MetaSkillNote]


def test_best_never_holds_text_that_nobody_measured(
    four: tuple[Project, list[Recorded], Scripted],
) -> None:
    project, records, _ = four
    for record in records:
        best = record.entry.state.best
        assert best.score is not None
        if record.entry.action is Action.EPOCH and record.entry.score.score is None:
            assert record.entry.state.current.origin.startswith("slow_update_epoch_")
            assert record.entry.state.current != best
    tagged = project.git("rev-parse", "skillopt/best").strip()
    score = project.git("log", "-1", "--format=%(trailers:key=Skillopt-Score,valueonly)", tagged)
    assert score.strip() != "unmeasured" or records[-1].entry.state.best.origin.startswith("slow")


def test_the_next_epoch_is_asked_with_the_memory_of_the_one_before(
    four: tuple[Project, list[Recorded], Scripted],
) -> None:
    _, records, models = four
    notes = [line for line in lines_of(records, MetaSkillNote) if isinstance(line, MetaSkillNote)]
    assert [note.epoch for note in notes] == [2, 3, 4]
    assert notes[0].outcome is Renewal.UPDATED
    memory = notes[0].text
    assert memory
    asked = models.asked("FailureAnalysis") + models.asked("SuccessAnalysis")
    assert any(memory in prompt for prompt in asked)
    for note, prompt in zip(
        [note for note in notes if note.outcome is not Renewal.SAME_SKILL],
        models.asked("MetaSkillMemory"),
        strict=True,
    ):
        assert (memory in prompt) is (note.epoch == 3)


def test_the_same_tasks_are_attempted_with_both_skills_and_the_same_luck(
    four: tuple[Project, list[Recorded], Scripted],
) -> None:
    project, _, _ = four
    slots: dict[str, set[str]] = {"compare_before": set(), "compare_after": set()}
    for step, purpose, slot, _request in requests(project):
        if purpose in slots and int(step) == 4:
            slots[purpose].add(slot)
    assert slots["compare_before"] == slots["compare_after"]
    assert len(slots["compare_after"]) == 8


def test_unmeasured_current_is_measured_before_the_gate_compares_with_it(tmp_path: Path) -> None:
    obedient = "[target.simulation]\nobedience = 1.0\n"
    project = Project(tmp_path / "project", config=FOUR + obedient)
    harmful = {"op": "add", "content": "- Keep every answer under 3 words."}
    edit: dict[str, str] = KEY_RISKS
    others = answers(SuccessAnalysis={"edits": []}, SlowUpdateGuidance=guidance("- Be kind."))

    def say(request: ModelRequest) -> str | None:
        if title_of(request) == "FailureAnalysis":
            return json.dumps({"edits": [edit] if armed else []})
        return others(request)

    armed, records = False, []
    with project.context(wrap=Scripted(say)) as context:
        context.store.prepare()
        for record in train(open_run(context).training):
            records.append(record)
            armed = record.entry.step >= 2
            edit = KEY_RISKS if record.entry.step < 4 else harmful
    end = next(r for r in records if after_epoch_2(r))
    assert end.entry.state.current.score is None
    tried = next(r for r in records if r.entry.step == 5)
    assert tried.entry.action is Action.REJECT
    assert tried.note is not None
    assert tried.note.score_before == 0.5
    assert tried.entry.state.current.score == 0.5
    assert tried.entry.state.current.origin == end.entry.state.current.origin
    measured = project.git("rev-parse", f"{end.commit.id}:{SKILL_PATH}").strip()
    assert measured in {object_id for object_id, _ in tried.entry.object_lines}


def test_guidance_that_lowers_val_is_in_no_best_unless_a_later_candidate_beats_it(
    tmp_path: Path,
) -> None:
    harmful = guidance("- Keep every answer under 3 words.")
    project = Project(tmp_path / "project", config=FOUR)
    records = project.train(wrap=Scripted(answers(SlowUpdateGuidance=harmful)))
    assert any(GUIDANCE in text_at(project, r.commit.id) for r in records)
    last = records[-1].entry.state
    assert last.best.score is not None
    assert last.current.score is not None
    assert last.current.score < last.best.score
    assert GUIDANCE not in text_at(project, "skillopt/best")
    assert GUIDANCE not in text_at(project, "skillopt/train-1")


def test_a_later_candidate_that_beats_best_takes_the_guidance_along(tmp_path: Path) -> None:
    project = Project(tmp_path / "project", config=FOUR)
    edit: dict[str, str] = KEY_RISKS
    others = answers(SuccessAnalysis={"edits": []}, SlowUpdateGuidance=guidance("- Be kind."))

    def say(request: ModelRequest) -> str | None:
        if title_of(request) == "FailureAnalysis":
            return json.dumps({"edits": [edit] if armed else []})
        return others(request)

    armed, records = False, []
    with project.context(wrap=Scripted(say)) as context:
        context.store.prepare()
        for record in train(open_run(context).training):
            records.append(record)
            armed = record.entry.step >= 2
            if record.entry.step >= 4:
                edit = {"op": "add", "content": "- State your confidence level."}
    taken = next(r for r in records if r.entry.step == 5)
    assert taken.entry.action is Action.ACCEPT_NEW_BEST
    assert region(text_at(project, "skillopt/train-1")) == "- Be kind.\n"
    subjects = project.subjects("skillopt/train-1")
    assert any("epoch 2 (new guidance)" in subject for subject in subjects)


def test_guidance_that_measures_better_in_the_end_is_what_is_shipped(tmp_path: Path) -> None:
    needed = ['- Always add a section headed "## Key Risks".', "- State your confidence level."]
    say = in_epoch_2({"op": "add", "content": "- Be brief."}, SlowUpdateGuidance=guidance(*needed))
    project = Project(tmp_path / "project", config=CONFIG + "[gate]\nenabled = false\n")
    records = project.train(wrap=Scripted(say))
    end = records[-1]
    assert end.entry.state.best.origin == "slow_update_epoch_02"
    assert end.entry.state.best.score == end.entry.score.score
    assert region(text_at(project, "skillopt/best")).splitlines() == needed
    assert region(text_at(project, "skillopt/train-1")).splitlines() == needed
    note = next(line for line in end.entry.lines if isinstance(line, TestNote))
    assert note.final == note.best
    assert "on test 0.0000 to 1.0000" in end.commit.subject


# ── when something goes wrong ────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "answer",
    ["No JSON here.", {"guidance": "  "}, {"guidance": 3}, {"guidance": "x" * 4001},
     {"guidance": "<!-- APPENDIX_START -->"}, {"guidance": "```\nopen"}, {"guidance": "a\x00b"}],
)  # fmt: skip
def test_guidance_that_cannot_be_used_changes_nothing(tmp_path: Path, answer: object) -> None:
    project = Project(tmp_path / "project")
    records = project.train(wrap=Scripted(answers(SlowUpdateGuidance=answer)))
    (note,) = lines_of(records, SlowUpdateNote)
    assert isinstance(note, SlowUpdateNote)
    assert note.outcome is Renewal.NO_CONTENT
    assert note.failure
    assert GUIDANCE not in text_at(project, "skillopt/run/train-1")


def test_an_unusable_memory_keeps_the_one_before_and_says_so(tmp_path: Path) -> None:
    asked = 0

    def say(request: ModelRequest) -> str | None:
        nonlocal asked
        if title_of(request) != "MetaSkillMemory":
            return None
        asked += 1
        return '{"memory": "Short edits work."}' if asked == 1 else "I have nothing to add."

    project = Project(tmp_path / "project", config=FOUR)
    records = project.train(wrap=Scripted(say))
    notes = [line for line in lines_of(records, MetaSkillNote) if isinstance(line, MetaSkillNote)]
    assert [note.text for note in notes] == ["Short edits work."] * 3
    assert notes[0].outcome is Renewal.UPDATED
    assert notes[0].outcome is not notes[1].outcome
    assert all(note.failure for note in notes if note.outcome is Renewal.NO_CONTENT)


def test_where_no_text_changed_nothing_is_compared_and_nothing_is_paid(tmp_path: Path) -> None:
    idle = answers(FailureAnalysis={"edits": []}, SuccessAnalysis={"edits": []})
    project = Project(tmp_path / "project")
    records = project.train(wrap=Scripted(idle))
    assert {row[1] for row in requests(project)} == {"evaluate", "rollout", "reflect"}
    assert lines_of(records, ComparisonNote) == []
    (note,) = lines_of(records, SlowUpdateNote)
    assert isinstance(note, SlowUpdateNote)
    assert note.outcome is Renewal.SAME_SKILL


def test_a_task_without_a_score_on_one_side_is_left_out(tmp_path: Path) -> None:
    seen = 0

    def fails_once(request: ModelRequest) -> str | None:
        nonlocal seen
        about = "Write a brief on tidal power." in [m.content for m in request.messages]
        seen += about
        if about and armed:
            raise CallError("timed out after 3 tries")
        return None

    project = Project(tmp_path / "project")
    armed = False
    with project.context(wrap=Scripted(fails_once)) as context:
        context.store.prepare()
        loop = train(open_run(context).training)
        records = []
        for record in loop:
            records.append(record)
            armed = record.entry.step == 4
    (note,) = lines_of(records, ComparisonNote)
    assert isinstance(note, ComparisonNote)
    assert note.left_out == ("b-00",)
    assert len(note.pairs) == 7
    assert seen


def test_a_comparison_of_which_nothing_comes_back_blocks_the_epochs_end(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    armed = False

    def fails(request: ModelRequest) -> str | None:
        if armed and request.answer_schema is None:
            raise CallError("timed out after 3 tries")
        return None

    with project.context(wrap=Scripted(fails)) as context:
        context.store.prepare()
        loop = train(open_run(context).training)
        while not armed:
            armed = next(loop).entry.step == 4
        with pytest.raises(BlockedError, match="rollouts could be scored"):
            next(loop)
    armed = False
    assert "epoch 2" not in " ".join(project.subjects())
    assert project.train()[-1].entry.action is Action.END


# ── each key ─────────────────────────────────────────────────────────────────────────────────


def test_without_both_memories_an_epochs_end_costs_nothing(tmp_path: Path) -> None:
    off = "[slow_update]\nenabled = false\n[meta_skill]\nenabled = false\n"
    project = Project(tmp_path / "project", config=FOUR + off)
    records = project.train()
    assert all(r.entry.lines == () for r in records if r.entry.action is Action.EPOCH)
    assert not {row[1] for row in requests(project)} & {"compare_before", "compare_after"}
    assert GUIDANCE not in text_at(project, "skillopt/run/train-1")


def test_each_memory_can_be_turned_off_alone(tmp_path: Path) -> None:
    for key, kept in (("slow_update", MetaSkillNote), ("meta_skill", SlowUpdateNote)):
        project = Project(tmp_path / key, config=CONFIG + f"[{key}]\nenabled = false\n")
        records = project.train()
        last = [r for r in records if r.entry.action is Action.EPOCH][-1]
        assert [type(line) for line in last.entry.lines] == [ComparisonNote, kept]


def test_samples_says_how_many_tasks_are_compared(tmp_path: Path) -> None:
    project = Project(tmp_path / "project", config=CONFIG + "[slow_update]\nsamples = 3\n")
    (note,) = lines_of(project.train(), ComparisonNote)
    assert isinstance(note, ComparisonNote)
    assert len(note.pairs) == 3


@pytest.mark.parametrize(("policy", "shown"), [("changed", {"improved", "regressed"}),
                                               ("unchanged", {"persistent_fail", "stable_success"})])  # fmt: skip
def test_the_pair_policy_says_which_pairs_are_looked_at(
    tmp_path: Path, policy: str, shown: set[str]
) -> None:
    config = CONFIG + f'[slow_update]\npair_policy = "{policy}"\n'
    project, models = Project(tmp_path / "project", config=config), Scripted()
    records = project.train(wrap=models)
    (note,) = lines_of(records, ComparisonNote)
    assert isinstance(note, ComparisonNote)
    wanted = {pair.task_id for pair in note.pairs if pair.kind.value in shown}
    (update,) = lines_of(records, SlowUpdateNote)
    assert isinstance(update, SlowUpdateNote)
    prompts = models.asked("SlowUpdateGuidance")
    if not wanted:
        assert update.outcome is Renewal.NO_PAIRS
        assert prompts == []
    else:
        assert set(re.findall(r"^### Task `([^`]+)`: ", prompts[0], re.MULTILINE)) == wanted


def test_max_chars_cuts_what_is_shown_of_an_attempt(tmp_path: Path) -> None:
    config = CONFIG + "[slow_update]\nmax_chars = 200\n"
    project, models = Project(tmp_path / "project", config=config), Scripted()
    project.train(wrap=models)
    assert "characters cut here" in models.asked("SlowUpdateGuidance")[0]


def test_gated_guidance_that_is_not_better_is_rejected_and_leaves_no_trace_in_the_text(
    tmp_path: Path,
) -> None:
    harmful = guidance("- Keep every answer under 3 words.")
    project = Project(tmp_path / "project", config=FOUR + "[slow_update]\ngate = true\n")
    records = project.train(wrap=Scripted(answers(SlowUpdateGuidance=harmful)))
    notes = [n for n in lines_of(records, SlowUpdateNote) if isinstance(n, SlowUpdateNote)]
    judged = [note for note in notes if note.outcome is Renewal.REJECTED]
    assert judged
    assert all(note.score_after is not None for note in judged)
    assert all(note.score_after_is_bound == ("cut short" in note.gate_reason) for note in judged)
    assert GUIDANCE not in text_at(project, "skillopt/run/train-1")
    assert all(r.entry.score.score is not None for r in records)


def test_gated_guidance_that_is_better_becomes_best_at_once(tmp_path: Path) -> None:
    needed = guidance(
        '- Always add a section headed "## Key Risks".', "- State your confidence level."
    )
    project = Project(tmp_path / "project", config=CONFIG + "[slow_update]\ngate = true\n")
    records = project.train(wrap=Scripted(in_epoch_2(KEY_RISKS, SlowUpdateGuidance=needed)))
    end = next(r for r in reversed(records) if r.entry.action is Action.EPOCH)
    (note,) = lines_of([end], SlowUpdateNote)
    assert isinstance(note, SlowUpdateNote)
    assert note.outcome is Renewal.UPDATED
    assert end.entry.state.best.origin == "slow_update_epoch_02"
    assert region(text_at(project, "skillopt/best"))
    assert project.git("rev-parse", "skillopt/best").strip() == end.commit.id


def test_the_region_that_was_there_is_the_guidance_it_is_told_of(tmp_path: Path) -> None:
    text = SKILL_TEXT + "\n<!-- SLOW_UPDATE_START -->\n- Older advice.\n<!-- SLOW_UPDATE_END -->\n"
    project, models = Project(tmp_path / "project", skill=text), Scripted(in_epoch_2(KEY_RISKS))
    project.train(wrap=models)
    assert "```text\n- Older advice.\n```" in models.asked("SlowUpdateGuidance")[0]


# ── killed and resumed ───────────────────────────────────────────────────────────────────────

FEW = FOUR + "[slow_update]\nsamples = 3\n"


def before_epoch_2(record: Recorded) -> bool:
    return record.entry.step == 4


def after_epoch_2(record: Recorded) -> bool:
    return record.entry.action is Action.EPOCH and record.entry.step == 4


def before_the_end(record: Recorded) -> bool:
    return record.entry.action is Action.EPOCH and record.entry.step == 8


@pytest.mark.parametrize("until", [before_epoch_2, after_epoch_2, before_the_end])
def test_killed_at_any_call_of_a_phase_it_ends_the_same(
    tmp_path: Path, until: Callable[[Recorded], bool]
) -> None:
    whole = Project(tmp_path / "whole", config=FEW)
    whole.train()
    ready = Project(tmp_path / "ready", config=FEW)
    advance(ready, until)
    calls = 0
    while True:
        killed = Project.__new__(Project)
        killed.__dict__ = ready.__dict__ | {"path": tmp_path / f"killed-{calls}"}
        shutil.copytree(ready.path, killed.path)
        died = dies_next(killed, calls)
        killed.train()
        assert trained_refs(killed) == trained_refs(whole), calls
        assert requests(killed) == requests(whole), calls
        shutil.rmtree(killed.path)
        if not died:
            break
        calls += 1
    assert calls >= 3


def test_what_is_read_back_is_what_was_in_memory(tmp_path: Path) -> None:
    project = Project(tmp_path / "project", config=FEW)
    with project.context() as context:
        context.store.prepare()
        setup = open_run(context).training
        for record in train(setup):
            found = load_state(setup)
            assert found is not None
            assert found.run_state == record.entry.state
            if record.entry.action is Action.EPOCH:
                assert found.epoch_start == found.current.skill
                assert found.epoch_notes == ()
            memory = [line for line in record.entry.lines if isinstance(line, MetaSkillNote)]
            if memory:
                assert found.meta_skill == memory[0].text


def test_the_estimate_is_never_below_what_is_paid(tmp_path: Path) -> None:
    project = Project(tmp_path / "project", config=FEW)
    with project.context() as context:
        context.store.prepare()
        opened = open_run(context)
        estimated = most_calls(opened.training, None)
        left = None
        for record in train(opened.training):
            if record.entry.step == 5:
                made = opened.meter.made
                left = most_calls(opened.training, load_state(opened.training)), made
        assert sum(estimated.values()) >= opened.meter.made
        assert left is not None
        assert sum(left[0].values()) >= opened.meter.made - left[1]
        assert estimated[Role.OPTIMIZER] > 0
