from __future__ import annotations

from pathlib import Path
from typing import Any

import pygit2
import pytest

from skillgit.errors import ConflictError, RepositoryError, UserError
from skillgit.history.trailers import parse_commit
from skillgit.records import Action
from skillgit.store.git.refs import Refs
from skillgit.store.proposals.proposal import build_proposal, propose

BETTER = "# Brief\n\nWrite a brief.\n\n## Risks\n"
BEST = BETTER + "\n- Name them.\n"


@pytest.fixture
def refs(repo: Path, clock: Any) -> Refs:
    return Refs(pygit2.Repository(str(repo)), repo / ".git", clock=clock)


def whole_run(run: Any) -> None:
    run.begin()
    run.reject("worse\n", 0.0)
    run.epoch()
    run.accept(BETTER, 0.5)
    run.skip()
    run.epoch()
    run.reject("bad\n", 0.25)
    run.accept(BEST, 0.75)
    run.accept(BEST + "x\n", 0.75)
    run.epoch()
    run.end()


def subjects(git: Any, range_: str) -> list[str]:
    return git("log", "--reverse", "--format=%s", range_).splitlines()


def test_it_holds_the_accepted_versions_with_the_epochs_between_and_nothing_else(
    run: Any, git: Any, refs: Refs
) -> None:
    whole_run(run)
    proposal = propose(run.pygit, refs, "train-1")
    assert subjects(git, "main..skillopt/train-1") == [
        "skillopt(brief): step 2: accept, new best 0.5000",
        "skillopt(brief): epoch 2",
        "skillopt(brief): step 5: accept, new best 0.7500",
    ]
    assert proposal.commit == git("rev-parse", "skillopt/train-1").strip()
    assert (proposal.branch, proposal.versions, proposal.base) == ("skillopt/train-1", 3, run.base)
    assert git("merge-base", "main", "skillopt/train-1").strip() == run.base
    git("fsck", "--strict", "--no-dangling")


def test_its_commits_are_the_runs_but_for_their_parents(run: Any, git: Any, refs: Refs) -> None:
    whole_run(run)
    propose(run.pygit, refs, "train-1")
    form = "--format=%T%n%an %ae %at%n%cn %ce %ct%n%B"
    assert git("log", "-1", form, "skillopt/train-1") == git("log", "-1", form, run.ids["5"])
    assert git("show", f"skillopt/train-1:{run.path}") == BEST
    parsed = parse_commit(git("log", "-1", "--format=%B", "skillopt/train-1"))
    assert parsed is not None
    assert (parsed.step, parsed.action, parsed.score) == (5, Action.ACCEPT_NEW_BEST, 0.75)


def test_making_it_again_changes_nothing(run: Any, git: Any, refs: Refs) -> None:
    whole_run(run)
    first = propose(run.pygit, refs, "train-1")
    assert propose(run.pygit, refs, "train-1") == first
    assert build_proposal(run.pygit, run.tip).commit == first.commit


def test_it_is_never_moved_even_when_a_person_committed_on_it(
    run: Any, git: Any, refs: Refs
) -> None:
    whole_run(run)
    built = propose(run.pygit, refs, "train-1").commit
    on_top = git("commit-tree", "-p", str(built), "-m", "Mine", f"{built}^{{tree}}").strip()
    git("update-ref", "refs/heads/skillopt/train-1", on_top)
    assert propose(run.pygit, refs, "train-1").commit == on_top
    assert git("rev-parse", "skillopt/train-1").strip() == on_top


def test_a_branch_of_that_name_with_something_else_is_a_conflict(
    run: Any, git: Any, refs: Refs
) -> None:
    whole_run(run)
    git("branch", "skillopt/train-1", "main")
    with pytest.raises(ConflictError, match="skillopt/train-1") as caught:
        propose(run.pygit, refs, "train-1")
    assert "git branch -m" in caught.value.hint


def test_another_clones_proposal_of_that_name_is_a_conflict(run: Any, git: Any, refs: Refs) -> None:
    whole_run(run)
    propose(run.pygit, refs, "train-1")
    run.run_id, run.text = "ba9876543210", BETTER
    run.begin()
    run.accept(BEST, 0.5)
    run.end()
    with pytest.raises(ConflictError):
        propose(run.pygit, refs, "train-1")


