from __future__ import annotations

from pathlib import Path


def an_object(skillgit, action: str) -> dict:
    return next(o for o in skillgit("log", "--json").ok().objects if o["action"] == action)


def test_each_hunk_is_shown_beside_the_edit_that_made_it(skillgit, trained: Path) -> None:
    out = skillgit("show", "train-1@1").ok().out
    assert out.startswith("train-1 step 1: accept_new_best  (")
    assert "\nskills/brief/SKILL.md\n  @@ " in out
    lines = out.splitlines()
    added = next(i for i, line in enumerate(lines) if line.startswith("  +") and "Risks" in line)
    assert lines[added + 1].startswith("      ^ add, from ")
    assert "why: " in lines[added + 2]
    assert "bm-" in out[out.index("Scores on val") :]
    assert "Evidence: " in out
    assert "Cost: " in out


def test_json_holds_hunks_edits_and_scores(skillgit, trained: Path) -> None:
    (found,) = skillgit("show", "train-1@1", "--json").ok().objects
    assert (found["version"], found["kind"], found["step"]) == (1, "version", 1)
    assert found["hunks"][0]["edits"][0]["edit"]["op"] == "add"
    assert all(score["after"] == [1.0, 1.0] for score in found["tasks"].values())
    assert len(found["tasks"]) == 4


def test_a_rejected_candidate_and_its_revert_are_two_versions(skillgit, trained: Path) -> None:
    step = an_object(skillgit, "reject")["step"]
    (tried,) = skillgit("show", f"train-1@{step}", "--json").ok().objects
    (after,) = skillgit("show", f"train-1@{step}+", "--json").ok().objects
    assert (tried["action"], after["action"]) == ("reject", "revert")
    assert tried["commit"] != after["commit"]


def test_the_end_shows_the_test_scores(skillgit, trained: Path) -> None:
    commit = an_object(skillgit, "end")["commit"]
    assert "Scores on 4 test tasks" in skillgit("show", commit).ok().out


def test_a_proposals_commit_is_shown_like_the_step_it_is_a_copy_of(skillgit, trained) -> None:
    (copied,) = skillgit("show", "skillopt/train-1", "--json").ok().objects
    (step,) = skillgit("show", f"train-1@{copied['step']}", "--json").ok().objects
    assert copied["commit"] != step["commit"]
    assert copied["hunks"] == step["hunks"]
    assert copied["tasks"] == step["tasks"]


def test_a_commit_that_no_run_made_is_gits_to_show(skillgit, trained: Path) -> None:
    done = skillgit("show", "main")
    assert done.code == 1
    assert "git show main" in done.err


def test_what_is_not_there_is_said_to_be_not_there(skillgit, trained: Path) -> None:
    for version in ("nonsense", "train-1@99", "train-9@1", "--output=x"):
        assert skillgit("show", "--", version).code == 1


def test_an_epochs_end_shows_what_the_look_back_found(skillgit, trained: Path) -> None:
    out = skillgit("show", "train-1@e2").ok().out
    assert "epoch" in out.splitlines()[0]
    assert "Guidance: " in out
    assert "The optimizer's memory: " in out
    (shown,) = skillgit("show", "train-1@e2", "--json").ok().objects
    assert {note["kind"] for note in shown["epoch_notes"]} >= {"slow_update", "meta_skill"}
