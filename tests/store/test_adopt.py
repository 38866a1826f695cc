from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillgit.config import SkillConfig
from skillgit.errors import RepositoryError, UserError
from skillgit.history import CandidateScore, Entry, Mark, Phase, RunHead, StepNote
from skillgit.records import Action, Edit, EditOp, EditOutcome, Metric, Outcome
from skillgit.store.adopt import Adopter, Adoption, AdoptState
from skillgit.store.adopted import How, is_adopted, read_lineage
from skillgit.store.git_cli import GitCli
from skillgit.store.git_store import GitStore
from skillgit.store.notes import Notes
from skillgit.store.proposal import propose
from skillgit.store.refs import Refs
from skillgit.store.repository import open_repository
from skillgit.trailers import parse_commit

SKILL = "skills/brief/SKILL.md"
ADD_RISKS = Edit(op=EditOp.ADD, anchor="- One summary.", content="- Name the risks.")
SAY_HOW = Edit(op=EditOp.REPLACE, anchor="- Be short.", content="- Use 200 words.")


def edited(text: str, *edits: Edit) -> str:
    for edit in edits:
        new = edit.content if edit.op is EditOp.REPLACE else f"{edit.anchor}\n{edit.content}"
        text = text.replace(edit.anchor, new)
    return text


@pytest.fixture
def proposal(run: Any, clock: Any) -> str:
    """Two accepted versions with an epoch between them; the id of the proposal's tip."""
    run.begin()
    run.reject("worse\n", 0.0)
    run.accept(edited(run.text, ADD_RISKS), 0.5, [ADD_RISKS])
    run.epoch()
    run.accept(edited(run.text, SAY_HOW), 0.75, [SAY_HOW])
    run.end()
    refs = Refs(run.pygit, run.folder / ".git", clock=clock)
    made = propose(run.pygit, refs, "train-1").commit
    assert made is not None
    return made


@pytest.fixture
def adopt(run: Any, clock: Any) -> Callable[..., Adoption]:
    def adopted(commit: str, onto: str = "main", *, at: Path | None = None, **options: Any) -> Any:
        repository = open_repository(at or run.folder, durable=False)
        folder = repository.workdir or repository.git_dir
        refs = Refs(repository.git, repository.common, clock=clock, command="adopt")
        cli = GitCli(folder, os.environ)
        documents = options.pop("documents", ())
        by_step = options.pop("edits_of", lambda trailers: run.edits.get(trailers.step))
        return Adopter(repository, refs, cli, documents, by_step).adopt(
            commit, onto=onto, **options
        )

    return adopted


def commit_file(git: Any, run: Any, path: str, text: str) -> str:
    (run.folder / path).parent.mkdir(parents=True, exist_ok=True)
    (run.folder / path).write_bytes(text.encode())
    git("add", path)
    git("commit", "-q", "-m", f"Change {path}")
    return head(git, "HEAD")


def head(git: Any, rev: str = "main") -> str:
    return git("rev-parse", rev).strip()


def scores(git: Any, range_: str) -> list[str]:
    form = "--format=%(trailers:key=Skillopt-Score,valueonly,separator=)"
    return git("log", "--reverse", form, range_).split()


# ── main is where the run began ──────────────────────────────────────────────────────────────


