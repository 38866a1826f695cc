"""The protocols through which everything outside comes in, each with its written contract.

Adapters stand behind these and do not know each other; tests put fakes here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from enum import StrEnum
from typing import Protocol, TypeVar

from pydantic import Field

from skillgit.history import Costs, Entry, NoteLine, RejectedLine, RunCommit, RunHead, RunPosition
from skillgit.history.run_names import RunName
from skillgit.records import (
    GateResult,
    Grade,
    Measurements,
    Metric,
    ModelReply,
    ModelRequest,
    PaidCall,
    PaidReply,
    Record,
    Rollout,
    Skill,
    Task,
)

ReplyT = TypeVar("ReplyT", bound=PaidReply)


class Clock(Protocol):
    """The only source of time."""

    def now(self) -> datetime:
        """The time of day, UTC, with its zone."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back. Unit: seconds."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait. Unit: seconds."""
        ...


class Model(Protocol):
    """A language model behind an endpoint.

    Safe to call from several threads. Retries what is worth it and fits the request to what the
    endpoint takes by itself; nothing of a key ever stands in an error's text.
    """

    def complete(self, request: ModelRequest) -> ModelReply:
        """The model's answer.

        Raises: CallError when this one call failed for good (a time-out, a broken body);
        BlockedError when no call can work (a wrong key, a model that does not exist).
        """
        ...


class Paid(Protocol):
    """The one door to everything that costs: model calls, programs, command judges.

    Looks in the journal first; else checks the budget, performs, and journals the reply. A
    failure is not journaled. Thread-safe.
    """

    def __call__(
        self, call: PaidCall, request: Record, reply: type[ReplyT], perform: Callable[[], ReplyT]
    ) -> ReplyT:
        """The reply, from the journal or made now.

        Raises: what `perform` raises; BudgetError before a call that a budget forbids.
        """
        ...


class Account(Paid, Protocol):
    """A `Paid` for one step of a run: it remembers what that step took, replayed or new."""

    @property
    def costs(self) -> Costs:
        """Calls by role, tokens and time of every call so far, each counted once."""
        ...

    @property
    def finished_at(self) -> datetime | None:
        """The latest finish time of those calls; `None` when there was none."""
        ...


class Judge(Protocol):
    """Grades rollouts of the one task it was built for."""

    def grade(self, rollout: Rollout, paid: Paid, slot: str) -> Grade:
        """The grade. `slot` is the rollout's, for judges that pay.

        A rollout with a `failure` never gets here. What cannot be judged is a grade whose score
        is `None`, with the reason.
        """
        ...


class Environment(Protocol):
    """Runs the target on a task."""

    @property
    def fingerprint(self) -> Mapping[str, str | int | float | None]:
        """What of this environment changes results, its version included; not speed, not keys."""
        ...

    def rollout(
        self, task: Task, skill: Skill, paid: Paid, *, purpose: str, slot: str, seed: int
    ) -> Rollout:
        """The target's attempt. One call that failed is a rollout with a `failure`.

        Raises: BlockedError, BudgetError.
        """
        ...

    def max_calls(self, task: Task) -> int:
        """The largest number of paid calls one rollout of this task can make."""
        ...


class Trial(Record):
    """What a gate rule decides on: three skills and what each was measured to be.

    A side's scores are the means of all its measurements; `candidate_rounds` and
    `current_rounds` are these one by one. `order` is how tasks are sent, `names` has their ids
    by key. `look` counts the run's trials from 1; `alpha` is how often a rule that reckons with
    luck may be fooled. `no_regression` is how far a task may fall, `None` however far.
    """

    candidate: Skill
    current: Skill
    best: Skill
    candidate_scores: Measurements
    current_scores: Measurements
    best_scores: Measurements
    best_step: int
    global_step: int
    metric: Metric
    mixed_weight: float
    min_delta: float = 0.0
    no_regression: float | None = None
    alpha: float = 0.05
    look: int = 1
    candidate_rounds: tuple[Measurements, ...] = ()
    current_rounds: tuple[Measurements, ...] = ()
    order: tuple[str, ...] = ()
    names: dict[str, str] = Field(default_factory=dict)


class Verdict(StrEnum):
    """What a rule says: not enough tasks is a rejection that more tasks might undo."""

    ACCEPT = "accept"
    REJECT = "reject"
    NOT_ENOUGH = "not_enough"


class Ruling(Record):
    """A gate rule's result with the sentence that explains it.

    `needed` goes with "not enough": how many tasks more would do, if all of them were won.
    """

    result: GateResult[Skill]
    reason: str
    verdict: Verdict = Verdict.REJECT
    needed: int | None = None


class Rule(Protocol):
    """A gate rule: a pure function on measurements, comparing only tasks scored on both sides."""

    def __call__(self, trial: Trial) -> Ruling: ...


class Store(Protocol):
    """What the loop asks of the place where runs are kept. Every write is one `record`."""

    def object_id(self, skill: Skill) -> str:
        """The git object evaluated: the blob of one document, or a tree of several."""
        ...

    def history(self, run_name: str) -> Iterable[RunCommit]:
        """The run's commits, newest first, down to its own step 0; nothing for no such run."""
        ...

    def skill_at(self, commit_id: str) -> Skill:
        """The skill's documents as they stand in a commit."""
        ...

    def notes_on(self, object_id: str) -> Sequence[NoteLine]:
        """The note lines on a commit or skill object whose kind is known, in canonical order."""
        ...

    def measurements(
        self, object_id: str, target: str, *, repeats: int | None, before: RunPosition | None
    ) -> Sequence[Measurements]:
        """What the ledger knows of a skill object under a target fingerprint.

        Shape: `repeats` items (`None`: as many as there are), the k-th from the k-th measurement
        of each task.
        """
        ...

    def rejections(
        self, object_id: str, target: str, *, before: RunPosition | None
    ) -> Sequence[RejectedLine]:
        """The sets of edits that were tried on a skill object and rejected."""
        ...

    def record(self, entry: Entry) -> RunCommit:
        """Write notes and objects, then move the run's branch once; the commit it ends on.

        Raises: ConflictError when another writer moved the branch.
        """
        ...

    def finish(self, run: RunHead) -> str | None:
        """Make the proposal of an ended run; its branch's name, or `None` if nothing was accepted."""
        ...


