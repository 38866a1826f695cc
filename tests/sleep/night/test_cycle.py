from __future__ import annotations

import json
from pathlib import Path

import pytest
from night_projects import (
    CHECKED,
    CONFIG,
    SKILL,
    House,
    OnlyMemory,
    Proposing,
    ask,
    asks,
    make_house,
)

from skillgit.errors import TaskError
from skillgit.records import Action, EditOp, ModelReply, ModelRequest, Role
from skillgit.sleep.night.report import SleepReport


def test_a_night_opens_a_branch_with_bullets_and_adopts_nothing(house: House) -> None:
    before = house.git("rev-parse", "main")
    outcome = house.sleep(asks())
    assert outcome.staging_branch == "skillopt/night-1"
    assert not outcome.adopted
    assert outcome.adopted_paths == ()
    assert outcome.report.accepted
    assert outcome.report.gate_action is Action.ACCEPT_NEW_BEST
    assert outcome.report.baseline_score == 0.0
    assert outcome.report.candidate_score == 1.0
    assert house.git("rev-parse", "main") == before
    changed = [
        line
        for line in house.git("diff", "main...skillopt/night-1").splitlines()
        if line.startswith(("+", "-")) and not line.startswith(("+++", "---"))
    ]
    assert all(line.startswith("+") for line in changed)
    added = [line[1:] for line in changed]
    markers = [line for line in added if "SKILLOPT-SLEEP:LEARNED" in line]
    assert len(markers) == 2
    assert all(line.startswith("- ") for line in added if line not in markers)
    assert 'Close with a line "Checked: yes".' in "\n".join(added)


def test_the_report_reads_as_it_is_agreed_in_note_and_outcome(house: House) -> None:
    outcome = house.sleep(asks())
    text = outcome.report.markdown()
    lines = text.splitlines()
    assert lines[0] == "# SkillOpt-Sleep — night 1 report"
    assert lines[1] == "- held-out score: 0.000 -> 1.000"
    assert lines[2] == "- gate: **accept_new_best** (accepted=True)"
    assert "## Accepted edits" in lines
    note = house.git("notes", "--ref=skillopt-night", "show", "skillopt/night-1")
    assert "# SkillOpt-Sleep — night 1 report" in note


def test_the_proposal_has_one_commit_for_each_accepted_version(house: House) -> None:
    house.sleep(asks())
    subjects = house.git("log", "--format=%s", "main..skillopt/night-1").splitlines()
    assert [s.split(":")[1].strip() for s in subjects] == ["step 1"]
    run = house.git("log", "--format=%s", "main..skillopt/run/night-1").splitlines()
    assert "end" in run[0]


def test_a_night_that_waits_is_not_dreamt_again_and_costs_nothing(house: House) -> None:
    house.sleep(asks())
    refs = house.refs()
    second = house.sleep(asks())
    assert second.staging_branch is None
    assert second.report.night == 2
    assert second.report.gate_action is Action.SKIP
    assert "night-1 waits for your decision" in second.report.notes[0]
    moved = {ref for ref, oid in house.refs().items() if refs.get(ref) != oid}
    assert moved == {"refs/skillopt/sleep"}


def test_a_task_in_other_words_is_something_new(house: House) -> None:
    house.sleep(asks())
    first, *rest = asks()
    mended = first.model_copy(update={"prompt": "Write something quite different"})
    assert house.sleep([mended, *rest]).report.n_replayed > 0


def test_a_third_night_as_quiet_as_the_second_leaves_nothing(house: House) -> None:
    house.sleep(asks())
    second = house.sleep(asks())
    refs = house.refs()
    third = house.sleep(asks())
    assert third.report.night == second.report.night == 2
    assert house.refs() == refs


def test_after_an_adoption_nothing_is_proposed_twice(house: House) -> None:
    house.sleep(asks())
    house.git("merge", "--quiet", "--ff-only", "skillopt/night-1")
    second = house.sleep(asks())
    assert second.staging_branch is None
    assert second.report.baseline_score == 1.0


