"""A night slept through: opened from its plan, run to its end, and written down once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from skillgit.config import Config
from skillgit.history import ReportNote
from skillgit.models.paid import Meter, StepPaid
from skillgit.ports import Store
from skillgit.records import Record, Split, Task
from skillgit.sleep.memory.archive import united
from skillgit.sleep.memory.slow_memory import write_slow_memory
from skillgit.sleep.memory.state import NightRecord, SleepState, files_after
from skillgit.sleep.night.consolidate import ConsolidationResult
from skillgit.sleep.night.dream import dream_consolidate
from skillgit.sleep.night.inputs import Parts
from skillgit.sleep.night.plan import MEMORY_STEP, Night, NightPlan, everything_seen, night_config
from skillgit.sleep.night.rehearsal import Rehearsal
from skillgit.sleep.night.report import SleepReport
from skillgit.store.git.names import HEADS, proposal_ref
from skillgit.store.runs.sleep_ref import write_sleep
from skillgit.tasks import TaskSet
from skillgit.training.identity import identity_fingerprint
from skillgit.training.wiring import TrainingContext, open_training_context

AFTER_THE_END = MEMORY_STEP + 1
"""The step that the journal keeps the slow memory's call under."""


class CycleOutcome(Record):
    """What a night left: its report, the branch that waits for a person, and nothing adopted."""

    report: SleepReport
    staging_branch: str | None = None
    adopted: bool = False
    adopted_paths: tuple[str, ...] = ()


def night_context(config: Config, parts: Parts, tasks: Sequence[Task]) -> TrainingContext:
    """The parts of a night's run over some tasks.

    Raises: ConfigError, TaskError; what a missing key raises.
    """
    n_train = sum(task.split is Split.TRAIN for task in tasks)
    return open_training_context(
        night_config(config, n_train),
        TaskSet(tasks=tuple(tasks)),
        parts.store,
        parts.journal,
        parts.runtime,
    )


@dataclass(frozen=True)
class Opener:
    """Opens a plan's night, with tasks of dreams added; `store` is where it is recorded."""

    config: Config
    parts: Parts
    plan: NightPlan
    store: Store
    run_id: str

    def __call__(self, dreams: Sequence[Task] = ()) -> Night:
        context = night_context(self.config, self.parts, (*self.plan.tasks, *dreams))
        meter = self._meter(context)

        def account(step: int) -> StepPaid:
            return StepPaid(
                self.parts.journal, self.run_id, step, meter=meter, clock=self.parts.runtime.clock
            )

        setup = Night(
            run_head=self.plan.head,
            config=context.config,
            tasks=context.tasks,
            start=self.parts.store.skill_at(self.plan.head.base),
            start_is_new=False,
            identity=self.plan.identity,
            evaluator=context.evaluator,
            store=self.store,
            rule=context.rule,
            optimizer=context.optimizer_model,
            account=account,
            force=True,
            plan=self.plan,
        )
        self.parts.watch(setup, meter)
        return setup

    def _meter(self, context: TrainingContext) -> Meter:
        spent = self.parts.journal.usage(self.run_id)
        return Meter.within(
            context.config.budget,
            clock=self.parts.runtime.clock,
            used=sum(calls for calls, _ in spent.values()),
            spent={role: usage for role, (_, usage) in spent.items()},
        )


