from __future__ import annotations

import json
import sqlite3
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from projects import CONFIG, SKILL_PATH, SKILL_TEXT, Project, brief_tasks

from skillgit.errors import BlockedError, BudgetError, CallError, UserError
from skillgit.history import StepNote, TestNote
from skillgit.ports import Model
from skillgit.records import Action, ModelReply, ModelRequest, Outcome, Skill, SkillDocument
from skillgit.store.git.refs import Refs


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")


class Stopped(BaseException):
    """Stands for a death of the process in the middle of a call."""


class DiesAt:
    """A model that works until its n-th call, over all roles, and then takes the process along."""

    def __init__(self, calls: int) -> None:
        self.left = calls
        self._lock = threading.Lock()

    def __call__(self, model: Model) -> Model:
        outer = self

        class Mortal:
            def complete(self, request: ModelRequest) -> ModelReply:
                with outer._lock:
                    outer.left -= 1
                    if outer.left < 0:
                        raise Stopped
                return model.complete(request)

        return Mortal()


def requests(project: Project) -> list[tuple[str, ...]]:
    journal = project.path / ".git/skillgit/journal.sqlite"
    connection = sqlite3.connect(journal)
    try:
        return sorted(
            connection.execute("SELECT step, purpose, slot, request FROM replies").fetchall()
        )
    finally:
        connection.close()


def trained_refs(project: Project) -> dict[str, str]:
    return {ref: target for ref, target in project.refs().items() if "skillopt" in ref}


# ── a whole run ──────────────────────────────────────────────────────────────────────────────


def test_the_score_rises_and_every_moment_is_a_commit(project: Project) -> None:
    records = project.train()
    actions = [record.entry.action for record in records]
    assert actions[0] is Action.BASELINE
    assert actions[-1] is Action.END
    assert actions.count(Action.EPOCH) == 2
    assert Action.ACCEPT_NEW_BEST in actions
    first, last = records[0].entry.state, records[-1].entry.state
    assert first.best.score == 0.0
    assert last.best.score is not None
    assert last.best.score >= 0.5
    tip = project.git("rev-parse", "skillopt/run/train-1").strip()
    assert tip == records[-1].commit.id


def test_a_rejection_is_a_commit_and_its_revert(tmp_path: Path) -> None:
    project = Project(tmp_path / "project", config=CONFIG.replace("epochs = 2", "epochs = 5"))
    records = project.train()
    rejected = [r for r in records if r.entry.action is Action.REJECT]
    assert rejected
    for record in rejected:
        revert = record.commit
        assert revert.action is Action.REVERT
        body = project.git("log", "-1", "--format=%b", revert.id)
        assert f"This reverts commit {revert.parent}." in body
        before = project.git("rev-parse", f"{revert.parent}~:{SKILL_PATH}")
        assert project.git("rev-parse", f"{revert.id}:{SKILL_PATH}") == before
        assert record.note is not None
        assert record.note.rejected_edits


def test_nothing_but_the_runs_own_refs_moves(project: Project) -> None:
    project.write("notes.txt", "not mine\n")
    project.git("add", "notes.txt")
    project.write(SKILL_PATH, SKILL_TEXT + "\nA line nobody has committed.\n")
    index = (project.path / ".git/index").read_bytes()
    status = project.git("status", "--porcelain")
    head = (project.path / ".git/HEAD").read_bytes()
    foreign = {ref: oid for ref, oid in project.refs().items() if "skillopt" not in ref}
    project.train()
    assert (project.path / ".git/index").read_bytes() == index
    assert (project.path / ".git/HEAD").read_bytes() == head
    assert project.git("status", "--porcelain") == status
    assert "nobody has committed" in (project.path / SKILL_PATH).read_text()
    after = {ref: oid for ref, oid in project.refs().items() if "skillopt" not in ref}
    assert after == foreign
    assert "nobody has committed" not in project.git("show", f"skillopt/run/train-1:{SKILL_PATH}")
    project.git("fsck", "--strict")


def test_the_run_changes_only_the_skill(project: Project) -> None:
    project.train()
    changed = project.git("diff", "--name-only", "main", "skillopt/run/train-1").split()
    assert changed == [SKILL_PATH]