def test_nothing_accepted_makes_no_branch_and_says_why(run: Any, git: Any, refs: Refs) -> None:
    run.begin()
    run.reject("worse\n", 0.0)
    run.skip()
    run.end()
    proposal = propose(run.pygit, refs, "train-1")
    assert (proposal.commit, proposal.branch) == (None, None)
    assert proposal.reason == "train-1 tried 1 version, and none was accepted"
    assert "skillopt/train-1" not in git("branch", "--format=%(refname:short)").split()


def test_an_empty_run_says_so(run: Any, refs: Refs) -> None:
    run.begin()
    run.skip()
    run.end()
    assert propose(run.pygit, refs, "train-1").reason == "train-1 found nothing to try"


def test_what_is_kept_without_being_better_is_not_proposed(run: Any, refs: Refs) -> None:
    run.begin(score=0.5)
    run.accept("other\n", 0.25, force=True)
    run.end()
    proposal = propose(run.pygit, refs, "train-1")
    assert proposal.commit is None
    assert "better than the skill it began with" in proposal.reason


def test_a_run_that_goes_on_has_none_yet(run: Any, git: Any, refs: Refs) -> None:
    run.begin()
    run.accept(BETTER, 0.5)
    proposal = propose(run.pygit, refs, "train-1")
    assert (proposal.commit, proposal.reason) == (None, "train-1 has not ended yet")


def test_a_version_in_the_middle_has_a_proposal_that_the_last_one_begins_with(
    run: Any, git: Any, refs: Refs
) -> None:
    whole_run(run)
    early = build_proposal(run.pygit, run.ids["2"]).commit
    propose(run.pygit, refs, "train-1")
    git("merge-base", "--is-ancestor", str(early), "skillopt/train-1")


def test_a_start_from_another_version_belongs_to_it(run: Any, git: Any, refs: Refs) -> None:
    run.begin(text="# From elsewhere\n")
    run.accept(BETTER, 0.5)
    run.end()
    propose(run.pygit, refs, "train-1")
    assert subjects(git, "main..skillopt/train-1") == [
        "skillopt(brief): step 0: baseline 0.1250",
        "skillopt(brief): step 1: accept, new best 0.5000",
    ]


def test_guidance_that_became_best_is_its_tip(run: Any, git: Any, refs: Refs) -> None:
    run.begin()
    run.accept(BETTER, 0.5)
    run.epoch()
    run.epoch(text=BETTER + "guidance\n")
    current = run.state.current.model_copy(update={"score": 0.9})
    run.state = run.state.model_copy(update={"current": current, "best": current})
    run.end()
    propose(run.pygit, refs, "train-1")
    assert subjects(git, "main..skillopt/train-1")[-1] == "skillopt(brief): epoch 2"
    assert git("show", f"skillopt/train-1:{run.path}") == BETTER + "guidance\n"


def test_no_such_run_is_told(run: Any, refs: Refs) -> None:
    with pytest.raises(UserError, match="no run train-9"):
        propose(run.pygit, refs, "train-9")


def test_a_foreign_commit_on_a_run_branch_is_told(run: Any, git: Any) -> None:
    run.begin()
    foreign = git("commit-tree", "-p", run.tip, "-m", "Mine", f"{run.tip}^{{tree}}").strip()
    with pytest.raises(RepositoryError, match="none of the run's"):
        build_proposal(run.pygit, foreign)


def test_a_run_stops_at_its_own_step_0_on_top_of_an_adopted_one(
    run: Any, git: Any, refs: Refs
) -> None:
    whole_run(run)
    propose(run.pygit, refs, "train-1")
    git("merge", "-q", "--ff-only", "skillopt/train-1")
    run.base = git("rev-parse", "main").strip()
    run.run_id, run.text = "ba9876543210", BEST
    run.begin(score=0.75, run="train-2")
    run.accept(BEST + "more\n", 0.9)
    run.end()
    assert propose(run.pygit, refs, "train-2").versions == 1
    assert subjects(git, "main..skillopt/train-2") == [
        "skillopt(brief): step 1: accept, new best 0.9000"
    ]