def run_night(config: Config, parts: Parts, state: SleepState, plan: NightPlan) -> CycleOutcome:
    """The night from where it stands to its end, and what it leaves."""
    head = plan.head
    with parts.store.hold(head.name):
        parts.journal.begin_run(head)
        opener = Opener(config, parts, plan, parts.store, head.run_id)
        result = dream_consolidate(opener)
        proposal = parts.store.finish(head)
        end = next(iter(parts.store.history(head.name)))
        commit = parts.store.refs.read(proposal_ref(head.name)) if proposal else None
        told = report_of(plan, result, ended=end.time)
        memory, failure = _slow_memory(opener, told, needed=_has_something_to_say(plan, result))
        report = _completed(told, failure, _tokens(parts, head.run_id))
        line = ReportNote(run=head.run_id, markdown=report.markdown())
        parts.store.add_lines(head.name, [(commit or end.id, line)], message=f"{head.name} report")
        files = files_after(
            state,
            _night_record(plan, report, commit),
            project=plan.project,
            until=plan.until,
            slow_memory=memory,
            tasks=united(state.tasks, plan.archive),
        )
        repository, refs = parts.store.repository, parts.store.refs
        write_sleep(repository, refs, state.source, files, message=head.name, time=end.time)
        parts.plans.remove(head.name)
    branch = proposal_ref(head.name).removeprefix(HEADS) if commit else None
    return CycleOutcome(report=report, staging_branch=branch)


def _has_something_to_say(plan: NightPlan, result: ConsolidationResult) -> bool:
    tried = result.applied_edits or result.rejected_edits or result.unverified
    return bool(tried or plan.decided)


def _slow_memory(opener: Opener, report: SleepReport, *, needed: bool) -> tuple[str, str]:
    """The memory from here on, and why it is still the previous one, if that was not meant."""
    plan = opener.plan
    if not needed:
        return plan.slow_memory, ""
    setup = opener()
    optimizer = setup.optimizer(setup.account(AFTER_THE_END))
    return write_slow_memory(report.markdown(), plan.decided, plan.slow_memory, optimizer)


def _completed(report: SleepReport, failure: str, tokens: int) -> SleepReport:
    """The report with what is only known once everything was asked."""
    kept = (f"the slow memory stays as it was: {failure}",) if failure else ()
    return report.model_copy(update={"tokens_used": tokens, "notes": (*report.notes, *kept)})


def report_of(plan: NightPlan, result: ConsolidationResult, *, ended: datetime) -> SleepReport:
    """The report of a night that came to a result."""
    return SleepReport(
        night=plan.night,
        project=plan.project,
        started_at=plan.started,
        ended_at=ended,
        n_sessions=plan.n_sessions,
        n_tasks=len(plan.tasks),
        n_replayed=result.n_replayed,
        baseline_score=result.holdout_baseline,
        candidate_score=result.holdout_candidate,
        accepted=result.accepted,
        gate_action=result.gate_action,
        edits=result.applied_edits,
        rejected_edits=result.rejected_edits,
        unmatched_edits=result.unmatched_edits,
        unverified_edits=result.unverified,
        tokens_used=result.tokens,
        notes=result.reasons,
    )


def _night_record(plan: NightPlan, report: SleepReport, proposal: str | None) -> NightRecord:
    return NightRecord(
        night=plan.night,
        run_id=plan.head.run_id,
        skill=plan.head.skill,
        time=report.ended_at,
        action=report.gate_action,
        reason=report.notes[0] if report.notes else "",
        baseline=report.baseline_score,
        candidate=report.candidate_score,
        n_sessions=report.n_sessions,
        n_tasks=report.n_tasks,
        proposal=proposal,
        memory=plan.memory,
        edits=report.edits,
        rejected=report.rejected_edits,
        identity=everything_seen(plan.identity, plan.tasks),
    )


def _tokens(parts: Parts, run_id: str) -> int:
    return sum(usage.total for _, usage in parts.journal.usage(run_id).values())


def rehearse(config: Config, parts: Parts, plan: NightPlan) -> CycleOutcome:
    """The night in memory. Its calls are journaled under what it depends on, so that it can be repeated."""
    now = parts.runtime.clock.now()
    store = Rehearsal(parts.store, parts.store.skill_at(plan.head.base), now=now)
    run_id = identity_fingerprint({"rehearsal": plan.identity})[:12]
    opener = Opener(config, parts, plan, store, run_id)
    result = dream_consolidate(opener)
    report = report_of(plan, result, ended=now)
    return CycleOutcome(report=report.model_copy(update={"tokens_used": _tokens(parts, run_id)}))