def test_the_proposal_holds_the_accepted_versions_alone(project: Project) -> None:
    records = project.train()
    accepted = [r for r in records if r.entry.action.accepted]
    subjects = project.subjects("skillopt/train-1")
    assert [s for s in subjects if "accept" in s] == [
        s for s in subjects if not s.startswith(("Revert", "skillopt(brief): epoch"))
    ]
    assert len([s for s in subjects if "accept" in s]) == len(accepted)
    best = project.git("rev-parse", f"skillopt/best:{SKILL_PATH}")
    assert project.git("rev-parse", f"skillopt/train-1:{SKILL_PATH}") == best


def test_the_test_split_is_scored_once_at_the_end(project: Project) -> None:
    records = project.train()
    (note,) = [line for line in records[-1].entry.lines if isinstance(line, TestNote)]
    assert note.n_tasks == 4
    assert note.baseline == 0.0
    assert note.best is not None
    assert note.best > 0.0
    before = requests(project)
    assert not [r for r in before if r[1] == "evaluate" and r[2].startswith("b-16") and r[0] == 1]


def test_training_an_ended_run_again_spends_nothing_and_adds_nothing(project: Project) -> None:
    project.train()
    refs, paid = project.refs(), requests(project)
    assert project.train() == []
    assert project.refs() == refs
    assert requests(project) == paid


def test_a_new_run_pays_for_no_score_that_is_known(project: Project) -> None:
    project.train()
    records = project.train(new=True)
    assert records[0].commit.run == "train-2"
    assert records[0].entry.finished_at is None  # the baseline came from the ledger alone
    assert records[0].entry.state.best.score == 0.0


# ── resume ───────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], list[tuple[str, ...]]]:
    """The refs and the requests of the run that was never killed."""
    project = Project(tmp_path_factory.mktemp("whole") / "project")
    project.train()
    return trained_refs(project), requests(project)


@pytest.mark.parametrize("calls", [0, 3, 9, 14, 20, 33, 41, 47, 60])
def test_a_killed_run_ends_as_if_it_had_never_been_killed(
    project: Project, whole: tuple[dict[str, str], list[tuple[str, ...]]], calls: int
) -> None:
    with pytest.raises(Stopped):
        project.train(wrap=DiesAt(calls))
    project.train()
    assert trained_refs(project) == whole[0]
    assert requests(project) == whole[1]


def test_a_run_killed_again_and_again_gets_there(
    project: Project, whole: tuple[dict[str, str], list[tuple[str, ...]]]
) -> None:
    for _ in range(100):
        try:
            project.train(wrap=DiesAt(7))
        except Stopped:
            continue
        break
    assert trained_refs(project) == whole[0]
    assert requests(project) == whole[1]


