"""Opening a run: which one a `train` means, read back from its branch, or begun."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from skillgit.errors import UserError
from skillgit.history import ConfigNote, RunCommit, RunHead
from skillgit.history.run_names import parse_run
from skillgit.models.paid import Meter, StepPaid
from skillgit.records import Action, Record, Skill
from skillgit.records.canonical import fingerprint
from skillgit.stages.update import check_skill
from skillgit.training.identity import Identity, differences, identity_fingerprint, run_identity
from skillgit.training.state import Training
from skillgit.training.wiring import TrainingContext

KIND = "train"


@dataclass(frozen=True)
class OpenRun:
    """A run that a `train` means, ready to be iterated; `meter` is what it spends."""

    launch: Launch
    training: Training
    meter: Meter


def open_run(
    context: TrainingContext, *, new: bool = False, start: Skill | None = None, force: bool = False
) -> OpenRun:
    """The run that a `train` means: the newest gone on with, or the next one begun.

    `start` are the bytes to begin with in place of those on `onto`, and always begins a run.
    Nothing is written yet.
    Raises: UserError when the newest run is unfinished and something differs.
    """
    committed = context.store.committed_skill(context.config.repo.onto)
    skill = start or committed
    check_skill(skill)
    identity = _identity(context, context.store.object_id(skill))
    newest = _newest(context, skill.name)
    fresh = _next_head(context, skill.name, identity)
    begun = _begun(context, fresh)
    same_run = _identity(context, _start_object(context, newest, committed)) if newest else identity
    launch = choose_run(
        newest.known(same_run) if newest else None,
        base=fresh.base,
        identity=same_run,
        epochs=context.config.train.epochs,
        new=new or start is not None,
    )
    if launch is Launch.ENDED and begun is not None:
        launch = Launch.BEGIN
    if launch is Launch.BEGIN or newest is None:
        is_new = skill != committed
        return _opened(context, launch, begun or fresh, skill, identity, is_new=is_new, force=force)
    start_skill = context.store.skill_at(newest.baseline.id)
    return _opened(context, launch, newest.head, start_skill, same_run, is_new=False, force=force)


def _identity(context: TrainingContext, start_object: str) -> Identity:
    return run_identity(
        context.config,
        target=dict(context.evaluator.environment.fingerprint),
        start_object=start_object,
        task_set_id=context.tasks.task_set_id,
    )


def _next_head(context: TrainingContext, skill: str, identity: Identity) -> RunHead:
    """The head of a run that would begin now."""
    used = [parse_run(head.name) for head in context.journal.runs()]
    return context.store.new_run(
        context.store.next_name(KIND, used),
        skill=skill,
        onto=context.config.repo.onto,
        target=fingerprint(dict(context.evaluator.environment.fingerprint)),
        run_fingerprint=identity_fingerprint(identity),
        metric=context.config.gate.metric,
        started=context.clock.now(),
    )


def _begun(context: TrainingContext, fresh: RunHead) -> RunHead | None:
    """The same run as an earlier start began it, if it was killed before its first commit.

    Its paid answers are kept under its id, which only the journal knows so far.
    """
    for head in context.journal.runs():
        same = head.model_copy(update={"name": fresh.name, "run_id": fresh.run_id}) == fresh
        if same and not context.store.has_run(head.name):
            return head
    return None


def _opened(
    context: TrainingContext,
    launch: Launch,
    head: RunHead,
    start: Skill,
    identity: Identity,
    *,
    is_new: bool,
    force: bool,
) -> OpenRun:
    spent = context.journal.usage(head.run_id)
    meter = Meter.within(
        context.config.budget,
        clock=context.clock,
        used=sum(calls for calls, _ in spent.values()),
        spent={role: usage for role, (_, usage) in spent.items()},
    )

    def account(step: int) -> StepPaid:
        if step == 0:
            context.journal.begin_run(head)
        return StepPaid(context.journal, head.run_id, step, meter=meter, clock=context.clock)

    training = Training(
        run_head=head,
        config=context.config,
        tasks=context.tasks,
        start=start,
        start_is_new=is_new,
        identity=identity,
        evaluator=context.evaluator,
        store=context.store,
        rule=context.rule,
        optimizer=context.optimizer_model,
        account=account,
        force=force,
    )
    return OpenRun(launch=launch, training=training, meter=meter)


# ── the newest run, read back ────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class _Newest:
    """A run's commits, newest first, and the note on its step 0, if it is still there."""

    commits: tuple[RunCommit, ...]
    note: ConfigNote | None

    @property
    def tip(self) -> RunCommit:
        return self.commits[0]

    @property
    def baseline(self) -> RunCommit:
        return self.commits[-1]

    @property
    def ended(self) -> bool:
        return self.tip.action is Action.END

    @property
    def head(self) -> RunHead:
        state = self.tip.state
        return RunHead(
            name=self.tip.run,
            run_id=state.run_id,
            skill=state.skill,
            onto=state.onto,
            base=self.baseline.parent,
            target=state.target,
            run=state.run,
            metric=state.metric,
        )

    def known(self, identity: Identity) -> KnownRun:
        """What a launch is chosen by. Without its note, only whether it is the same is known."""
        own: Identity = {"run": self.tip.state.run}
        if self.note is not None:
            own = self.note.identity
        elif self.tip.state.run == identity_fingerprint(identity):
            own = identity
        return KnownRun(
            name=self.tip.run,
            base=self.baseline.parent,
            ended=self.ended,
            identity=own,
            epochs=self.note.epochs if self.note else 0,
        )


