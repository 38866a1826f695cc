from __future__ import annotations

from datetime import UTC, datetime

import pytest

from skillgit.records import Action, Edit, EditOp
from skillgit.sleep.memory.past_nights import (
    DecidedNight,
    banned,
    format_decided,
    format_earlier,
    pending,
)
from skillgit.sleep.memory.state import EditRecord, NightRecord, as_record, says_any
from skillgit.store.proposals.outcome import Decision, ProposalStatus

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def rule(content: str, target: str = "skill") -> EditRecord:
    return EditRecord(op=EditOp.ADD, target=target, content=content)


def night(
    number: int,
    *,
    edits: tuple[EditRecord, ...] = (),
    rejected: tuple[EditRecord, ...] = (),
    fate: ProposalStatus | None = None,
    why: str = "",
) -> DecidedNight:
    record = NightRecord(
        night=number,
        run_id="0" * 12,
        skill="s",
        time=NOW,
        action=Action.REJECT if rejected else Action.ACCEPT_NEW_BEST,
        baseline=0.5,
        candidate=0.25,
        edits=edits,
        rejected=rejected,
    )
    decision = Decision(status=fate, why=why) if fate else None
    return DecidedNight(night=record, decision=decision)


def test_nights_without_edits_say_nothing() -> None:
    assert format_earlier([]) == ""
    assert format_earlier([night(1)]) == ""


def test_what_was_rejected_turned_down_or_waits_is_told_with_why() -> None:
    text = format_earlier(
        [
            night(1, rejected=(rule("Shout."),)),
            night(2, edits=(rule("Whisper."),), fate=ProposalStatus.TURNED_DOWN, why="too\nquiet"),
            night(3, edits=(rule("Hum."),), fate=ProposalStatus.WAITING),
            night(4, edits=(rule("Sing."),), fate=ProposalStatus.ADOPTED),
        ]
    )
    assert "### Night 1 — REJECTED by the measurement (score 0.5 → 0.25)" in text
    assert '    1. [add] "Shout."' in text
    assert "TURNED DOWN by the person, because: too quiet" in text
    assert "waiting for the person's decision" in text
    assert '  - [add] "Sing."' in text


def test_only_the_last_twenty_are_shown() -> None:
    text = format_earlier([night(n, rejected=(rule(f"Rule {n}."),)) for n in range(1, 31)])
    assert "Rule 10." not in text
    assert "Rule 11." in text


def test_what_became_of_proposals_is_a_line_each() -> None:
    nights = [night(1, edits=(rule("a"), rule("b")), fate=ProposalStatus.ADOPTED), night(2)]
    assert format_decided(nights) == '- Night 1: adopted by the person: [add] "a"; [add] "b"'


def test_the_banned_and_the_pending_have_the_paths_of_tonight() -> None:
    edits = (rule("a"), rule("b", "memory"))
    nights = [
        night(1, edits=edits, fate=ProposalStatus.TURNED_DOWN),
        night(2, edits=edits, fate=ProposalStatus.WAITING),
        night(3, edits=edits, fate=ProposalStatus.ADOPTED),
    ]
    for found in (banned(nights, "S.md", "A.md"), pending(nights, "S.md", "A.md")):
        assert [edit.target for edit in found] == ["S.md", "A.md"]


@pytest.mark.parametrize(
    ("content", "same"),
    [("- Use  UV", True), ("* use uv", True), ("use uv.", False), ("Use pip", False)],
)
def test_two_rules_say_the_same_whatever_their_mark_and_case(content: str, same: bool) -> None:
    edit = Edit(op=EditOp.ADD, target="S.md", content=content)
    other = Edit(op=EditOp.ADD, target="A.md", content="- use uv")
    assert says_any(edit, [other], anywhere=True) is same
    assert not says_any(edit, [other])


def test_a_record_has_its_documents_alias() -> None:
    assert as_record(Edit(op=EditOp.ADD, target="A.md", content="x"), "A.md").target == "memory"
    assert as_record(Edit(op=EditOp.ADD, target="S.md", content="x"), "A.md").target == "skill"
