"""The nights of a skill in a line: the last one, what became of it, and when the next one is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from skillgit.cli.sessions.project import Project
from skillgit.cli.sessions.schedule import next_night
from skillgit.cli.show.output import number, one_line
from skillgit.sleep.memory.state import NightRecord, parse_state
from skillgit.store.git.names import NIGHT_NOTES
from skillgit.store.git.refs import Refs
from skillgit.store.git.repository import Repository
from skillgit.store.notes.ledger import parse_lines
from skillgit.store.notes.notes import Notes
from skillgit.store.proposals.outcome import Decision, ProposalStatus, proposal_status
from skillgit.store.runs.sleep_ref import read_sleep


@dataclass(frozen=True)
class NightStatus:
    """The last night with what became of its proposal, and the next one; `None` where there is none."""

    last: NightRecord | None
    decision: Decision | None
    next: datetime | None

    def lines(self) -> list[str]:
        """What `status` prints of it; nothing where nights play no part."""
        told = []
        if self.last is not None:
            told.append(f"night  last {self._last_words(self.last)}")
        if self.next is not None:
            label = "       " if told else "night  "
            told.append(f"{label}next {self.next:%Y-%m-%d %H:%M}")
        return told

    def _last_words(self, last: NightRecord) -> str:
        when = f"{last.run}, {last.time.astimezone():%Y-%m-%d %H:%M}"
        if last.quiet:
            return f"{when}: {one_line(last.reason)}"
        fate = f", {self.decision.status.value}" if self.decision else ""
        scores = f"{number(last.baseline)} -> {number(last.candidate)}"
        return f"{when}: {last.action.value} {scores}{fate}"

    def fields(self) -> dict[str, object]:
        """What the JSON holds of it."""
        last = self.last
        return {
            "last": last.run if last else None,
            "time": last.time.isoformat() if last else None,
            "action": last.action.value if last else None,
            "decision": self.decision.status.value if self.decision else None,
            "next": self.next.isoformat() if self.next else None,
        }

    def commands(self, project: Project) -> list[str]:
        """What to type about a proposal that waits."""
        if (
            self.last is None
            or self.decision is None
            or self.decision.status is not ProposalStatus.WAITING
        ):
            return []
        run, onto = self.last.run, project.config.repo.onto
        return [
            project.invocation.typed_git("diff", f"{onto}...skillopt/{run}"),
            project.typed("adopt", run),
            project.typed("reject", run, "-m", "WHY"),
        ]


def night_status(project: Project, repository: Repository, skill: str | None) -> NightStatus:
    """The nights of a skill, or of the only one, as they stand."""
    refs = Refs(repository.git, repository.common, clock=project.invocation.clock)
    state = parse_state(read_sleep(repository, refs))
    nights = [night for night in state.history if skill in (None, night.skill)]
    ran = [night for night in nights if not night.quiet]
    last = nights[-1] if nights else None
    proposed = next((n for n in reversed(ran) if n.proposal is not None), None)
    if last is not None and last.quiet and proposed is not None:
        last = proposed
    decision = None
    if last is not None and last.proposal is not None:
        lines = parse_lines(Notes(repository.git, refs, NIGHT_NOTES).lines(last.proposal))
        decision = proposal_status(repository, last.proposal, lines, onto=project.config.repo.onto)
    return NightStatus(last, decision, next_night(project))