def _newest(context: TrainingContext, skill: str) -> _Newest | None:
    for name in reversed(context.store.run_names()):
        if parse_run(name).kind != KIND:
            continue
        commits = tuple(context.store.history(name))
        if not commits or commits[0].state.skill != skill:
            continue
        notes = context.store.notes_on(commits[-1].id)
        return _Newest(commits, next((n for n in notes if isinstance(n, ConfigNote)), None))
    return None


def _start_object(context: TrainingContext, newest: _Newest, committed: Skill) -> str:
    """The start skill that the newest run would have if it were opened now.

    It is the run's own as long as `onto` has what the run was begun on; and, for a run that has
    not ended, when it has a version that came from the run itself.
    """
    object_at = _object_at(context)
    start, now = object_at(newest.baseline.id), context.store.object_id(committed)
    if now in (start, object_at(newest.baseline.parent)):
        return start
    if newest.ended:
        return now
    accepted = (c for c in newest.commits if c.action.accepted or c.action is Action.EPOCH)
    return start if any(object_at(c.id) == now for c in accepted) else now


def _object_at(context: TrainingContext) -> Callable[[str], str]:
    return lambda commit: context.store.object_id(context.store.skill_at(commit))


# ── Which run a `train` means: go on with the newest, begin the next, or nothing to do. Pure.

MAX_SHOWN = 6


class Launch(StrEnum):
    """What a `train` comes to."""

    BEGIN = "begin"
    RESUME = "resume"
    ENDED = "ended"


class KnownRun(Record):
    """The newest run, as its branch and its step 0 tell it."""

    name: str
    base: str
    ended: bool
    identity: Identity
    epochs: int


def choose_run(
    newest: KnownRun | None, *, base: str, identity: Identity, epochs: int, new: bool
) -> Launch:
    """Resume an unfinished run of the same identity; an ended one of the same base is done.

    Raises: UserError when the newest run is unfinished and something differs: it names what.
    """
    if newest is None or new:
        return Launch.BEGIN
    changed = differences(newest.identity, identity)
    if epochs < newest.epochs:
        changed.append(f"epochs: {newest.epochs} → {epochs} (only more epochs can be resumed)")
    if newest.ended:
        same = not changed and newest.base == base
        return Launch.ENDED if same else Launch.BEGIN
    if changed:
        listed = "; ".join(changed[:MAX_SHOWN])
        more = len(changed) - MAX_SHOWN
        raise UserError(
            f"{newest.name} is not finished, and it was begun with something else: {listed}"
            + (f"; and {more} more" if more > 0 else ""),
            hint="Put it back as it was to go on, or begin the next run: skillgit train --new",
        )
    return Launch.RESUME