def test_a_dry_run_opens_no_branch_and_writes_no_state(house: House) -> None:
    refs = house.refs()
    outcome = house.sleep(asks(), dry_run=True)
    assert outcome.staging_branch is None
    assert outcome.report.accepted
    assert house.refs() == refs
    assert house.git("status", "--porcelain") == ""


def test_a_dry_run_says_what_the_night_then_does(house: House) -> None:
    rehearsed = house.sleep(asks(), dry_run=True).report
    slept = house.sleep(asks()).report
    assert rehearsed.edits == slept.edits
    assert rehearsed.candidate_score == slept.candidate_score


def test_no_number_is_used_twice_though_branches_and_state_are_gone(house: House) -> None:
    house.sleep(asks())
    house.git("branch", "-D", "skillopt/night-1", "skillopt/run/night-1")
    house.git("update-ref", "-d", "refs/skillopt/sleep")
    assert house.sleep(asks()).report.night == 2


def test_without_a_held_out_task_the_text_is_kept_for_reading_only(house: House) -> None:
    outcome = house.sleep(asks(train=3, val=0))
    report = outcome.report
    assert outcome.staging_branch is None
    assert report.gate_action is Action.REJECT_UNVERIFIED
    assert not report.accepted
    assert report.rejected_edits == ()
    assert report.unverified_edits
    assert any("1 more held-out task needed" in note for note in report.notes)
    run = house.git("log", "-p", "skillopt/run/night-1")
    assert "Checked: yes" in run
    assert "reject_unverified" in run


def test_val_that_train_repeats_is_not_held_out(house: House) -> None:
    same = "Write a note about the parser and its many bugs"
    tasks = [*asks(train=3, val=0), ask("a", same, "train"), ask("b", same.upper(), "val")]
    report = house.sleep(tasks).report
    assert report.gate_action is Action.REJECT_UNVERIFIED
    assert any("val is not held out" in note for note in report.notes)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_tasks_that_are_all_for_test_are_never_learned_from(house: House, count: int) -> None:
    tasks = [ask(f"t{i}", f"Write a note about thing {i}", "test") for i in range(count)]
    outcome = house.sleep(tasks)
    assert outcome.staging_branch is None
    assert not outcome.report.accepted
    assert "no task to learn from" in outcome.report.notes[0]


def test_one_task_alone_is_not_validated_on_train(house: House) -> None:
    outcome = house.sleep([ask("only", "Write a note about the parser", "train")])
    assert outcome.report.gate_action is Action.REJECT_UNVERIFIED
    assert outcome.staging_branch is None


def test_an_id_in_two_splits_is_refused(house: House) -> None:
    with pytest.raises(TaskError, match="t0"):
        house.sleep([*asks(), ask("t0", "Something else altogether", "val")])


def test_too_few_tasks_for_the_rule_are_unverified_with_the_number_needed(house: House) -> None:
    report = house.sleep(asks(), sleep='rule = "paired"').report
    assert report.gate_action is Action.REJECT_UNVERIFIED
    assert report.rejected_edits == ()
    assert any("more held-out task" in note for note in report.notes)


def test_evidence_is_pooled_over_nights(house: House) -> None:
    first = house.sleep(asks(train=2, val=2))
    assert first.report.accepted
    house.git("branch", "-D", "skillopt/night-1")
    state = house.state
    assert state.state.night == 1
    assert len(state.tasks.splitlines()) == 4


def test_a_gate_that_is_off_is_greedy_and_says_so(house: House) -> None:
    report = house.sleep(asks(), sleep="enabled = false").report
    assert report.gate_action is Action.FORCE_ACCEPT
    assert "the gate is off" in report.notes[0]
    assert "the gate is off" in report.markdown()


def test_the_state_is_one_commit_a_night(house: House) -> None:
    house.sleep(asks())
    house.sleep(asks())
    log = house.git("log", "--format=%s", "refs/skillopt/sleep").split()
    assert log == ["night-2", "night-1"]
    names = house.git("ls-tree", "--name-only", "refs/skillopt/sleep").split()
    assert names == ["history.jsonl", "slow_memory.md", "state.json", "tasks.jsonl"]