def test_a_kill_between_notes_and_branch_misleads_nobody(
    project: Project,
    whole: tuple[dict[str, str], list[tuple[str, ...]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    move = Refs.move
    for moves in range(1, 12):
        seen = 0

        def dies(self: Refs, ref: str, *, limit: int = moves, **rest: object) -> object:
            nonlocal seen
            if ref.startswith("refs/heads/skillopt/run/"):
                seen += 1
                if seen >= limit:
                    raise Stopped
            return move(self, ref, **rest)  # type: ignore[arg-type]

        monkeypatch.setattr(Refs, "move", dies)
        try:
            project.train()
        except Stopped:
            continue
        finally:
            monkeypatch.setattr(Refs, "move", move)
        break
    project.train()
    assert trained_refs(project) == whole[0]
    assert requests(project) == whole[1]


def test_stopping_to_iterate_stops_the_training_and_keeps_what_was_yielded(
    project: Project, whole: tuple[dict[str, str], list[tuple[str, ...]]]
) -> None:
    from skillgit.train import train
    from skillgit.training.resume import open_run

    with project.context() as context:
        loop = train(open_run(context).training)
        commits = [next(loop).commit.id for _ in range(3)]
        loop.close()
    assert project.git("rev-parse", "skillopt/run/train-1").strip() == commits[-1]
    project.train()
    assert trained_refs(project) == whole[0]


def test_resume_with_another_target_is_refused_and_names_it(project: Project) -> None:
    with pytest.raises(Stopped):
        project.train(wrap=DiesAt(30))
    refs = project.refs()
    with pytest.raises(UserError, match=r"target\.model"):
        project.train(CONFIG.replace("sim-target", "sim-target-large"))
    with pytest.raises(UserError, match=r"train\.seed"):
        project.train(CONFIG.replace("seed = 3", "seed = 7"))
    assert project.refs() == refs


def test_resume_with_more_workers_changes_nothing(
    project: Project, whole: tuple[dict[str, str], list[tuple[str, ...]]]
) -> None:
    with pytest.raises(Stopped):
        project.train(wrap=DiesAt(30))
    project.train(CONFIG.replace("workers = 4", "workers = 9"))
    assert (
        trained_refs(project)["refs/heads/skillopt/run/train-1"]
        == (whole[0]["refs/heads/skillopt/run/train-1"])
    )


def test_a_budget_stops_and_a_larger_one_goes_on(
    project: Project, whole: tuple[dict[str, str], list[tuple[str, ...]]]
) -> None:
    with pytest.raises(BudgetError, match="25 calls"):
        project.train(CONFIG + "[budget]\ncalls = 25\n")
    assert len(requests(project)) == 25
    with pytest.raises(BudgetError):
        project.train(CONFIG + "[budget]\ncalls = 25\n")
    project.train(CONFIG + "[budget]\ncalls = 1000\n")
    assert trained_refs(project) == whole[0]


# ── what a step does when things go wrong ────────────────────────────────────────────────────


class Fails:
    """A model whose calls fail when they ask for what `when` says, or only the optimizer's."""

    def __init__(self, when: str, *, optimizer_alone: bool = False) -> None:
        self.when = when
        self.optimizer_alone = optimizer_alone

    def __call__(self, model: Model) -> Model:
        outer = self

        class Failing:
            def complete(self, request: ModelRequest) -> ModelReply:
                meant = request.answer_schema is not None or not outer.optimizer_alone
                if meant and any(outer.when in message.content for message in request.messages):
                    raise CallError("timed out after 3 tries")
                return model.complete(request)

        return Failing()


def test_when_nothing_comes_back_it_is_blocked_and_nothing_is_recorded(project: Project) -> None:
    refs = project.refs()
    with pytest.raises(BlockedError, match="timed out") as caught:
        project.train(wrap=Fails(""))
    assert "without a score" in caught.value.message
    assert project.refs() == refs


def test_one_timed_out_task_is_unscored_and_the_mean_is_over_the_others(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    records = project.train(wrap=Fails("Write a brief on public libraries."))  # val: b-08
    state = records[-1].entry.state
    assert state.best.score is not None
    notes = [r.note for r in records if r.note and r.note.scores_measured]
    assert notes
    assert {note.scores_unscored for note in notes} == {1}
    assert {note.scores_measured for note in notes} == {7}


def test_an_optimizer_that_never_comes_back_blocks_the_step(project: Project) -> None:
    with pytest.raises(BlockedError, match="optimizer"):
        project.train(wrap=Fails("", optimizer_alone=True))
    assert project.subjects() == ["skillopt(brief): step 0: baseline 0.0000"]


class AnswersProse:
    """An optimizer that only ever talks about edits."""

    def __call__(self, model: Model) -> Model:
        class Talking:
            def complete(self, request: ModelRequest) -> ModelReply:
                if request.answer_schema is None:
                    return model.complete(request)
                return ModelReply(text="I would use {op: delete} here, but no change is needed.")

        return Talking()


def test_prose_about_edits_is_a_recorded_parse_failure_and_the_run_goes_on(
    project: Project,
) -> None:
    records = project.train(wrap=AnswersProse())
    notes = [record.note for record in records if record.note]
    assert {note.action for note in notes} == {Action.SKIP}
    assert all(patch.parse_failure for note in notes for patch in note.raw_patches)
    assert records[-1].entry.action is Action.END
    assert "refs/heads/skillopt/train-1" not in project.refs()


class AlwaysProposes:
    """An optimizer with one idea."""

    def __init__(self, edit: str) -> None:
        self.edit = edit

    def __call__(self, model: Model) -> Model:
        outer = self

        class OneIdea:
            def complete(self, request: ModelRequest) -> ModelReply:
                if request.answer_schema is None:
                    return model.complete(request)
                return ModelReply(text=f'{{"edits": [{outer.edit}]}}')

        return OneIdea()


def test_an_edit_rejected_alone_on_this_text_is_not_tried_on_it_again(project: Project) -> None:
    idea = '{"op": "add", "content": "- Keep every answer under 3 words."}'
    records = project.train(wrap=AlwaysProposes(idea))
    notes = [record.note for record in records if record.note]
    assert notes[0].action is Action.REJECT
    later = [note for note in notes[1:] if note.raw_patches]
    assert later
    for note in later:
        assert note.action is Action.NOOP
        assert {outcome.outcome for outcome in note.edits} == {Outcome.KNOWN_REJECTED}
        assert note.scores_measured == 0


def test_an_edit_that_changes_nothing_is_a_noop_without_rollouts(project: Project) -> None:
    idea = '{"op": "add", "content": "- Write in full sentences."}'
    records = project.train(wrap=AlwaysProposes(idea))
    notes = [record.note for record in records if record.note]
    assert {note.action for note in notes} == {Action.NOOP}
    assert all(note.edits[0].outcome is Outcome.DUPLICATE for note in notes)
    assert {note.scores_measured for note in notes} == {0}


# ── settings ─────────────────────────────────────────────────────────────────────────────────


def test_without_a_gate_everything_is_accepted_and_best_is_still_the_best(
    project: Project,
) -> None:
    records = project.train(CONFIG + "[gate]\nenabled = false\n")
    tried = [r for r in records if r.note and r.note.scores_measured]
    assert {r.entry.action for r in tried} == {Action.FORCE_ACCEPT}
    scores = [r.entry.state.current.score for r in records]
    assert records[-1].entry.state.best.score == max(s for s in scores if s is not None)


def test_a_set_where_everything_passes_is_refused_unless_forced(tmp_path: Path) -> None:
    tasks = [t | {"judge": {"kind": "rule", "checks": [{"op": "min_chars", "arg": 1}]}}
             for t in brief_tasks()]  # fmt: skip
    project = Project(tmp_path / "project", tasks=tasks)
    with pytest.raises(UserError, match="nothing left to learn"):
        project.train()
    assert "refs/heads/skillopt/run/train-1" not in project.refs()
    assert project.train(force=True)[-1].entry.action is Action.END


def test_a_run_from_another_version_carries_it_in_its_step_0(project: Project) -> None:
    text = SKILL_TEXT + '- Add a section headed "Key Risks".\n'
    start = Skill(name="brief", documents=(SkillDocument(path=SKILL_PATH, data=text.encode()),))
    records = project.train(start=start)
    assert project.git("show", f"{records[0].commit.id}:{SKILL_PATH}") == text
    first = records[0].entry.state.best.score
    assert first is not None
    assert first > 0.0


def test_a_skill_of_several_documents_is_evaluated_as_one(tmp_path: Path) -> None:
    config = CONFIG.replace(
        f'path = "{SKILL_PATH}"', f'path = "{SKILL_PATH}"\nfiles = ["refs/*.md"]'
    )
    project = Project(tmp_path / "project", config=config)
    project.write("skills/brief/refs/style.md", "# Style\n\n- Be kind.\n")
    project.commit("Add a reference")
    idea = '{"op": "add", "target": "skills/brief/refs/style.md", "content": "- Add a section headed \\"Key Risks\\"."}'
    records = project.train(wrap=AlwaysProposes(idea))
    assert records[1].entry.action is Action.ACCEPT_NEW_BEST
    changed = project.git("diff", "--name-only", "main", "skillopt/best").split()
    assert changed == ["skills/brief/refs/style.md"]


def test_the_notes_read_back_are_the_notes_written(project: Project) -> None:
    records = project.train()
    with project.context() as context:
        for record in records:
            if record.note is None:
                continue
            at = record.commit.parent if record.entry.action.rejected else record.commit.id
            (note,) = [n for n in context.store.notes_on(at) if isinstance(n, StepNote)]
            assert note == record.note


def test_a_run_killed_before_its_first_commit_goes_on_under_its_own_id(project: Project) -> None:
    with pytest.raises(Stopped):
        project.train(wrap=DiesAt(5))
    paid = requests(project)
    assert "refs/heads/skillopt/run/train-1" not in project.refs()
    project.clock.at += timedelta(hours=1)
    records = project.train()
    assert records[0].commit.run == "train-1"
    assert set(paid) <= set(requests(project))
    assert len({r[2] for r in requests(project) if r[0] == 0}) == 8  # no val task paid for twice


def test_a_run_whose_best_was_adopted_in_the_middle_goes_on(project: Project) -> None:
    with pytest.raises(Stopped):
        project.train(wrap=DiesAt(45))
    project.git("checkout", "--quiet", "main")
    project.git("merge", "--quiet", "--ff-only", "skillopt/best")
    records = project.train()
    assert records[-1].commit.run == "train-1"
    assert records[-1].entry.action is Action.END


def test_a_run_from_another_version_is_resumed_without_naming_it_again(project: Project) -> None:
    text = SKILL_TEXT + '- Add a section headed "Key Risks".\n'
    start = Skill(name="brief", documents=(SkillDocument(path=SKILL_PATH, data=text.encode()),))
    with pytest.raises(Stopped):
        project.train(start=start, wrap=DiesAt(20))
    records = project.train()
    assert records[-1].commit.run == "train-1"
    assert records[-1].entry.action is Action.END
    assert project.train() == []


def test_resume_after_the_skill_was_changed_on_main_is_refused(project: Project) -> None:
    with pytest.raises(Stopped):
        project.train(wrap=DiesAt(30))
    project.write(SKILL_PATH, SKILL_TEXT + "- A rule of my own.\n")
    project.commit("Change the skill")
    with pytest.raises(UserError, match="skill:"):
        project.train()
    assert project.train(new=True)[0].commit.run == "train-2"


def test_a_run_ends_once_every_val_task_passes(project: Project) -> None:
    idea = (
        '{"op": "add", "content": "- Add a section headed \\"Key Risks\\".\\n'
        '- Close with a line \\"Confidence: high\\"."}'
    )
    config = CONFIG.replace(
        'model = "sim-target"', 'model = "sim-target"\nsimulation.obedience = 1.0'
    )
    records = project.train(config, wrap=AlwaysProposes(idea))
    assert [r.entry.action for r in records] == [
        Action.BASELINE,
        Action.ACCEPT_NEW_BEST,
        Action.END,
    ]
    assert records[-1].entry.state.best.score == 1.0
    goes_on = config + "stop_when_perfect = false\n"
    assert project.train(goes_on, new=True, wrap=AlwaysProposes(idea))[-1].entry.step == 4


KEY = "sk-proj-a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"


def test_a_secret_in_an_optimizers_answer_reaches_no_object_of_git(project: Project) -> None:
    idea = json.dumps({"op": "add", "content": f"- Call the service with {KEY}.", "rationale": KEY})
    project.train(wrap=AlwaysProposes(idea))
    listed = project.git("rev-list", "--all", "--objects").split()
    contents = [project.git("cat-file", "-p", word) for word in listed if len(word) == 40]
    assert any("[redacted:" in text for text in contents)
    assert not any(KEY in text for text in contents)


def test_a_document_with_a_secret_is_never_committed(project: Project) -> None:
    text = SKILL_TEXT + f"- Call the service with {KEY}.\n"
    start = Skill(name="brief", documents=(SkillDocument(path=SKILL_PATH, data=text.encode()),))
    with pytest.raises(UserError, match=SKILL_PATH) as caught:
        project.train(start=start)
    assert KEY not in caught.value.message
    assert "refs/heads/skillopt/run/train-1" not in project.refs()