def test_main_is_fast_forwarded_with_its_work_tree(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    old = head(git)
    done = adopt(proposal)
    assert (done.state, done.old, done.new, done.commits) == (
        AdoptState.FAST_FORWARD,
        old,
        proposal,
        3,
    )
    assert head(git) == proposal
    assert git("status", "--porcelain") == ""
    assert (run.folder / SKILL).read_text() == edited(run_start(git, run), ADD_RISKS, SAY_HOW)
    assert str(done) == "main is at train-1 now (3 commits)"
    git("fsck", "--strict")


def run_start(git: Any, run: Any) -> str:
    return git("show", f"{run.base}:{SKILL}")


def test_the_command_it_prints_undoes_it(run: Any, git: Any, proposal: str, adopt: Any) -> None:
    old = head(git)
    done = adopt(proposal)
    assert done.undo == f"git reset --keep {old}"
    git(*done.undo.split()[1:])
    assert head(git) == old
    assert git("status", "--porcelain") == ""


def test_adopting_twice_says_so(run: Any, git: Any, proposal: str, adopt: Any) -> None:
    adopt(proposal)
    again = adopt(proposal)
    assert (again.state, again.old, again.new) == (AdoptState.ALREADY, proposal, proposal)
    assert str(again) == "main has train-1 already: its commits are in it"


def test_the_move_is_logged_before_it(run: Any, git: Any, proposal: str, adopt: Any) -> None:
    old = head(git)
    (run.folder / ".git/index.lock").touch()
    with pytest.raises(RepositoryError):
        adopt(proposal)
    lines = (run.folder / ".git/skillgit/moves.jsonl").read_text().splitlines()
    last = json.loads(lines[-1])
    assert (last["ref"], last["old"], last["new"]) == ("refs/heads/main", old, proposal)


def test_a_hook_of_the_user_runs(run: Any, git: Any, proposal: str, adopt: Any) -> None:
    hook = run.folder / ".git/hooks/post-merge"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho ran > hook-ran\n")
    hook.chmod(0o755)
    adopt(proposal)
    assert (run.folder / "hook-ran").read_text() == "ran\n"


def test_line_ends_are_converted_as_git_is_told_to(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    git("config", "core.autocrlf", "true")
    (run.folder / SKILL).unlink()
    git("checkout", "--", SKILL)
    adopt(proposal)
    data = (run.folder / SKILL).read_bytes()
    assert data.count(b"\r\n") == data.count(b"\n") > 5
    assert git("status", "--porcelain") == ""


# ── main is not checked out here ─────────────────────────────────────────────────────────────


def test_a_linked_work_tree_that_has_main_moves(
    run: Any, git: Any, proposal: str, adopt: Any, tmp_path: Path
) -> None:
    git("switch", "-q", "--detach")
    git("worktree", "add", "-q", str(tmp_path / "linked dir"), "main")
    old = head(git)
    done = adopt(proposal)
    assert head(git) == proposal
    assert "200 words" in (tmp_path / "linked dir" / SKILL).read_text()
    assert "200 words" not in (run.folder / SKILL).read_text()
    assert done.undo == f"git -C '{tmp_path / 'linked dir'}' reset --keep {old}"


def test_from_within_a_linked_work_tree_the_main_one_moves(
    run: Any, git: Any, proposal: str, adopt: Any, tmp_path: Path
) -> None:
    git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    adopt(proposal, at=tmp_path / "linked")
    assert "200 words" in (run.folder / SKILL).read_text()
    assert git("status", "--porcelain") == ""


def test_a_detached_head_stays_where_it_is(run: Any, git: Any, proposal: str, adopt: Any) -> None:
    git("switch", "-q", "--detach")
    old = head(git)
    done = adopt(proposal)
    assert (head(git), head(git, "HEAD")) == (proposal, old)
    assert git("status", "--porcelain") == ""
    assert not (run.folder / ".git/FETCH_HEAD").exists()
    assert done.undo == f"git branch -f main {old}"
    git(*done.undo.split()[1:])
    assert head(git) == old


def test_a_bare_repository_is_adopted_into(
    run: Any, git: Any, proposal: str, adopt: Any, tmp_path: Path
) -> None:
    bare = tmp_path / "bare.git"
    git("clone", "-q", "--bare", str(run.folder), str(bare))
    done = adopt(proposal, at=bare)
    assert done.state is AdoptState.FAST_FORWARD
    assert git("rev-parse", "main", cwd=bare).strip() == proposal


def test_another_branch_can_be_named(run: Any, git: Any, proposal: str, adopt: Any) -> None:
    git("branch", "trunk")
    old = head(git)
    adopt(proposal, "trunk")
    assert (head(git), head(git, "trunk")) == (old, proposal)


def test_a_branch_that_is_not_there_is_told(run: Any, proposal: str, adopt: Any) -> None:
    with pytest.raises(RepositoryError, match="there is no branch 'mian'"):
        adopt(proposal, "mian")


def test_skillgits_own_branches_are_no_place_for_it(run: Any, proposal: str, adopt: Any) -> None:
    with pytest.raises(UserError, match="own branch"):
        adopt(proposal, "skillopt/run/train-1")


def test_a_commit_of_no_run_is_no_proposal(run: Any, git: Any, adopt: Any) -> None:
    with pytest.raises(UserError, match="no proposal"):
        adopt(head(git))


# ── main went on, the skill did not ──────────────────────────────────────────────────────────


def test_main_moved_elsewhere_and_the_verdict_holds(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    old = commit_file(git, run, "src/app.py", "print()\n")
    done = adopt(proposal)
    assert (done.state, done.commits) == (AdoptState.REPLAYED, 3)
    assert git("rev-list", "--count", f"{old}..main").strip() == "3"
    assert scores(git, f"{old}..main") == scores(git, f"{run.base}..{proposal}")
    assert git("diff", "--name-only", old, "main").split() == [SKILL]
    assert git("show", f"main:{SKILL}") == git("show", f"{proposal}:{SKILL}")
    assert (run.folder / "src/app.py").exists()
    assert git("status", "--porcelain") == ""
    messages = git("log", "--format=%B", f"{old}..main")
    assert messages == git("log", "--format=%B", f"{run.base}..{proposal}")
    git("fsck", "--strict")


def test_replaying_is_the_same_commits_every_time(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    old = commit_file(git, run, "src/app.py", "print()\n")
    first = adopt(proposal).new
    git("reset", "-q", "--hard", old)
    assert adopt(proposal).new == first


def test_a_replayed_proposal_is_recognised(run: Any, git: Any, proposal: str, adopt: Any) -> None:
    commit_file(git, run, "src/app.py", "print()\n")
    new = adopt(proposal).new
    again = adopt(proposal)
    assert (again.state, again.recognised.how) == (AdoptState.ALREADY, How.SAME_BYTES)
    assert again.recognised.commit == new
    assert again.new == new


def test_a_part_adopted_before_is_not_replayed_again(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    first = git("rev-list", "--reverse", f"{run.base}..{proposal}").split()[0]
    commit_file(git, run, "a.txt", "a\n")
    assert adopt(first).commits == 1
    commit_file(git, run, "b.txt", "b\n")
    done = adopt(proposal)
    assert (done.state, done.commits) == (AdoptState.REPLAYED, 2)
    assert git("show", f"main:{SKILL}") == git("show", f"{proposal}:{SKILL}")


def test_a_document_of_the_skill_that_changed_elsewhere_ends_the_verdict(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    old = commit_file(git, run, "skills/brief/references/more.md", "More.\n")
    documents = (SKILL, "skills/brief/references/more.md")
    assert adopt(proposal, documents=documents).state is AdoptState.REPLAYED_UNMEASURED
    assert git("show", f"main:{SKILL}") == git("show", f"{proposal}:{SKILL}")
    assert scores(git, f"{old}..main") == ["unmeasured"] * 3


def test_an_executable_document_stays_one(run: Any, git: Any, proposal: str, adopt: Any) -> None:
    (run.folder / SKILL).chmod(0o755)
    git("commit", "-q", "-am", "Make it executable")
    adopt(proposal)
    assert git("ls-tree", "main", SKILL).startswith("100755 ")


# ── others merged it ─────────────────────────────────────────────────────────────────────────


def test_a_merged_proposal_is_recognised(run: Any, git: Any, proposal: str, adopt: Any) -> None:
    commit_file(git, run, "src/app.py", "print()\n")
    git("merge", "-q", "--no-edit", proposal)
    assert adopt(proposal).recognised.how is How.CONTAINED


def test_a_squash_merged_proposal_is_recognised(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    commit_file(git, run, "src/app.py", "print()\n")
    git("merge", "-q", "--squash", proposal)
    git("commit", "-q", "-m", "Better briefs (#12)")
    squashed = head(git)
    commit_file(git, run, SKILL, (run.folder / SKILL).read_text() + "\nEdited since.\n")
    again = adopt(proposal)
    assert (again.state, again.recognised.how) == (AdoptState.ALREADY, How.SAME_BYTES)
    assert again.recognised.commit == squashed
    assert str(again).endswith(f"the skill was the same bytes in {squashed[:12]}")


def test_a_squash_of_another_text_is_recognised_by_what_it_quotes(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    commit_file(git, run, SKILL, "Mine first.\n\n" + (run.folder / SKILL).read_text())
    git("merge", "-q", "--squash", proposal)
    git("commit", "-q", "-F", ".git/SQUASH_MSG")
    again = adopt(proposal)
    assert (again.state, again.recognised.how) == (AdoptState.ALREADY, How.SAME_STEPS)


def test_a_rebased_proposal_is_recognised(run: Any, git: Any, proposal: str, adopt: Any) -> None:
    commit_file(git, run, SKILL, "Mine first.\n\n" + (run.folder / SKILL).read_text())
    git("cherry-pick", "--allow-empty", "-x", f"{run.base}..{proposal}")
    again = adopt(proposal)
    assert (again.state, again.recognised.how) == (AdoptState.ALREADY, How.SAME_STEPS)


def test_what_one_other_run_did_is_not_this_proposal(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    message = git("log", "-1", "--format=%B", proposal).replace(run.run_id, "f" * 12)
    git("commit", "-q", "--allow-empty", "-m", message)
    lineage = read_lineage(run.pygit, proposal)
    assert is_adopted(run.pygit, lineage, head(git)) is None


def test_an_unmerged_proposal_is_not_adopted(run: Any, git: Any, proposal: str) -> None:
    assert is_adopted(run.pygit, read_lineage(run.pygit, proposal), head(git)) is None


# ── main went on, and so did the skill ───────────────────────────────────────────────────────


def test_edits_that_fit_are_applied_again_and_marked_unmeasured(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    mine = "Mine first.\n\n" + (run.folder / SKILL).read_text()
    old = commit_file(git, run, SKILL, mine)
    done = adopt(proposal)
    assert (done.state, done.commits) == (AdoptState.REPLAYED_UNMEASURED, 3)
    assert (run.folder / SKILL).read_text() == edited(mine, ADD_RISKS, SAY_HOW)
    assert scores(git, f"{old}..main") == ["unmeasured"] * 3
    parsed = parse_commit(git("log", "-1", "--format=%B"))
    assert parsed is not None
    assert (parsed.step, parsed.score) == (3, None)
    assert parsed.state.best.score is None
    assert "not measured there" in git("log", "-1", "--format=%b")
    assert git("status", "--porcelain") == ""
    git("fsck", "--strict")
    again = adopt(proposal)
    assert (again.state, again.recognised.how) == (AdoptState.ALREADY, How.SAME_STEPS)


def test_an_edit_that_is_there_already_fits(run: Any, git: Any, proposal: str, adopt: Any) -> None:
    mine = edited((run.folder / SKILL).read_text(), ADD_RISKS) + "\nMine.\n"
    commit_file(git, run, SKILL, mine)
    assert adopt(proposal).state is AdoptState.REPLAYED_UNMEASURED
    assert (run.folder / SKILL).read_text() == edited(mine, SAY_HOW)


def test_edits_that_are_all_there_change_nothing(
    run: Any, git: Any, clock: Any, adopt: Any
) -> None:
    run.begin()
    run.accept(edited(run.text, ADD_RISKS), 0.5, [ADD_RISKS])
    run.end()
    refs = Refs(run.pygit, run.folder / ".git", clock=clock)
    tip = propose(run.pygit, refs, "train-1").commit
    mine = edited((run.folder / SKILL).read_text(), ADD_RISKS) + "\nMine.\n"
    old = commit_file(git, run, SKILL, mine)
    done = adopt(tip)
    assert (done.state, done.recognised.how) == (AdoptState.ALREADY, How.SAME_EDITS)
    assert str(done) == "main has train-1 already: each of its edits is there"
    assert head(git) == old


def test_a_part_squashed_before_and_edited_since_is_not_applied_again(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    first = git("rev-list", "--reverse", f"{run.base}..{proposal}").split()[0]
    git("merge", "-q", "--squash", first)
    git("commit", "-q", "-m", "Some of it")
    mine = (run.folder / SKILL).read_text().replace("- Name the risks.", "- Name all risks.")
    commit_file(git, run, SKILL, mine)
    done = adopt(proposal)
    assert (done.state, done.commits) == (AdoptState.REPLAYED_UNMEASURED, 2)
    assert (run.folder / SKILL).read_text() == edited(mine, SAY_HOW)


START, END = "<!-- SKILLOPT-SLEEP:LEARNED START -->", "<!-- SKILLOPT-SLEEP:LEARNED END -->"


@pytest.mark.parametrize("order", [(7, 8), (8, 7)])
def test_two_nights_that_touch_different_bullets_are_adopted_in_either_order(
    run: Any, git: Any, clock: Any, adopt: Any, order: tuple[int, int]
) -> None:
    start = run.text + f"\n{START}\n- keep\n- old rule\n{END}\n"
    run.base = commit_file(git, run, SKILL, start)
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
    region = (run.folder / SKILL).read_text().partition(START)[2].partition(END)[0]
    assert sorted(region.split("\n")) == ["", "", "- keep", "- new rule", "- use uv"]
    assert [adopt(tip, edits_of=edits_of).state for tip in tips.values()] == [
        AdoptState.ALREADY
    ] * 2


def test_one_that_does_not_fit_is_refused_with_the_three_way_diff(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    mine = (run.folder / SKILL).read_text().replace("- Be short.", "- Be brief.")
    old = commit_file(git, run, SKILL, mine)
    with pytest.raises(UserError) as caught:
        adopt(proposal)
    for part in ("<<<<<<< now", "- Be brief.", "||||||| base", "- Be short.", "- Use 200 words."):
        assert part in caught.value.message
    assert 'the edit "replace" at "- Be short." (anchor_missing)' in caught.value.message
    assert "--merge" in caught.value.hint
    assert head(git) == old
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
    mine = (run.folder / SKILL).read_text().replace("## Structure\n\n", "## Structure, mine\n")
    commit_file(git, run, SKILL, mine)
    assert adopt(proposal, edits_of=None).state is AdoptState.REPLAYED_UNMEASURED
    assert (run.folder / SKILL).read_text() == edited(mine, ADD_RISKS, SAY_HOW)


def test_without_notes_the_texts_are_merged(run: Any, git: Any, proposal: str, adopt: Any) -> None:
    git("update-ref", "-d", run.ref)
    mine = "Mine first.\n\n" + (run.folder / SKILL).read_text()
    commit_file(git, run, SKILL, mine)
    assert adopt(proposal, edits_of=None).state is AdoptState.REPLAYED_UNMEASURED
    assert (run.folder / SKILL).read_text() == edited(mine, ADD_RISKS, SAY_HOW)


def test_without_notes_texts_that_conflict_are_refused(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    mine = (run.folder / SKILL).read_text().replace("- Be short.", "- Be brief.")
    commit_file(git, run, SKILL, mine)
    with pytest.raises(UserError, match="<<<<<<< now"):
        adopt(proposal, edits_of=None)


def test_a_skill_that_was_moved_is_told(run: Any, git: Any, proposal: str, adopt: Any) -> None:
    git("mv", SKILL, "skills/brief/GUIDE.md")
    git("commit", "-q", "-m", "Move it")
    with pytest.raises(UserError, match=r"SKILL.md was added, moved or deleted") as caught:
        adopt(proposal)
    assert "git merge" in caught.value.hint


def test_a_persons_commit_on_the_proposal_comes_along(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    git("switch", "-q", "skillopt/train-1")
    tip = commit_file(git, run, SKILL, (run.folder / SKILL).read_text() + "\nA last word.\n")
    git("switch", "-q", "main")
    commit_file(git, run, "src/app.py", "print()\n")
    done = adopt(tip)
    assert (done.state, done.commits) == (AdoptState.REPLAYED, 4)
    assert (run.folder / SKILL).read_text().endswith("\nA last word.\n")


def test_git_merges_when_asked_to(run: Any, git: Any, proposal: str, adopt: Any) -> None:
    old = commit_file(git, run, SKILL, "Mine first.\n\n" + (run.folder / SKILL).read_text())
    done = adopt(proposal, merge=True)
    assert done.state is AdoptState.MERGED
    assert git("log", "-1", "--format=%P").split() == [old, proposal]
    git(*done.undo.split()[1:])
    assert head(git) == old


def test_a_conflict_of_gits_merge_is_left_to_resolve(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    mine = (run.folder / SKILL).read_text().replace("- Be short.", "- Be brief.")
    old = commit_file(git, run, SKILL, mine)
    with pytest.raises(UserError, match="CONFLICT") as caught:
        adopt(proposal, merge=True)
    assert "git merge --abort" in caught.value.hint
    git("merge", "--abort")
    assert head(git) == old


def test_a_merge_needs_a_work_tree(run: Any, git: Any, proposal: str, adopt: Any) -> None:
    commit_file(git, run, SKILL, "Mine first.\n\n" + (run.folder / SKILL).read_text())
    git("switch", "-q", "--detach")
    with pytest.raises(UserError, match="checked out nowhere"):
        adopt(proposal, merge=True)


# ── something is in the way ──────────────────────────────────────────────────────────────────


def test_local_changes_are_refused_in_gits_words_and_kept(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    old = head(git)
    (run.folder / SKILL).write_text("my own words\n")
    git("config", "merge.autoStash", "true")
    with pytest.raises(RepositoryError, match=r"local changes .* would be overwritten"):
        adopt(proposal)
    assert (run.folder / SKILL).read_text() == "my own words\n"
    assert head(git) == old


def test_staged_changes_are_refused_and_kept(run: Any, git: Any, proposal: str, adopt: Any) -> None:
    (run.folder / SKILL).write_text("my own words\n")
    git("add", SKILL)
    before = git("diff", "--cached")
    with pytest.raises(RepositoryError):
        adopt(proposal)
    assert git("diff", "--cached") == before


def test_what_is_staged_under_a_work_tree_that_looks_done_is_kept(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    (run.folder / SKILL).write_text("my own words\n")
    git("add", SKILL)
    (run.folder / SKILL).write_text(git("show", f"{proposal}:{SKILL}"))
    with pytest.raises(RepositoryError):
        adopt(proposal)
    assert git("show", f":{SKILL}") == "my own words\n"


def test_local_changes_elsewhere_are_no_hindrance(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    (run.folder / "README.md").write_text("mine\n")
    adopt(proposal)
    assert (run.folder / "README.md").read_text() == "mine\n"
    assert head(git) == proposal


def test_a_locked_index_is_told(run: Any, git: Any, proposal: str, adopt: Any) -> None:
    old = head(git)
    lock = run.folder / ".git/index.lock"
    lock.touch()
    with pytest.raises(RepositoryError, match=r"index\.lock.*File exists"):
        adopt(proposal)
    assert head(git) == old
    lock.unlink()
    assert adopt(proposal).new == proposal


def test_a_rebase_of_main_in_progress_is_told(
    run: Any, git: Any, proposal: str, adopt: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = commit_file(git, run, "a.txt", "a\n")
    monkeypatch.setenv("GIT_SEQUENCE_EDITOR", "sed -i -e s/^pick/edit/")
    git("rebase", "-q", "-i", "HEAD~1")
    with pytest.raises(RepositoryError, match="checked out at"):
        adopt(proposal)
    git("rebase", "--abort")
    assert head(git) == old


def test_a_merge_in_progress_is_told(run: Any, git: Any, proposal: str, adopt: Any) -> None:
    git("switch", "-q", "-c", "other")
    commit_file(git, run, "README.md", "theirs\n")
    git("switch", "-q", "main")
    commit_file(git, run, "README.md", "ours\n")
    subprocess.run(["git", "merge", "other"], cwd=run.folder, capture_output=True, check=False)
    with pytest.raises(RepositoryError, match="unmerged files"):
        adopt(proposal)
    assert "<<<<<<<" in (run.folder / "README.md").read_text()


# ── killed ───────────────────────────────────────────────────────────────────────────────────


def test_a_merge_that_was_killed_after_writing_the_file_is_finished(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    (run.folder / SKILL).write_text(git("show", f"{proposal}:{SKILL}"))
    assert adopt(proposal).state is AdoptState.FAST_FORWARD
    assert head(git) == proposal
    assert git("status", "--porcelain") == ""


def test_a_merge_that_was_killed_after_writing_the_index_is_finished(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    (run.folder / SKILL).write_text(git("show", f"{proposal}:{SKILL}"))
    git("add", SKILL)
    adopt(proposal)
    assert head(git) == proposal
    assert git("status", "--porcelain") == ""


ADOPT_ELSEWHERE = """
import os, sys
from pathlib import Path
import time
from skillgit.store.adopt import Adopter
from skillgit.store.git_cli import GitCli
from skillgit.store.git_store import GitStore
from skillgit.store.refs import Refs
from skillgit.store.repository import open_repository

class Clock:
    def now(self):
        from datetime import datetime, UTC
        return datetime.now(UTC)
    monotonic = staticmethod(time.monotonic)
    sleep = staticmethod(time.sleep)

folder = Path(sys.argv[1])
repository = open_repository(folder, durable=False)
refs = Refs(repository.git, repository.common, clock=Clock())
print("ready", flush=True)
Adopter(repository, refs, GitCli(folder, os.environ)).adopt(sys.argv[2], onto="main")
print("done", flush=True)
"""


@pytest.mark.parametrize("delay", [0.0, 0.004, 0.008, 0.012, 0.016, 0.024])
def test_kill_9_during_adopt_then_again_finishes_or_says_done(
    run: Any, git: Any, proposal: str, adopt: Any, delay: float
) -> None:
    commit_file(git, run, "src/app.py", "print()\n")
    process = subprocess.Popen(
        [sys.executable, "-c", ADOPT_ELSEWHERE, str(run.folder), proposal],
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(delay)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    _wait_for_gits(run.folder)
    done = adopt(proposal)
    assert done.state in (AdoptState.REPLAYED, AdoptState.ALREADY)
    assert git("show", f"main:{SKILL}") == git("show", f"{proposal}:{SKILL}")
    assert git("status", "--porcelain") == ""
    assert git("rev-list", "--count", f"{run.base}..main").strip() == "4"
    git("fsck", "--strict")


def _wait_for_gits(folder: Path) -> None:
    """Whatever git was doing for the killed process, it does to the end."""
    lock = folder / ".git/index.lock"
    for _ in range(100):
        time.sleep(0.05)
        if not lock.exists():
            break


# ── with the store that training writes to ───────────────────────────────────────────────────


def test_what_training_recorded_is_applied_again_in_every_document(
    run: Any, git: Any, adopt: Any, clock: Any
) -> None:
    more = "skills/brief/more.md"
    commit_file(git, run, more, "# More\n\n- Be kind.\n")
    config = SkillConfig(path=SKILL, files=("*.md",))
    repository = open_repository(run.folder, durable=False)
    store = GitStore(repository, config, skill_name="brief", clock=clock)
    start = store.committed_skill("main")
    kinder = Edit(op=EditOp.REPLACE, target=more, anchor="Be kind.", content="Be kinder.")
    better = start.with_document(SKILL, edited(start.main.data.decode(), SAY_HOW).encode())
    better = better.with_document(more, b"# More\n\n- Be kinder.\n")
    head_of_run = RunHead(
        name="train-1",
        run_id=run.run_id,
        skill="brief",
        onto="main",
        base=head(git),
        target="a" * 16,
        run="b" * 16,
        metric=Metric.HARD,
    )
    run.begin()
    old, new = run.state.current, Mark(score=0.5, step=1, origin="step_0001")
    outcomes = tuple(EditOutcome(edit=e, outcome=Outcome.APPLIED) for e in (SAY_HOW, kinder))
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
    mine = "Mine first.\n\n" + (run.folder / SKILL).read_text()
    commit_file(git, run, SKILL, mine)
    commit_file(git, run, more, "# More of mine\n\n- Be kind.\n")
    tip = head(git, "skillopt/train-1")
    done = adopt(tip, edits_of=None, documents=(SKILL, more))
    assert done.state is AdoptState.REPLAYED_UNMEASURED
    assert (run.folder / SKILL).read_text() == edited(mine, SAY_HOW)
    assert (run.folder / more).read_text() == "# More of mine\n\n- Be kinder.\n"
