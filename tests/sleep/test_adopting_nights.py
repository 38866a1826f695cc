"""Nights and the branch they are for: adopted in any order, by any means."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from conftest import FixedClock
from night_projects import CHECKED, HARMFUL, OWNER, House, Proposing, ask, asks

from skillgit.config import SimulationConfig
from skillgit.history import TurnedDownNote
from skillgit.models.simulated.model import SimulatedModel
from skillgit.records import Action, ModelReply, ModelRequest, Role, Task
from skillgit.store.git.git_cli import GitCli
from skillgit.store.git.refs import Refs
from skillgit.store.git.repository import open_repository
from skillgit.store.git_store import GitStore
from skillgit.store.proposals import adopt as adopt_module
from skillgit.store.proposals.adopt import Adopter, Adoption, AdoptState
from skillgit.store.proposals.outcome import Decision, ProposalStatus, proposal_status
from skillgit.store.revisions import find_proposal


def adopt(house: House, run: str) -> Adoption:
    repository = open_repository(house.path)
    refs = Refs(repository.git, repository.common, clock=house.clock)
    proposal = find_proposal(repository.git, run)
    assert proposal.commit is not None
    cli = GitCli(house.path, {"PATH": "/usr/bin:/bin", "HOME": str(house.path.parent)})
    return Adopter(repository=repository, refs=refs, cli=cli).adopt(proposal.commit, onto="main")


def fate(house: House, run: str) -> Decision:
    repository = open_repository(house.path)
    proposal = find_proposal(repository.git, run)
    assert proposal.commit is not None
    with house.parts(house.config()) as parts:
        lines = parts.store.notes_on(proposal.commit)
        return proposal_status(repository, proposal.commit, lines, onto="main")


def turn_down(house: House, run: str, why: str) -> None:
    repository = open_repository(house.path)
    commit = find_proposal(repository.git, run).commit
    assert commit is not None
    with house.parts(house.config()) as parts:
        note = TurnedDownNote(run=run, why=why, time=house.clock.now())
        store: GitStore = parts.store
        store.add_lines(run, [(commit, note)], message=f"{run} rejected")


def other_asks() -> list[Task]:
    """Tasks that want another line."""
    return [
        ask(f"u{i}", f"Draft a memo for client number {i} on subject {i * 7}", split, "Owner: me")
        for i, split in enumerate(["train"] * 3 + ["val"] * 3)
    ]


@pytest.fixture
def two_nights(house: House) -> House:
    """Two nights that wait, each with a rule of its own."""
    first, second = Proposing(CHECKED).as_optimizer, Proposing(OWNER).as_optimizer
    assert house.sleep(asks(), stand_ins=first).staging_branch == "skillopt/night-1"
    assert house.sleep(other_asks(), stand_ins=second).staging_branch == "skillopt/night-2"
    return house


def text_on_main(house: House) -> str:
    return house.git("show", "main:skills/notes/SKILL.md") + house.git("show", "main:AGENTS.md")


@pytest.mark.parametrize("order", list(itertools.permutations(["night-1", "night-2"])))
def test_two_waiting_nights_are_adopted_in_either_order(
    two_nights: House, order: tuple[str, str]
) -> None:
    assert adopt(two_nights, order[0]).state is AdoptState.FAST_FORWARD
    second = adopt(two_nights, order[1])
    assert second.state in (AdoptState.REPLAYED, AdoptState.REPLAYED_UNMEASURED)
    text = text_on_main(two_nights)
    assert "Checked: yes" in text
    assert "Owner: me" in text
    assert fate(two_nights, "night-1").status is ProposalStatus.ADOPTED
    assert fate(two_nights, "night-2").status is ProposalStatus.ADOPTED
    assert adopt(two_nights, order[0]).state is AdoptState.ALREADY
    assert adopt(two_nights, order[1]).state is AdoptState.ALREADY


def test_a_second_night_builds_on_main_and_not_on_the_first(two_nights: House) -> None:
    main = two_nights.git("rev-parse", "main").strip()
    bases = two_nights.git("merge-base", "skillopt/night-1", "skillopt/night-2").strip()
    assert bases == main
    assert "Checked: yes" not in two_nights.git("diff", "main...skillopt/night-2")


def test_a_stacked_night_builds_on_the_one_that_waits(house: House) -> None:
    house.sleep(asks(), stand_ins=Proposing(CHECKED).as_optimizer)
    owner = Proposing(OWNER).as_optimizer
    outcome = house.sleep(other_asks(), sleep="stack = true", stand_ins=owner)
    assert outcome.staging_branch == "skillopt/night-2"
    house.git("merge-base", "--is-ancestor", "skillopt/night-1", "skillopt/night-2")
    assert adopt(house, "night-2").state is AdoptState.FAST_FORWARD
    assert fate(house, "night-1").status is ProposalStatus.ADOPTED


def test_a_plain_merge_counts_as_adopted(two_nights: House) -> None:
    two_nights.git("merge", "--quiet", "--no-ff", "-m", "take it", "skillopt/night-1")
    assert fate(two_nights, "night-1").status is ProposalStatus.ADOPTED
    assert fate(two_nights, "night-2").status is ProposalStatus.WAITING


def edit_main(house: House) -> None:
    text = (house.path / "skills/notes/SKILL.md").read_text()
    house.write("skills/notes/SKILL.md", text.replace("Writes notes.", "Writes good notes."))
    text = (house.path / "AGENTS.md").read_text()
    house.write("AGENTS.md", text.replace("How we work here", "How we work"))
    house.commit("Edit by hand")


@pytest.mark.parametrize("when", ["before", "after", "before and after"])
def test_a_squashed_pull_request_is_recognised_also_when_main_was_edited(
    house: House, when: str
) -> None:
    house.sleep(asks())
    if "before" in when:
        edit_main(house)
    house.git("merge", "--quiet", "--squash", "skillopt/night-1")
    house.commit("A night's rules (#7)")
    if "after" in when:
        house.write("README.md", "More.\n")
        house.commit("Something else")
        text = (house.path / "skills/notes/SKILL.md").read_text()
        house.write("skills/notes/SKILL.md", text + "\nThe end.\n")
        house.commit("Edit the skill again")
    assert fate(house, "night-1").status is ProposalStatus.ADOPTED
    assert adopt(house, "night-1").state is AdoptState.ALREADY


def test_half_of_a_night_is_not_the_night(house: House) -> None:
    house.sleep(asks())
    edit_main(house)
    assert fate(house, "night-1").status is ProposalStatus.WAITING


def test_what_a_person_turned_down_is_told_to_the_next_night_and_not_tried_again(
    house: House,
) -> None:
    assert house.sleep(asks(), stand_ins=Proposing(CHECKED).as_optimizer).report.accepted
    turn_down(house, "night-1", "we check nothing here, and never will")
    assert fate(house, "night-1") == Decision(
        status=ProposalStatus.TURNED_DOWN, why="we check nothing here, and never will"
    )
    optimizer = Proposing(CHECKED)
    second = house.sleep(asks(), stand_ins=optimizer.as_optimizer).report
    assert second.night == 2
    assert "we check nothing here, and never will" in optimizer.prompts[0]
    assert not second.edits
    assert not second.rejected_edits
    assert second.gate_action is Action.NOOP


def test_what_waits_is_not_proposed_a_second_time(house: House) -> None:
    house.sleep(asks(), stand_ins=Proposing(CHECKED).as_optimizer)
    optimizer = Proposing(CHECKED)
    more = [*asks(), ask("new", "Describe the garden of the office", "train")]
    second = house.sleep(more, stand_ins=optimizer.as_optimizer)
    assert second.staging_branch is None
    assert "waiting for the person" in optimizer.prompts[0]


def test_a_harmful_rule_is_rejected_stays_in_the_notes_and_is_not_paid_for_again(
    house: House,
) -> None:
    tasks = asks()
    first = house.sleep(tasks, stand_ins=Proposing(HARMFUL).as_optimizer)
    assert first.staging_branch is None
    assert {e.words for e in first.report.rejected_edits} == {HARMFUL}
    notes = house.git("log", "--notes=skillopt-night", "skillopt/run/night-1")
    assert HARMFUL in notes
    assert '"kind":"rejected"' in house.git("grep", "-h", "rejected", "refs/notes/skillopt-night")

    optimizer, asked = Proposing(HARMFUL), list[str]()
    second = house.sleep(tasks, stand_ins=optimizer.as_optimizer | {Role.TARGET: Listening(asked)})
    assert HARMFUL in optimizer.prompts[0]
    assert second.report.gate_action is Action.NOOP
    assert not any(HARMFUL in text for text in asked)


def test_a_rejected_set_is_known_by_what_it_makes(house: House) -> None:
    tasks = asks()
    house.sleep(tasks, stand_ins=Proposing(HARMFUL, CHECKED).as_optimizer)
    asked: list[str] = []
    both = Proposing(HARMFUL, CHECKED).as_optimizer | {Role.TARGET: Listening(asked)}
    assert house.sleep(tasks, stand_ins=both).report.gate_action is Action.NOOP
    assert not any(HARMFUL in text for text in asked)
    assert house.sleep(tasks, stand_ins=Proposing(CHECKED).as_optimizer).report.accepted


class Listening:
    """The simulated target, with an ear for what skills it is given."""

    def __init__(self, asked: list[str]) -> None:
        self._asked = asked
        settings = SimulationConfig(obedience=1.0)
        self._inner = SimulatedModel(settings, FixedClock())

    def complete(self, request: ModelRequest) -> ModelReply:
        self._asked.append(request.messages[0].content)
        return self._inner.complete(request)


def test_the_person_s_branch_is_not_touched_by_a_night(two_nights: House, tmp_path: Path) -> None:
    assert two_nights.git("status", "--porcelain") == ""


class Killed(BaseException):
    """What stands for kill -9: nothing catches it."""


@pytest.mark.parametrize("after", [False, True], ids=["before main moves", "after main moved"])
@pytest.mark.parametrize("moved", [False, True], ids=["fast-forward", "replay"])
def test_an_adoption_that_was_killed_is_finished_by_the_same_command(
    house: House, monkeypatch: pytest.MonkeyPatch, after: bool, moved: bool
) -> None:
    house.sleep(asks(), stand_ins=Proposing(CHECKED).as_optimizer)
    if moved:
        edit_main(house)
    calm = adopt_module.fast_forward

    def dying(*arguments: object, **named: object) -> None:
        if after:
            calm(*arguments, **named)  # type: ignore[arg-type]
        raise Killed

    monkeypatch.setattr(adopt_module, "fast_forward", dying)
    with pytest.raises(Killed):
        adopt(house, "night-1")
    monkeypatch.setattr(adopt_module, "fast_forward", calm)
    again = adopt(house, "night-1")
    assert (again.state is AdoptState.ALREADY) == after
    assert text_on_main(house).count("Checked: yes") == 1
    assert house.git("status", "--porcelain") == ""
