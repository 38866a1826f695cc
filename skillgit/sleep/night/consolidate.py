"""Consolidate: a night's two steps and its end, and what they came to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from skillgit.history import NightNote, RunCommit, StepNote
from skillgit.records import Action, Edit, EditOutcome, Outcome, Record
from skillgit.sleep.memory.privacy import public_edit
from skillgit.sleep.memory.state import EditRecord, as_record
from skillgit.sleep.night.plan import Night
from skillgit.sleep.night.steps import night
from skillgit.training.state import step_notes

_UNMATCHED = (
    Outcome.ANCHOR_MISSING,
    Outcome.ANCHOR_AMBIGUOUS,
    Outcome.UNKNOWN_TARGET,
    Outcome.PROTECTED,
    Outcome.FRONTMATTER,
    Outcome.FENCE,
    Outcome.EMPTY,
    Outcome.TOO_LONG,
    Outcome.UNSUPPORTED,
)


class ConsolidationResult(Record):
    """What a night's machinery came to.

    `baseline_score` and `candidate_score` are what the gate compared last; `holdout_*` are the
    baseline and the fresh measurement of both documents together. All are on val. `unverified`
    are suggestions that could not be judged.
    """

    accepted: bool
    gate_action: Action
    baseline_score: float | None
    candidate_score: float | None
    holdout_baseline: float | None
    holdout_candidate: float | None
    new_skill: bytes
    new_memory: bytes | None
    applied_edits: tuple[EditRecord, ...] = ()
    rejected_edits: tuple[EditRecord, ...] = ()
    unmatched_edits: tuple[EditRecord, ...] = ()
    unverified: tuple[EditRecord, ...] = ()
    n_replayed: int = 0
    tokens: int = 0
    reasons: tuple[str, ...] = ()
    needed: int | None = None


def consolidate(setup: Night) -> ConsolidationResult:
    """Run the night to its end, from where its branch stands, and say what came out.

    Raises: BlockedError, BudgetError, ConflictError, WaitingError; what was done is committed.
    """
    for _ in night(setup):
        pass
    return consolidated(setup)


def consolidated(setup: Night) -> ConsolidationResult:
    """What a night that has ended came to, read back from its branch and notes."""
    commits = list(setup.store.history(setup.run_head.name))
    end = commits[0]
    steps = [note for commit in reversed(commits) for note in step_notes(setup, commit)]
    final = _night_note(setup, end)
    accepted = end.state.best.step > 0 and not final.taken_back
    kept = [n for n in steps if n.action.accepted] if accepted else []
    refused = [
        n for n in steps if n.action is Action.REJECT or (final.taken_back and n.action.accepted)
    ]
    action = _overall(steps, final, accepted=accepted)
    last = kept[-1] if kept else next((n for n in steps if n.action.rejected), None)
    after = last.score_after if last and last.score_after is not None else final.candidate
    before = last.score_before if last and last.score_before is not None else final.baseline
    current = setup.store.skill_at(end.id)
    memory = next((d.data for d in current.documents if d.path == setup.plan.memory), None)
    return ConsolidationResult(
        accepted=accepted,
        gate_action=action,
        baseline_score=before,
        candidate_score=after,
        holdout_baseline=final.baseline,
        holdout_candidate=_held(final, after, accepted=accepted),
        new_skill=current.main.data,
        new_memory=memory,
        applied_edits=_edits(setup, kept, _changed),
        rejected_edits=_edits(setup, refused, _changed),
        unmatched_edits=_edits(setup, steps, lambda o: o.outcome in _UNMATCHED),
        unverified=_edits(
            setup, [n for n in steps if n.action is Action.REJECT_UNVERIFIED], _changed
        ),
        n_replayed=sum(n.n_total for n in steps),
        tokens=sum(c.state.tokens for c in commits if c.action is not Action.REVERT),
        reasons=_reasons(setup, steps, final),
        needed=max((n.tasks_needed for n in steps if n.tasks_needed), default=None),
    )


def _night_note(setup: Night, end: RunCommit) -> NightNote:
    run_id = setup.run_head.run_id
    own = (n for n in setup.store.notes_on(end.id) if isinstance(n, NightNote) and n.run == run_id)
    found = next(own, None)
    if found is not None:
        return found
    score = end.state.best.score
    return NightNote(run=run_id, baseline=score, candidate=score)


def _overall(steps: Sequence[StepNote], final: NightNote, *, accepted: bool) -> Action:
    """The night's verdict: the best that a step came to, if it held."""
    actions = {note.action for note in steps}
    if final.taken_back:
        return Action.REJECT
    if accepted:
        return Action.FORCE_ACCEPT if Action.FORCE_ACCEPT in actions else Action.ACCEPT_NEW_BEST
    ranked = (Action.REJECT, Action.REJECT_UNVERIFIED, Action.NOOP)
    return next((action for action in ranked if action in actions), Action.SKIP)


def _held(final: NightNote, after: float | None, *, accepted: bool) -> float | None:
    """What the last thing measured came to: both together, or what was rejected."""
    if accepted or final.taken_back:
        return final.candidate
    return after


def _changed(outcome: EditOutcome) -> bool:
    return outcome.outcome.changed_text


def _edits(
    setup: Night, notes: Iterable[StepNote], chosen: Callable[[EditOutcome], bool]
) -> tuple[EditRecord, ...]:
    known = setup.start.text
    found: list[Edit] = [o.edit for note in notes for o in note.edits if chosen(o)]
    public = [public_edit(edit, setup.plan.said, known) for edit in found]
    return tuple(as_record(edit, setup.plan.memory) for edit in public)


def _reasons(setup: Night, steps: Sequence[StepNote], final: NightNote) -> tuple[str, ...]:
    """Sentences for a person about what is not plain from the verdict."""
    names = {1: "skill", 2: "memory"}
    told: list[str] = []
    if not setup.config.gate.enabled:
        told.append("the gate is off: whatever was proposed is accepted, be it better or not")
    if final.reason:
        told.append(final.reason)
    for note in steps:
        if note.action is Action.REJECT_UNVERIFIED:
            more = note.tasks_needed
            count = f"; {more} more held-out task{'' if more == 1 else 's'} needed" if more else ""
            told.append(f"{names[note.step]}: not verified: {note.gate_reason}{count}")
        elif note.action in (Action.SKIP, Action.NOOP, Action.REJECT):
            told.append(f"{names[note.step]}: {note.action.value}: {note.gate_reason}")
        told += [f"{names[note.step]}: {warning}" for warning in note.warnings]
    return tuple(told)
