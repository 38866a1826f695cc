from __future__ import annotations

from typing import Any

import pytest

from skillgit.config import SkillConfig
from skillgit.errors import UserError
from skillgit.history import CandidateScore, Entry, Mark, Phase, RunHead, StepNote
from skillgit.history.trailers import parse_commit
from skillgit.records import Action, Edit, EditOp, EditOutcome, Metric, Outcome
from skillgit.store.git.refs import Refs
from skillgit.store.git.repository import open_repository
from skillgit.store.git_store import GitStore
from skillgit.store.notes.notes import Notes
from skillgit.store.proposals.adopt import AdoptState
from skillgit.store.proposals.adopted import How
from skillgit.store.proposals.proposal import propose


def test_main_moved_elsewhere_and_the_verdict_holds(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    old = run.commit_file("src/app.py", "print()\n")
    done = adopt(proposal)
    assert (done.state, done.commits) == (AdoptState.REPLAYED, 3)
    assert git("rev-list", "--count", f"{old}..main").strip() == "3"
    assert run.scores(f"{old}..main") == run.scores(f"{run.base}..{proposal}")
    assert git("diff", "--name-only", old, "main").split() == [run.path]
    assert git("show", f"main:{run.path}") == git("show", f"{proposal}:{run.path}")
    assert (run.folder / "src/app.py").exists()
    assert git("status", "--porcelain") == ""
    messages = git("log", "--format=%B", f"{old}..main")
    assert messages == git("log", "--format=%B", f"{run.base}..{proposal}")
    git("fsck", "--strict")


def test_replaying_is_the_same_commits_every_time(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    old = run.commit_file("src/app.py", "print()\n")
    first = adopt(proposal).new
    git("reset", "-q", "--hard", old)
    assert adopt(proposal).new == first


def test_a_replayed_proposal_is_recognised(run: Any, git: Any, proposal: str, adopt: Any) -> None:
    run.commit_file("src/app.py", "print()\n")
    new = adopt(proposal).new
    again = adopt(proposal)
    assert (again.state, again.recognised.how) == (AdoptState.ALREADY, How.SAME_BYTES)
    assert again.recognised.commit == new
    assert again.new == new


def test_a_part_adopted_before_is_not_replayed_again(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    first = git("rev-list", "--reverse", f"{run.base}..{proposal}").split()[0]
    run.commit_file("a.txt", "a\n")
    assert adopt(first).commits == 1
    run.commit_file("b.txt", "b\n")
    done = adopt(proposal)
    assert (done.state, done.commits) == (AdoptState.REPLAYED, 2)
    assert git("show", f"main:{run.path}") == git("show", f"{proposal}:{run.path}")


def test_a_document_of_the_skill_that_changed_elsewhere_ends_the_verdict(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    old = run.commit_file("skills/brief/references/more.md", "More.\n")
    documents = (run.path, "skills/brief/references/more.md")
    assert adopt(proposal, documents=documents).state is AdoptState.REPLAYED_UNMEASURED
    assert git("show", f"main:{run.path}") == git("show", f"{proposal}:{run.path}")
    assert run.scores(f"{old}..main") == ["unmeasured"] * 3


def test_an_executable_document_stays_one(run: Any, git: Any, proposal: str, adopt: Any) -> None:
    (run.folder / run.path).chmod(0o755)
    git("commit", "-q", "-am", "Make it executable")
    adopt(proposal)
    assert git("ls-tree", "main", run.path).startswith("100755 ")


def test_edits_that_fit_are_applied_again_and_marked_unmeasured(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    mine = "Mine first.\n\n" + (run.folder / run.path).read_text()
    old = run.commit_file(run.path, mine)
    done = adopt(proposal)
    assert (done.state, done.commits) == (AdoptState.REPLAYED_UNMEASURED, 3)
    assert (run.folder / run.path).read_text() == run.edited(mine, run.ADD_RISKS, run.SAY_HOW)
    assert run.scores(f"{old}..main") == ["unmeasured"] * 3
    parsed = parse_commit(git("log", "-1", "--format=%B"))
    assert parsed is not None
    assert (parsed.step, parsed.score) == (3, None)
    assert parsed.state is None
    assert "not measured there" in git("log", "-1", "--format=%b")
    assert git("status", "--porcelain") == ""
    git("fsck", "--strict")
    again = adopt(proposal)
    assert (again.state, again.recognised.how) == (AdoptState.ALREADY, How.SAME_STEPS)


def test_an_edit_that_is_there_already_fits(run: Any, git: Any, proposal: str, adopt: Any) -> None:
    mine = run.edited((run.folder / run.path).read_text(), run.ADD_RISKS) + "\nMine.\n"
    run.commit_file(run.path, mine)
    assert adopt(proposal).state is AdoptState.REPLAYED_UNMEASURED
    assert (run.folder / run.path).read_text() == run.edited(mine, run.SAY_HOW)


def test_a_part_squashed_before_and_edited_since_is_not_applied_again(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    first = git("rev-list", "--reverse", f"{run.base}..{proposal}").split()[0]
    git("merge", "-q", "--squash", first)
    git("commit", "-q", "-m", "Some of it")
    mine = (run.folder / run.path).read_text().replace("- Name the risks.", "- Name all risks.")
    run.commit_file(run.path, mine)
    done = adopt(proposal)
    assert (done.state, done.commits) == (AdoptState.REPLAYED_UNMEASURED, 2)
    assert (run.folder / run.path).read_text() == run.edited(mine, run.SAY_HOW)


START, END = "<!-- SKILLOPT-SLEEP:LEARNED START -->", "<!-- SKILLOPT-SLEEP:LEARNED END -->"


@pytest.mark.parametrize("order", [(7, 8), (8, 7)])
def test_two_nights_that_touch_different_bullets_are_adopted_in_either_order(
    run: Any, git: Any, clock: Any, adopt: Any, order: tuple[int, int]
) -> None:
    start = run.text + f"\n{START}\n- keep\n- old rule\n{END}\n"
    run.base = run.commit_file(run.path, start)
    changes = {
        7: (Edit(op=EditOp.ADD, content="- use uv"), start.replace(END, f"- use uv\n{END}")),
        8: (
            Edit(op=EditOp.REPLACE, anchor="old rule", content="- new rule"),
            start.replace("- old rule", "- new rule"),
        ),
    }
    tips = {}
    refs = Refs(run.pygit, run.folder / ".git", clock=clock)
    for night, (edit, text) in changes.items():
        run.run_id, run.text = f"{night}" * 12, start
        run.begin(run=f"night-{night}")
        run.accept(text, 0.5, [edit])
        run.end()
        tips[night] = propose(run.pygit, refs, f"night-{night}").commit

    def edits_of(trailers: Any) -> list[Edit]:
        return [changes[int(trailers.run.removeprefix("night-"))][0]]

    states = [adopt(tips[night], edits_of=edits_of).state for night in order]
    assert states == [AdoptState.FAST_FORWARD, AdoptState.REPLAYED_UNMEASURED]
    region = (run.folder / run.path).read_text().partition(START)[2].partition(END)[0]
    assert sorted(region.split("\n")) == ["", "", "- keep", "- new rule", "- use uv"]
    assert [adopt(tip, edits_of=edits_of).state for tip in tips.values()] == [
        AdoptState.ALREADY
    ] * 2


def test_one_that_does_not_fit_is_refused_with_the_three_way_diff(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    mine = (run.folder / run.path).read_text().replace("- Be short.", "- Be brief.")
    old = run.commit_file(run.path, mine)
    with pytest.raises(UserError) as caught:
        adopt(proposal)
    for part in ("<<<<<<< now", "- Be brief.", "||||||| base", "- Be short.", "- Use 200 words."):
        assert part in caught.value.message
    assert 'the edit "replace" at "- Be short." (anchor_missing)' in caught.value.message
    assert "Write a brief." not in caught.value.message
    assert "--merge" in caught.value.hint
    assert run.head() == old
    assert git("status", "--porcelain") == ""


def test_edits_come_from_the_notes_of_the_run(
    run: Any, git: Any, proposal: str, adopt: Any, clock: Any
) -> None:
    repository = open_repository(run.folder, durable=False)
    refs = Refs(repository.git, repository.common, clock=clock)
    for step, edits in run.edits.items():
        outcomes = tuple(EditOutcome(edit=e, outcome=Outcome.APPLIED) for e in edits)
        note = StepNote(
            run=run.run_id, step=step, action=Action.ACCEPT, n_total=1, n_fail=0, edits=outcomes
        )
        Notes(repository.git, refs, "refs/notes/skillopt").add(
            {run.ids[str(step)]: [note.to_line()]}, who=repository.signature(0), message="train-1"
        )
    # As a text merge this would be a conflict: the lines around the anchor have changed.
    mine = (run.folder / run.path).read_text().replace("## Structure\n\n", "## Structure, mine\n")
    run.commit_file(run.path, mine)
    assert adopt(proposal, edits_of=None).state is AdoptState.REPLAYED_UNMEASURED
    assert (run.folder / run.path).read_text() == run.edited(mine, run.ADD_RISKS, run.SAY_HOW)


def test_without_notes_the_texts_are_merged(run: Any, git: Any, proposal: str, adopt: Any) -> None:
    git("update-ref", "-d", run.ref)
    mine = "Mine first.\n\n" + (run.folder / run.path).read_text()
    run.commit_file(run.path, mine)
    assert adopt(proposal, edits_of=None).state is AdoptState.REPLAYED_UNMEASURED
    assert (run.folder / run.path).read_text() == run.edited(mine, run.ADD_RISKS, run.SAY_HOW)


def test_without_notes_texts_that_conflict_are_refused(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    mine = (run.folder / run.path).read_text().replace("- Be short.", "- Be brief.")
    run.commit_file(run.path, mine)
    with pytest.raises(UserError, match="<<<<<<< now"):
        adopt(proposal, edits_of=None)


def test_a_skill_that_was_moved_is_told(run: Any, git: Any, proposal: str, adopt: Any) -> None:
    git("mv", run.path, "skills/brief/GUIDE.md")
    git("commit", "-q", "-m", "Move it")
    with pytest.raises(UserError, match=r"SKILL.md was added, moved or deleted") as caught:
        adopt(proposal)
    assert "git merge" in caught.value.hint


def test_a_persons_commit_on_the_proposal_comes_along(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    git("switch", "-q", "skillopt/train-1")
    tip = run.commit_file(run.path, (run.folder / run.path).read_text() + "\nA last word.\n")
    git("switch", "-q", "main")
    run.commit_file("src/app.py", "print()\n")
    done = adopt(tip)
    assert (done.state, done.commits) == (AdoptState.REPLAYED, 4)
    assert (run.folder / run.path).read_text().endswith("\nA last word.\n")


def test_what_training_recorded_is_applied_again_in_every_document(
    run: Any, git: Any, adopt: Any, clock: Any
) -> None:
    more = "skills/brief/more.md"
    run.commit_file(more, "# More\n\n- Be kind.\n")
    config = SkillConfig(path=run.path, files=("*.md",))
    repository = open_repository(run.folder, durable=False)
    store = GitStore(repository, config, skill_name="brief", clock=clock)
    start = store.committed_skill("main")
    kinder = Edit(op=EditOp.REPLACE, target=more, anchor="Be kind.", content="Be kinder.")
    better = start.with_document(
        run.path, run.edited(start.main.data.decode(), run.SAY_HOW).encode()
    )
    better = better.with_document(more, b"# More\n\n- Be kinder.\n")
    head_of_run = RunHead(
        name="train-1",
        run_id=run.run_id,
        skill="brief",
        onto="main",
        base=run.head(),
        target="a" * 16,
        run="b" * 16,
        metric=Metric.HARD,
    )
    run.begin()
    old, new = run.state.current, Mark(score=0.5, step=1, origin="step_0001")
    outcomes = tuple(EditOutcome(edit=e, outcome=Outcome.APPLIED) for e in (run.SAY_HOW, kinder))
    git("update-ref", "-d", run.ref)
    for action, step, mark, candidate in (
        (Action.BASELINE, 0, old, None),
        (Action.ACCEPT_NEW_BEST, 1, new, better),
        (Action.END, 1, new, None),
    ):
        note = StepNote(
            run=run.run_id, step=step, action=action, n_total=1, n_fail=0, edits=outcomes
        )
        store.record(
            Entry(
                run=head_of_run,
                step=step,
                phase=Phase.END if action is Action.END else Phase.STEP,
                action=action,
                score=CandidateScore(score=mark.score),
                state=run.state.model_copy(update={"current": mark, "best": mark}),
                candidate=candidate,
                lines=(note,) if candidate else (),
            )
        )
    assert store.finish(head_of_run) == "skillopt/train-1"
    mine = "Mine first.\n\n" + (run.folder / run.path).read_text()
    run.commit_file(run.path, mine)
    run.commit_file(more, "# More of mine\n\n- Be kind.\n")
    tip = run.head("skillopt/train-1")
    done = adopt(tip, edits_of=None, documents=(run.path, more))
    assert done.state is AdoptState.REPLAYED_UNMEASURED
    assert (run.folder / run.path).read_text() == run.edited(mine, run.SAY_HOW)
    assert (run.folder / more).read_text() == "# More of mine\n\n- Be kinder.\n"
