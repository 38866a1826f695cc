"""Before a night: what it will go by, and whether there is anything to do at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from skillgit.config import Config
from skillgit.errors import TaskError, UserError
from skillgit.evaluation.wiring import Runtime
from skillgit.models.journal import Journal
from skillgit.models.paid import Meter
from skillgit.records import Action, Record, Split, Task
from skillgit.sleep.memory.archive import (
    newest,
    read_archive,
    with_mined,
    with_reviewed,
    with_tasks,
)
from skillgit.sleep.memory.past_nights import (
    DecidedNight,
    banned,
    format_decided,
    format_earlier,
    pending,
)
from skillgit.sleep.memory.recall import recall
from skillgit.sleep.memory.state import NightRecord, SleepState, parse_state
from skillgit.sleep.mine import MinedTask
from skillgit.sleep.night.plan import Night, PlanFile, why_unverified
from skillgit.stages.update import check_skill
from skillgit.store.git_store import GitStore
from skillgit.store.proposals.outcome import Decision, proposal_status
from skillgit.store.runs.sleep_ref import read_sleep
from skillgit.tasks import TaskSet

CLAUDE, OTHERS = "CLAUDE.md", "AGENTS.md"
CLAUDE_SOURCE = "claude-code"

LOOKED_FOR = 50
"""How many proposals the branch is looked through for."""


class Gathered(Record):
    """What harvest and mine bring for a night.

    `agents` has the source of each session, `reviewed` the tasks a person has looked through.
    """

    tasks: tuple[MinedTask, ...] = ()
    agents: tuple[str, ...] = ()
    until: datetime | None = None
    reviewed: str = ""


def _looks_away(setup: Night, meter: Meter) -> None:  # noqa: ARG001 - what `watch` is called with
    return None


@dataclass(frozen=True)
class Parts:
    """Everything a night needs beside its configuration, handed in.

    `gather` harvests what is newer than a time, and mines it. `watch` is shown each night that is
    opened, with what it spends.
    """

    store: GitStore
    journal: Journal
    runtime: Runtime
    plans: PlanFile
    project: str
    gather: Callable[[datetime | None], Gathered]
    watch: Callable[[Night, Meter], None] = _looks_away


@dataclass(frozen=True)
class NightInputs:
    """What a night would start from: the base commit, the tasks, and what came of earlier nights."""

    base: str
    skill: str
    memory: str | None
    tasks: tuple[Task, ...]
    said: tuple[str, ...]
    archive: str
    n_sessions: int
    until: datetime | None
    decided: tuple[DecidedNight, ...]
    unverified: str
    needed: int | None

    def prompts(self) -> dict[str, object]:
        """What the plan holds of earlier nights."""
        return {
            "earlier": format_earlier(self.decided),
            "decided": format_decided(self.decided),
            "banned": banned(self.decided, self.skill, self.memory),
            "pending": pending(self.decided, self.skill, self.memory),
        }


def inputs(
    config: Config, parts: Parts, state: SleepState, seed_tasks: Sequence[Task] | None
) -> NightInputs:
    """What tonight would start from. Harvests and mines, unless tasks are given.

    Raises: TaskError for given tasks of one id; DocumentError; what a harvest or the store raises.
    """
    onto = config.repo.onto
    skill = parts.store.committed_skill(onto)
    decided = decided_nights(parts.store, state.of_skill(skill.name), onto)
    base = _base(config, parts.store, decided)
    start = parts.store.skill_at(base)
    check_skill(start)
    if seed_tasks is not None:
        _refuse_repeated(seed_tasks)
        found = Gathered()
        archive = with_tasks(state.tasks, seed_tasks)
        tasks: list[Task] = list(seed_tasks)
        said = tuple(task.prompt for task in seed_tasks)
    else:
        found = parts.gather(state.until(parts.project))
        archive = with_reviewed(
            with_mined(state.tasks, found.tasks, config.tasks.ratio), found.reviewed
        )
        kept = newest(archive, config.sleep.max_tasks)
        tasks = [item.task for item in kept]
        said = tuple(dict.fromkeys(text for item in kept for text in item.session_texts))
    past = [item.task for item in read_archive(archive)]
    recalled = recall(tasks, past, config.sleep.recall_k)
    val = [task for task in tasks if task.split is Split.VAL]
    train = [task for task in (*tasks, *recalled) if task.split is Split.TRAIN]
    unverified, needed = why_unverified(train, val)
    wish = CLAUDE if _mostly_claude(found.agents) else OTHERS
    return NightInputs(
        base=base,
        skill=start.main.path,
        memory=parts.store.memory_file(base, wish),
        tasks=(*tasks, *recalled),
        said=(*said, *(task.prompt for task in recalled)),
        archive=archive,
        n_sessions=len(found.agents),
        until=found.until,
        decided=decided,
        unverified=unverified,
        needed=needed,
    )


def decided_nights(
    store: GitStore, nights: Sequence[NightRecord], onto: str
) -> tuple[DecidedNight, ...]:
    """Earlier nights with what became of their proposals, oldest first.

    For the last of them the branch is looked through; of older ones only a person's word counts.
    """
    proposed = [night.proposal for night in nights if night.proposal is not None]
    recent = set(proposed[-LOOKED_FOR:])

    def decision(night: NightRecord) -> Decision | None:
        if night.proposal is None:
            return None
        lines = store.notes_on(night.proposal)
        old = night.proposal not in recent
        return proposal_status(store.repository, night.proposal, lines, onto=onto, by_notes=old)

    return tuple(DecidedNight(night=night, decision=decision(night)) for night in nights)


def nothing_to_do(seen: NightInputs, identity: str) -> str:
    """Why a night would be in vain; empty when it would not.

    `identity` is of everything that a night depends on.
    """
    if not any(task.split is Split.TRAIN for task in seen.tasks):
        held_out = len(seen.tasks)
        more = f"; {held_out} are held out" if held_out else ""
        return f"there is no task to learn from yet{more}"
    same: list[DecidedNight] = []
    for decided in reversed(seen.decided):
        if decided.night.identity != identity:
            break
        same.append(decided)
    ran = [decided for decided in same if not decided.night.quiet]
    if not ran:
        return ""
    if ran[0].is_waiting:
        return f"{ran[0].night.run} waits for your decision, and nothing has changed since"
    if ran[0].night.action is Action.SKIP:
        return f"nothing has changed since {ran[0].night.run}, which found nothing to try"
    if len(ran) >= MOST_IN_VAIN and not any(d.night.edits for d in ran[:MOST_IN_VAIN]):
        return f"nothing has changed since {MOST_IN_VAIN} nights that were in vain"
    return ""


MOST_IN_VAIN = 3
"""How many nights try something else on the same tasks and the same text."""


def tasks_to_measure(config: Config, store: GitStore, run: str) -> TaskSet:
    """The tasks that a night's proposal is measured on later: those a night would go by now.

    What was held out stays so from night to night.

    Raises: UserError when there is nothing to measure on.
    """
    state = parse_state(read_sleep(store.repository, store.refs))
    tasks = TaskSet(tasks=tuple(kept.task for kept in newest(state.tasks, config.sleep.max_tasks)))
    reason, _ = why_unverified(tasks.train, tasks.val)
    if reason:
        raise UserError(
            f"{run} cannot be measured here: {reason}",
            hint="A night's tasks are only where it was slept; without --regate it is adopted "
            "unmeasured.",
        )
    return tasks


def _base(config: Config, store: GitStore, decided: Sequence[DecidedNight]) -> str:
    """The commit that a night builds on: `onto`, or the last proposal that waits."""
    waiting = [d.night.proposal for d in decided if d.is_waiting]
    if config.sleep.stack and waiting and waiting[-1] is not None:
        return waiting[-1]
    return str(store.repository.onto_commit(config.repo.onto).id)


def _refuse_repeated(tasks: Sequence[Task]) -> None:
    twice = sorted(name for name, n in Counter(task.id for task in tasks).items() if n > 1)
    if twice:
        raise TaskError(
            f"an id stands more than once among the tasks: {', '.join(twice[:5])}",
            hint="Give every task an id of its own, in one split only.",
        )


def _mostly_claude(agents: Sequence[str]) -> bool:
    return bool(agents) and agents.count(CLAUDE_SOURCE) * 2 >= len(agents)
