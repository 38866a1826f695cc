from __future__ import annotations

from typing import Any

from skillgit.store.proposals.adopt import AdoptState
from skillgit.store.proposals.adopted import How, is_adopted, read_lineage


def test_a_merged_proposal_is_recognised(run: Any, git: Any, proposal: str, adopt: Any) -> None:
    run.commit_file("src/app.py", "print()\n")
    git("merge", "-q", "--no-edit", proposal)
    assert adopt(proposal).recognised.how is How.CONTAINED


def test_a_squash_merged_proposal_is_recognised(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    run.commit_file("src/app.py", "print()\n")
    git("merge", "-q", "--squash", proposal)
    git("commit", "-q", "-m", "Better briefs (#12)")
    squashed = run.head()
    run.commit_file(run.path, (run.folder / run.path).read_text() + "\nEdited since.\n")
    again = adopt(proposal)
    assert (again.state, again.recognised.how) == (AdoptState.ALREADY, How.SAME_BYTES)
    assert again.recognised.commit == squashed
    assert str(again).endswith(f"the skill was the same bytes in {squashed[:12]}")


def test_a_squash_of_another_text_is_recognised_by_what_it_quotes(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    run.commit_file(run.path, "Mine first.\n\n" + (run.folder / run.path).read_text())
    git("merge", "-q", "--squash", proposal)
    git("commit", "-q", "-F", ".git/SQUASH_MSG")
    again = adopt(proposal)
    assert (again.state, again.recognised.how) == (AdoptState.ALREADY, How.SAME_STEPS)


def test_a_rebased_proposal_is_recognised(run: Any, git: Any, proposal: str, adopt: Any) -> None:
    run.commit_file(run.path, "Mine first.\n\n" + (run.folder / run.path).read_text())
    git("cherry-pick", "--allow-empty", "-x", f"{run.base}..{proposal}")
    again = adopt(proposal)
    assert (again.state, again.recognised.how) == (AdoptState.ALREADY, How.SAME_STEPS)


def test_what_one_other_run_did_is_not_this_proposal(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    message = git("log", "-1", "--format=%B", proposal).replace(run.run_id, "f" * 12)
    git("commit", "-q", "--allow-empty", "-m", message)
    lineage = read_lineage(run.pygit, proposal)
    assert is_adopted(run.pygit, lineage, run.head()) is None


def test_an_unmerged_proposal_is_not_adopted(run: Any, git: Any, proposal: str) -> None:
    assert is_adopted(run.pygit, read_lineage(run.pygit, proposal), run.head()) is None


def test_gits_rebase_keeps_every_line_and_the_result_is_a_proposal(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    messages = git("log", "--format=%B", f"{run.base}..{proposal}")
    old = run.commit_file("src/app.py", "print()\n")
    git("rebase", "-q", "main", "skillopt/train-1")
    assert git("log", "--format=%B", "main..skillopt/train-1") == messages
    tip = run.head("skillopt/train-1")
    assert read_lineage(run.pygit, tip).base == old
    git("switch", "-q", "main")
    assert adopt(tip).state is AdoptState.FAST_FORWARD
    assert adopt(proposal).state is AdoptState.ALREADY


def test_a_reverted_adoption_was_one(run: Any, git: Any, proposal: str, adopt: Any) -> None:
    run.commit_file("src/app.py", "print()\n")
    new = adopt(proposal).new
    git("revert", "--no-edit", new)
    git("revert", "--no-edit", f"{new}~2")
    assert git("diff", "--name-only", run.base, "main").split() == ["src/app.py"]
    again = adopt(proposal)
    assert (again.state, again.recognised.commit) == (AdoptState.ALREADY, new)