class Ledger(Store, Protocol):
    """A store whose scores may be added to outside of a run."""

    def add_lines(
        self, run_name: str, lines: Iterable[tuple[str, NoteLine]], *, message: str
    ) -> None:
        """Add note lines, by object, outside of a step."""
        ...

    def writer(self) -> str:
        """The e-mail address of whoever writes here."""
        ...

    def hold(self, run_name: str) -> AbstractContextManager[None]:
        """Hold a run against any other process for as long as the block runs."""
        ...


class RunStore(Ledger, Protocol):
    """A store in which runs are looked for and begun."""

    def committed_skill(self, onto: str) -> Skill:
        """The skill that a run starts from: as it is committed on `onto`.

        Raises: RepositoryError when it is not committed.
        """
        ...

    def run_names(self) -> Sequence[str]:
        """The runs that have a branch here, oldest first by number."""
        ...

    def has_run(self, run_name: str) -> bool:
        """Whether a run has a branch here."""
        ...

    def next_name(self, kind: str, used: Iterable[RunName] = ()) -> RunName:
        """The name of the next run of a kind; `used` are names that stand in no ref or note."""
        ...

    def new_run(
        self,
        name: RunName,
        *,
        skill: str,
        onto: str,
        target: str,
        run_fingerprint: str,
        metric: Metric,
        started: datetime,
        base: str | None = None,
    ) -> RunHead:
        """The head of a run that begins now, on `base` or on the commit that `onto` is at.

        Nothing is written. Raises: RepositoryError when there is no such branch, or nobody to
        commit as.
        """
        ...
