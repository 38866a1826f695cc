"""Each key of the gate, turned in whole runs, and the runs killed and gone on with."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from projects import CONFIG, SKILL_PATH, SKILL_TEXT, Project, brief_tasks
from test_train import AlwaysProposes, DiesAt, Fails, Stopped, requests, trained_refs

from skillgit.errors import BlockedError, BudgetError
from skillgit.evaluation.evaluate import Evaluation
from skillgit.history import ConfigNote, RejectedLine, ScoresLine, StepNote
from skillgit.ports import Model
from skillgit.records import (
    Action,
    Measurements,
    Metric,
    ModelReply,
    ModelRequest,
    Outcome,
    Score,
)
from skillgit.training.state import Recorded
from skillgit.training.validate import GateDecision, unseen_gain

LONG = CONFIG.replace("epochs = 2", "epochs = 4").replace("seed = 3", "seed = 6")
NOISY = LONG.replace(
    'model = "sim-target"', 'model = "sim-target"\nsimulation = { obedience = 0.6 }'
)
FIXED = LONG.replace(
    'model = "sim-target"', 'model = "sim-target"\nsimulation = { obedience = 1.0 }'
)


def gate(*lines: str) -> str:
    return "[gate]\n" + "\n".join(lines) + "\n"


def notes(records: list[Recorded]) -> list[StepNote]:
    return [record.note for record in records if record.note]


def verdicts(records: list[Recorded]) -> list[Action]:
    return [record.entry.action for record in records]


def score_lines(project: Project, records: list[Recorded], step: int) -> list[ScoresLine]:
    (record,) = [r for r in records if r.note and r.note.step == step]
    return [line for _, line in record.entry.object_lines if isinstance(line, ScoresLine)]


def rejected(records: list[Recorded]) -> list[StepNote]:
    return [note for note in notes(records) if note.action is Action.REJECT]


# ── curtail ──────────────────────────────────────────────────────────────────────────────────


def test_cut_short_the_verdicts_are_the_same_and_fewer_tasks_are_sent(tmp_path: Path) -> None:
    cut = Project(tmp_path / "cut").train(NOISY + gate("curtail = true"))
    full = Project(tmp_path / "full").train(NOISY + gate("curtail = false"))
    assert verdicts(cut) == verdicts(full)
    assert [r.entry.state.best.score for r in cut] == [r.entry.state.best.score for r in full]
    assert not any(note.score_after_is_bound for note in notes(full))
    short = [note for note in notes(cut) if note.scores_not_sent]
    assert short
    for note, whole in zip(notes(cut), notes(full), strict=True):
        if note.action.accepted:
            assert note.scores_not_sent == 0
        if note.score_after_is_bound:
            assert note.score_after is not None
            assert whole.score_after is not None
            assert note.score_after >= whole.score_after - 1e-9


def test_a_curtailed_score_is_a_bound_wherever_it_stands(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    records = project.train(NOISY)
    record = next(r for r in records if r.note and r.note.score_after_is_bound)
    message = project.git("log", "-1", "--format=%B", record.commit.parent)
    assert "reject at most 0." in message
    assert "Skillopt-Score: <=0." in message
    assert record.note is not None
    assert "cut short after" in record.note.gate_reason
    (line,) = {x for _, x in record.entry.object_lines if isinstance(x, RejectedLine)}
    assert line.after_is_bound


def test_what_was_not_sent_is_not_in_the_ledger(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    records = project.train(NOISY)
    for note in notes(records):
        if note.score_after_is_bound and not note.scores_from_ledger:
            sent = [k for x in score_lines(project, records, note.step) for k in x.tasks]
            assert len(sent) == 8 - note.scores_not_sent
            assert note.scores_measured == len(sent)
            assert note.scores_unscored == 0


def test_what_is_sent_does_not_depend_on_the_workers(tmp_path: Path) -> None:
    few, many = (Project(tmp_path / f"w{n}") for n in (1, 8))
    few.train(NOISY.replace("workers = 4", "workers = 1"))
    many.train(NOISY.replace("workers = 4", "workers = 8"))
    assert requests(few) == requests(many)


# ── the other keys ───────────────────────────────────────────────────────────────────────────


def test_repeats_attempt_every_val_task_so_often_and_average(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    records = project.train(NOISY + gate("repeats = 3"))
    asked = [r for r in requests(project) if r[0] == 0 and r[1] == "evaluate"]
    assert len(asked) == 8 * 3
    lines = [x for _, x in records[0].entry.object_lines if isinstance(x, ScoresLine)]
    assert [line.repeat for line in lines] == [0, 1, 2]
    scores = {r.entry.state.current.score for r in records}
    assert any(score is not None and (score * 8) % 1 > 1e-6 for score in scores)


RISKS = '- Add a section headed \\"Key Risks\\".'


def idea(content: str) -> str:
    return f'{{"op": "add", "content": "{content}"}}'


def test_min_delta_asks_for_more_than_a_gain(tmp_path: Path) -> None:
    once, asking = Project(tmp_path / "once"), Project(tmp_path / "asking")
    wrap = AlwaysProposes(idea(RISKS))
    assert Action.ACCEPT_NEW_BEST in verdicts(once.train(FIXED, wrap=wrap))
    records = asking.train(FIXED + gate("min_delta = 0.6"), wrap=wrap)
    assert Action.ACCEPT_NEW_BEST not in verdicts(records)


def test_paired_says_when_the_tasks_are_too_few(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    wrap = AlwaysProposes(idea(RISKS))  # 4 of 8 val tasks ask for this section alone
    records = project.train(FIXED + gate('rule = "paired"', "curtail = false"), wrap=wrap)
    first = notes(records)[0]
    assert first.action is Action.REJECT
    assert first.tasks_needed == 1
    assert "not enough tasks" in first.gate_reason
    easier = Project(tmp_path / "easier")
    records = easier.train(FIXED + gate('rule = "paired"', "alpha = 0.1"), wrap=wrap)
    assert notes(records)[0].action is Action.ACCEPT_NEW_BEST


def test_the_metric_decides_what_a_gain_is(tmp_path: Path) -> None:
    wrap = AlwaysProposes(idea(RISKS))
    hard = Project(tmp_path / "hard").train(FIXED, wrap=wrap)
    soft = Project(tmp_path / "soft").train(FIXED + gate('metric = "soft"'), wrap=wrap)
    mixed = Project(tmp_path / "mixed").train(
        FIXED + gate('metric = "mixed"', "mixed_weight = 0.25"), wrap=wrap
    )
    after = [notes(records)[0].score_after for records in (hard, soft, mixed)]
    assert after == [0.5, 0.75, pytest.approx(0.5625)]


def test_with_max_unscored_at_0_one_lost_task_blocks(tmp_path: Path) -> None:
    lost = Fails("Write a brief on public libraries.")  # b-08, a val task
    assert Project(tmp_path / "some").train(FIXED, wrap=lost)
    with pytest.raises(BlockedError, match="1 of 8 tasks"):
        Project(tmp_path / "none").train(FIXED + gate("max_unscored = 0.0"), wrap=lost)


def test_betting_waits_for_more_than_eight_tasks_can_show(tmp_path: Path) -> None:
    records = Project(tmp_path / "project").train(FIXED + gate('rule = "betting"'))
    assert not any(action.accepted for action in verdicts(records))


def test_no_regression_rejects_what_lowers_one_task(tmp_path: Path) -> None:
    text = SKILL_TEXT + '- Add a section headed "Key Risks".\n'
    trade = (
        '{"op": "replace", "anchor": "- Add a section headed \\"Key Risks\\".", '
        '"content": "- Close with a confidence line."}'
    )
    tasks = brief_tasks()
    for task in tasks[8:16]:
        check = {"op": "regex", "arg": "[Cc]onfidence\\s*[:=]"}
        if task["id"] != "b-08":
            task["judge"] = {"kind": "rule", "checks": [check]}
    reasons = {}
    for line in ("no_regression = false", "no_regression = true"):
        project = Project(tmp_path / line.split()[-1], skill=text, tasks=tasks)
        records = project.train(FIXED + gate(line), wrap=AlwaysProposes(trade))
        reasons[line] = notes(records)[0]
    assert reasons["no_regression = false"].action is Action.ACCEPT_NEW_BEST
    assert reasons["no_regression = true"].action is Action.REJECT


def test_a_leak_is_warned_of_or_rejected_unmeasured(tmp_path: Path) -> None:
    leaky = idea("- Match [Cc]onfidence\\\\s*[:=] somewhere.")
    warned = notes(Project(tmp_path / "warn").train(FIXED, wrap=AlwaysProposes(leaky)))[0]
    assert any("regex" in warning for warning in warned.warnings)
    project = Project(tmp_path / "reject")
    records = project.train(FIXED + gate('leak = "reject"'), wrap=AlwaysProposes(leaky))
    refused = notes(records)[0]
    assert (refused.action, refused.score_after) == (Action.REJECT, None)
    assert refused.scores_measured == 0
    assert "regex" in refused.gate_reason
    assert "reject unmeasured" in "\n".join(project.subjects())


def test_the_length_budget_keeps_long_edits_out(tmp_path: Path) -> None:
    config = FIXED.replace(f'path = "{SKILL_PATH}"', f'path = "{SKILL_PATH}"\nmax_tokens = 60')
    long = idea("- " + "Go on and on. " * 30)
    note = notes(Project(tmp_path / "project").train(config, wrap=AlwaysProposes(long)))[0]
    assert note.action is Action.NOOP
    assert {outcome.outcome for outcome in note.edits} == {Outcome.TOO_LONG}


# ── measuring current again ──────────────────────────────────────────────────────────────────


class Lucky:
    """A target that passes or fails by luck alone, drawn anew for each skill, task and repeat."""

    def __call__(self, model: Model) -> Model:
        class Target:
            def complete(self, request: ModelRequest) -> ModelReply:
                if request.answer_schema is not None:
                    return model.complete(request)
                said = request.messages[0].content + str(request.seed)
                is_lucky = hashlib.sha256(said.encode()).digest()[0] % 2
                text = "# Brief\n\n## Key Risks\n\nNone.\n\nConfidence: high\n"
                return ModelReply(text=text if is_lucky else "No.")

        return Target()


REFRESH = NOISY + gate("refresh_every = 2")


def test_current_is_measured_again_and_its_scores_are_pooled(tmp_path: Path) -> None:
    records = Project(tmp_path / "project").train(REFRESH, wrap=Lucky())
    due = [n for n in notes(records) if n.step % 2 == 0 and n.scores_measured]
    assert due
    for note in due:
        assert note.refresh is not None
        assert note.refresh.after == note.score_before
    others = [n for n in notes(records) if n.step % 2 == 1]
    assert all(note.refresh is None for note in others)
    changed = [note.refresh for note in due if note.refresh]
    assert any(r.before != r.after for r in changed)


def test_best_moves_back_when_its_luck_is_gone(tmp_path: Path) -> None:
    config = LONG.replace("epochs = 4", "epochs = 8").replace("seed = 6", "seed = 42")
    project = Project(tmp_path / "project")
    records = project.train(config + gate("refresh_every = 2"), wrap=Lucky())
    moved = [r for r in records if r.note and r.note.refresh and r.note.refresh.best]
    assert moved
    for record in moved:
        assert record.note is not None
        refresh = record.note.refresh
        assert refresh is not None
        if record.entry.state.best.step != record.note.step:
            assert record.entry.state.best.origin == refresh.best
            assert "best is step" in record.commit.subject
    tagged = project.git("rev-parse", "skillopt/best").strip()
    best = records[-1].entry.state.best
    origin = next(
        r.commit.id for r in records
        if r.entry.state.current.origin == best.origin and r.entry.step == best.step
        and (r.entry.action.accepted or r.entry.action is Action.BASELINE)
    )  # fmt: skip
    assert tagged == origin


def test_at_the_runs_end_the_best_has_been_measured_twice(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    records = project.train(LONG + gate("refresh_every = 7"), wrap=Lucky())
    state = records[-1].entry.state
    with project.context() as context:
        skill = context.store.skill_at(project.git("rev-parse", "skillopt/best").strip())
        rounds = context.store.measurements(
            context.store.object_id(skill), state.target, repeats=None, before=None
        )
    val = {context.evaluator.keys[task.id] for task in context.tasks.val}
    counts = [len(val & set(measured.scores)) for measured in rounds]
    assert counts.count(8) == 2
    passed = sum(s.hard for m in rounds for k, s in m.scores.items() if s and k in val)
    assert state.best.score == pytest.approx(passed / 16)


def test_a_target_that_does_not_sample_is_not_measured_again(tmp_path: Path) -> None:
    plain, again = Project(tmp_path / "plain"), Project(tmp_path / "again")
    plain.train(FIXED)
    again.train(FIXED + gate("refresh_every = 1"))
    assert [r[:3] for r in requests(plain)] == [r[:3] for r in requests(again)]


KEYS = [
    gate("refresh_every = 2", "repeats = 2"),
    gate('rule = "paired"', "alpha = 0.3", "refresh_every = 3"),
    gate('leak = "reject"', "no_regression = 0.5", "min_delta = 0.01"),
]


@pytest.mark.parametrize("keys", KEYS)
def test_killed_again_and_again_it_ends_as_if_never_killed(tmp_path: Path, keys: str) -> None:
    config = NOISY.replace("epochs = 4", "epochs = 3") + keys
    whole, killed = Project(tmp_path / "whole"), Project(tmp_path / "killed")
    whole.train(config)
    for _ in range(200):
        try:
            killed.train(config, wrap=DiesAt(11))
        except Stopped:
            continue
        break
    assert trained_refs(killed) == trained_refs(whole)
    assert requests(killed) == requests(whole)


def test_killed_while_best_moves_back_it_ends_as_if_never_killed(tmp_path: Path) -> None:
    config = LONG.replace("epochs = 4", "epochs = 8") + gate("refresh_every = 2")
    whole, killed = Project(tmp_path / "whole"), Project(tmp_path / "killed")
    whole.train(config, wrap=Lucky())
    for _ in range(200):
        dies = DiesAt(37)
        try:
            killed.train(config, wrap=lambda model, dies=dies: dies(Lucky()(model)))
        except Stopped:
            continue
        break
    assert trained_refs(killed) == trained_refs(whole)
    assert requests(killed) == requests(whole)


# ── budgets and warnings ─────────────────────────────────────────────────────────────────────


PRICES = (
    "[budget.prices]\ntarget = { prompt = 1.0, completion = 2.0 }\noptimizer = { prompt = 3.0 }\n"
)


@pytest.mark.parametrize(
    ("small", "large"),
    [
        ("[budget]\ntokens = 4000\n", "[budget]\ntokens = 4000000\n"),
        ("[budget]\nusd = 0.008\n" + PRICES, "[budget]\nusd = 1000.0\n" + PRICES),
    ],
    ids=["tokens", "usd"],
)
def test_a_budget_stops_and_a_resumed_run_has_spent_what_it_spent(
    tmp_path: Path, small: str, large: str
) -> None:
    project, whole = Project(tmp_path / "project"), Project(tmp_path / "whole")
    whole.train(CONFIG)
    with pytest.raises(BudgetError):
        project.train(CONFIG + small)
    made = len(requests(project))
    assert made
    with pytest.raises(BudgetError):
        project.train(CONFIG + small)
    assert len(requests(project)) == made
    project.train(CONFIG + large)
    assert trained_refs(project) == trained_refs(whole)


def test_a_val_split_where_nothing_passes_even_in_part_is_warned_of(tmp_path: Path) -> None:
    records = Project(tmp_path / "project").train(FIXED)
    (note,) = [line for line in records[0].entry.lines if isinstance(line, ConfigNote)]
    hopeless = any("every val task fails" in warning for warning in note.warnings)
    lines = [x for _, x in records[0].entry.object_lines if isinstance(x, ScoresLine)]
    softly = any(pair and pair[1] > 0 for line in lines for pair in line.tasks.values())
    assert hopeless != softly


def scored(object_id: str, **scores: tuple[float, float]) -> Measurements:
    return Measurements(
        object_id=object_id, scores={k: Score(hard=h, soft=s) for k, (h, s) in scores.items()}
    )


REJECTED = GateDecision(action=Action.REJECT, score=0.0)


@pytest.mark.parametrize(
    ("metric", "decision", "after", "told"),
    [
        (Metric.HARD, REJECTED, (0.0, 0.75), True),
        (Metric.MIXED, REJECTED, (0.0, 0.75), False),
        (Metric.HARD, REJECTED, (0.0, 0.5), False),
        (Metric.HARD, REJECTED, (0.0, 0.25), False),
        (Metric.HARD, GateDecision(action=Action.ACCEPT, score=1.0), (1.0, 1.0), False),
    ],
)
def test_a_gain_that_the_metric_does_not_see_is_told(
    metric: Metric, decision: GateDecision, after: tuple[float, float], told: bool
) -> None:
    current = scored("a", one=(0.0, 0.5), two=(0.0, 0.5))
    measured = scored("b", one=after, two=after)
    words = unseen_gain(metric, decision, current, Evaluation(measurements=measured, rounds=()))
    assert bool(words) == told
    if told:
        assert 'rose from 0.50 to 0.75: [gate] metric = "mixed"' in words[0]