def test_the_slow_memory_is_written_and_read(house: House) -> None:
    house.sleep(asks())
    assert house.state.slow_memory.strip()


def test_a_repository_without_a_memory_file_gets_one_if_a_rule_goes_there(tmp_path: Path) -> None:
    files = {"skills/notes/SKILL.md": SKILL, "skillgit.toml": CONFIG}
    house = make_house(tmp_path / "repo", files)
    house.sleep(asks(), stand_ins=OnlyMemory(CHECKED).as_optimizer)
    changed = house.git("diff", "--name-only", "main...skillopt/night-1").split()
    assert changed == ["AGENTS.md"]
    lines = house.git("show", "skillopt/night-1:AGENTS.md").splitlines()
    assert lines[0] == "<!-- SKILLOPT-SLEEP:LEARNED START -->"
    assert lines[-1] == "<!-- SKILLOPT-SLEEP:LEARNED END -->"


def test_every_edit_of_a_report_names_skill_or_memory(house: House) -> None:
    report = house.sleep(asks()).report
    everything = (*report.edits, *report.rejected_edits, *report.unmatched_edits)
    assert everything
    assert {edit.target for edit in everything} <= {"skill", "memory"}
    assert any(edit.op is EditOp.ADD for edit in report.edits)


class Beside(Proposing):
    """An optimizer that also proposes a rule for which it names no reason."""

    def complete(self, request: ModelRequest) -> ModelReply:
        reply = super().complete(request)
        if (request.answer_schema or {}).get("title") != "FailureAnalysis":
            return reply
        answer = json.loads(reply.text)
        beside = {"op": "add", "line": 0, "text": "Write a heading.", "reasons": []}
        return ModelReply(text=json.dumps({**answer, "edits": [*answer["edits"], beside]}))


def test_a_rule_that_answers_no_reason_is_not_tried_and_stands_in_the_note(house: House) -> None:
    house.sleep(asks(), stand_ins=Beside(CHECKED).as_optimizer)
    assert "Write a heading." not in house.git("show", "skillopt/night-1:skills/notes/SKILL.md")
    notes = house.git("log", "--notes=skillopt-night", "--format=%N", "skillopt/run/night-1")
    steps = [json.loads(line) for line in notes.splitlines() if '"kind":"step"' in line]
    outcomes = {o["edit"]["content"]: o["outcome"] for step in steps for o in step.get("edits", ())}
    assert outcomes[CHECKED] == "applied"
    assert outcomes["Write a heading."] == "unsupported"


class Asked:
    """A target that keeps what it is asked, and heeds the rule."""

    def __init__(self) -> None:
        self.prompts: list[str] = []

    def complete(self, request: ModelRequest) -> ModelReply:
        good = CHECKED in request.messages[0].content
        if not good:
            self.prompts.append(request.messages[-1].content)
        return ModelReply(text="Checked: yes" if good else "A note.")


def test_evidence_of_several_nights_becomes_enough_and_is_not_measured_again(
    house: House,
) -> None:
    def sleep(val: int) -> tuple[SleepReport, Asked]:
        target = Asked()
        models = Proposing(CHECKED).as_optimizer | {Role.TARGET: target}
        outcome = house.sleep(asks(3, val), sleep='rule = "paired"', stand_ins=models)
        return outcome.report, target

    first, _ = sleep(3)
    assert first.gate_action is Action.REJECT_UNVERIFIED
    assert first.unverified_edits[0].words == CHECKED
    second, target = sleep(7)
    assert second.gate_action is Action.ACCEPT_NEW_BEST
    held_out = {task.prompt: task for task in asks(3, 7)[3:]}
    assert len([p for p in target.prompts if p in held_out]) == 4


def test_what_could_not_be_verified_is_no_negative_feedback(house: House) -> None:
    house.sleep(asks(3, 0), stand_ins=Proposing(CHECKED).as_optimizer)
    optimizer = Proposing(CHECKED)
    outcome = house.sleep(asks(3, 2), stand_ins=optimizer.as_optimizer)
    assert outcome.report.accepted
    assert CHECKED not in optimizer.prompts[0].partition("## What you have learned")[0]
