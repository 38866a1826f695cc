"""A run put together from its parts: the one place that knows every room.

The command line and the nights build a `Workshop` from what only they may read (keys, clock,
project files) and open runs in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from skillgit.bench import Outside, open_bench, role_model
from skillgit.canonical import fingerprint
from skillgit.config import Config, Provider
from skillgit.errors import ConfigError
from skillgit.gate import RULES
from skillgit.history import ConfigNote, RunCommit, RunHead
from skillgit.identity import Identity, identity_fingerprint, run_identity
from skillgit.launch import KnownRun, Launch, choose_run
from skillgit.models.journal import Journal
from skillgit.models.paid import Meter, StepPaid
from skillgit.ports import Clock, Paid, Rule
from skillgit.prompts import Optimizer
from skillgit.records import Role, Skill
from skillgit.stages.rollout import Bench
from skillgit.stages.update import check_skill
from skillgit.standing import Training
from skillgit.store.git_store import GitStore
from skillgit.store.names import parse_run
from skillgit.store.runs import new_run, run_names
from skillgit.tasks import TaskSet

KIND = "train"


@dataclass(frozen=True)
class Workshop:
    """Everything that runs of one skill share. `prompts` are the texts by name."""

    config: Config
    tasks: TaskSet
    store: GitStore
    bench: Bench
    rule: Rule
    journal: Journal
    clock: Clock
    prompts: Mapping[str, str]
    optimizer_model: Callable[[Paid], Optimizer]


@dataclass(frozen=True)
class OpenRun:
    """A run that a `train` means, ready to be iterated; `meter` is what it spends."""

    launch: Launch
    training: Training
    meter: Meter


def is_simulated(config: Config) -> bool:
    """Whether no call of this configuration leaves the process."""
    return all(m.provider is Provider.SIMULATED for m in (config.target, config.optimizer))


def open_workshop(
    config: Config, tasks: TaskSet, store: GitStore, journal: Journal, outside: Outside
) -> Workshop:
    """Build the models, the judges and the bench of a configuration.

    Raises: ConfigError, TaskError; what `key_of` raises for a missing key.
    """
    if config.gate.rule not in RULES:
        raise ConfigError(
            f"gate.rule: there is no rule {config.gate.rule!r}",
            hint=f"The rules are: {', '.join(sorted(RULES))}.",
        )
    bench = open_bench(config, tasks.tasks, outside)
    optimizer = role_model(config, Role.OPTIMIZER, outside)

    def asked_with(paid: Paid) -> Optimizer:
        return Optimizer(
            model=optimizer,
            model_name=config.optimizer.model,
            paid=paid,
            texts=outside.prompts,
            seed=config.train.seed,
            temperature=config.optimizer.temperature,
            max_tokens=config.optimizer.max_tokens,
        )

    return Workshop(
        config=config,
        tasks=tasks,
        store=store,
        bench=bench,
        rule=RULES[config.gate.rule],
        journal=journal,
        clock=outside.clock,
        prompts=outside.prompts,
        optimizer_model=asked_with,
    )


def open_run(
    shop: Workshop, *, new: bool = False, start: Skill | None = None, force: bool = False
) -> OpenRun:
    """The run that a `train` means: the newest gone on with, or the next one begun.

    `start` are the bytes to begin with in place of those on `onto`, and always begins a run.
    Nothing is written yet.
    Raises: UserError when the newest run is unfinished and something differs.
    """
    committed = shop.store.committed_skill(shop.config.repo.onto)
    skill = start or committed
    check_skill(skill)
    target = fingerprint(dict(shop.bench.environment.fingerprint))
    identity = run_identity(
        shop.config,
        target=dict(shop.bench.environment.fingerprint),
        start_object=shop.store.object_id(skill),
        task_set_id=shop.tasks.task_set_id,
    )
    newest = _newest(shop, skill.name, identity)
    fresh = _next_head(shop, skill.name, target, identity)
    begun = _begun(shop, fresh)
    launch = choose_run(
        newest.known if newest else None,
        base=fresh.base,
        identity=identity,
        epochs=shop.config.train.epochs,
        new=new or start is not None,
    )
    if launch is Launch.ENDED and begun is not None:
        launch = Launch.BEGIN
    if launch is Launch.BEGIN or newest is None:
        is_new = skill != committed
        return _opened(shop, launch, begun or fresh, skill, identity, is_new=is_new, force=force)
    start_skill = shop.store.skill_at(newest.baseline.id)
    return _opened(
        shop,
        launch,
        newest.head,
        start_skill,
        newest.known.identity,
        is_new=False,
        force=force,
    )


def _next_head(shop: Workshop, skill: str, target: str, identity: Identity) -> RunHead:
    """The head of a run that would begin now."""
    used = [parse_run(head.name) for head in shop.journal.runs()]
    return new_run(
        shop.store.repository,
        shop.store.next_name(KIND, used),
        skill=skill,
        onto=shop.config.repo.onto,
        target=target,
        run=identity_fingerprint(identity),
        metric=shop.config.gate.metric,
        started=shop.clock.now(),
    )


def _begun(shop: Workshop, fresh: RunHead) -> RunHead | None:
    """The same run as an earlier start began it, if it was killed before its first commit.

    Its paid answers are kept under its id, which only the journal knows so far.
    """
    for head in shop.journal.runs():
        same = head.model_copy(update={"name": fresh.name, "run_id": fresh.run_id}) == fresh
        if same and not shop.store.has_run(head.name):
            return head
    return None


def _opened(
    shop: Workshop,
    launch: Launch,
    head: RunHead,
    start: Skill,
    identity: Identity,
    *,
    is_new: bool,
    force: bool,
) -> OpenRun:
    meter = Meter(max_calls=shop.config.budget.calls, used=shop.journal.spent(head.run_id))

    def account(step: int) -> StepPaid:
        if step == 0:
            shop.journal.begin_run(head)
        return StepPaid(shop.journal, head.run_id, step, meter=meter, clock=shop.clock)

    training = Training(
        run=head,
        config=shop.config,
        tasks=shop.tasks,
        start=start,
        start_is_new=is_new,
        identity=identity,
        bench=shop.bench,
        store=shop.store,
        rule=shop.rule,
        optimizer=shop.optimizer_model,
        account=account,
        force=force,
    )
    return OpenRun(launch=launch, training=training, meter=meter)


# ── the newest run, read back ────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class _Newest:
    known: KnownRun
    head: RunHead
    baseline: RunCommit


def _newest(shop: Workshop, skill: str, identity: Identity) -> _Newest | None:
    for name in reversed(run_names(shop.store.repository)):
        if parse_run(name).kind != KIND:
            continue
        commits = list(shop.store.history(name))
        if not commits or commits[0].state.skill != skill:
            continue
        return _read(shop, name, commits, identity)
    return None


def _read(shop: Workshop, name: str, commits: list[RunCommit], identity: Identity) -> _Newest:
    tip, baseline = commits[0], commits[-1]
    note = next((n for n in shop.store.notes_on(baseline.id) if isinstance(n, ConfigNote)), None)
    state = tip.state
    head = RunHead(
        name=name,
        run_id=state.run_id,
        skill=state.skill,
        onto=state.onto,
        base=baseline.parent,
        target=state.target,
        run=state.run,
        metric=state.metric,
    )
    known = KnownRun(
        name=name,
        base=baseline.parent,
        ended=tip.action == "end",
        identity=note.identity if note else _without_note(state.run, identity),
        epochs=note.epochs if note else shop.config.train.epochs,
    )
    return _Newest(known=known, head=head, baseline=baseline)


def _without_note(run_fingerprint: str, identity: Identity) -> Identity:
    """What is known of a run whose notes are lost: whether it is the same, not what differs."""
    same = run_fingerprint == identity_fingerprint(identity)
    return identity if same else {"run": run_fingerprint}
