from __future__ import annotations

from pathlib import Path

import pytest
from filelock import FileLock

SKILL = Path("skills/brief/SKILL.md")
GOOD = '- Add a section headed "## Key Risks".\n- Close with a line "Confidence: high".\n'


@pytest.fixture
def ready(skillgit, skill_repo: Path, git) -> Path:
    """A repository that is set up, with nothing trained yet."""
    skillgit("init", "skills/brief", "--provider", "simulated").ok()
    git("add", ".")
    git("commit", "--quiet", "-m", "Set up skillgit")
    return skill_repo


def refs(git) -> dict[str, str]:
    listed = git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    return dict(line.split() for line in listed)


def of_kind(objects: list[dict], kind: str) -> list[dict]:
    return [found for found in objects if found["kind"] == kind]


def test_two_versions_stand_side_by_side_with_an_interval(skillgit, trained: Path) -> None:
    out = skillgit("eval", "main", "best").ok().out
    lines = out.splitlines()
    assert lines[0] == "4 val tasks, metric hard"
    assert lines[2].split() == ["task", "main", "best"]
    assert "best against main: +1.0000 on 4 tasks scored on both sides" in out
    assert "4 better, 0 worse, 0 equal; sign test p = 0.125" in out
    assert "95% interval -" in out
    assert "main: 4 scores: 4 from the ledger, 0 measured now" in out


def test_what_is_known_costs_nothing_and_moves_nothing(skillgit, trained: Path, git) -> None:
    before = refs(git)
    done = skillgit("eval", "main", "best", "--split", "val").ok()
    assert "calls" not in done.err
    assert refs(git) == before


def test_what_is_not_known_is_measured_once_and_moves_the_notes_alone(
    skillgit, ready: Path, git
) -> None:
    before = refs(git)
    first = skillgit("eval", "HEAD", "--json").ok()
    assert "at most 4 calls" in first.err
    assert of_kind(first.objects, "version")[0]["measured"] == 4
    after = refs(git)
    assert after.pop("refs/notes/skillopt")
    assert after == before
    assert git("status", "--porcelain") == ""
    again = skillgit("eval", "main", "--json").ok()
    assert of_kind(again.objects, "version")[0]["from_ledger"] == 4
    assert again.err == ""


def test_a_training_goes_by_what_was_measured_before_it(skillgit, ready: Path) -> None:
    skillgit("eval", "main").ok()
    done = skillgit("train", "--epochs", "1", "--json").ok()
    assert of_kind(done.objects, "step")[0]["tokens"] == 0


def test_the_work_tree_is_a_version_before_it_is_committed(skillgit, ready: Path, git) -> None:
    (ready / SKILL).write_text((ready / SKILL).read_text() + GOOD)
    done = skillgit("eval", "HEAD", "WORKTREE", "--json").ok()
    head, work = of_kind(done.objects, "version")
    assert (head["score"], work["score"]) == (0.0, 1.0)
    assert work["object"] == git("hash-object", str(SKILL)).strip()
    git("commit", "--quiet", "-am", "Add two rules")
    known = skillgit("eval", "HEAD", ".", "--json").ok()
    assert [v["measured"] for v in of_kind(known.objects, "version")] == [0, 0]


def test_again_adds_a_measurement(skillgit, ready: Path) -> None:
    skillgit("eval", "main").ok()
    done = skillgit("eval", "main", "--again", "--json").ok()
    assert "at most 4 calls" in done.err
    assert [len(task["scores"]["main"]) for task in of_kind(done.objects, "task")] == [2] * 4


def test_a_score_that_is_asked_for_decides_the_exit_code(skillgit, trained: Path) -> None:
    assert skillgit("eval", "best", "--min-score", "1").code == 0
    done = skillgit("eval", "main", "best", "--min-score", "0.5")
    assert done.code == 1
    assert done.err == "error: main scores 0.0000, less than 0.5\n"
    assert "best against main" in done.out


def test_worse_than_another_version_is_said_with_how_sure_it_is(skillgit, trained: Path) -> None:
    assert skillgit("eval", "best", "--no-worse-than", "main").code == 0
    assert skillgit("eval", "best", "--no-worse-than", "best").code == 0
    done = skillgit("eval", "main", "--no-worse-than", "best", "--json")
    assert done.code == 1
    assert done.err.startswith("error: main is 1.0000 below best (4 worse, 0 better; 95% interval ")
    verdict = done.objects[-1]
    assert (verdict["kind"], verdict["ok"], len(verdict["failures"])) == ("verdict", False, 1)


def test_tasks_can_be_chosen_from_any_split(skillgit, trained: Path) -> None:
    done = skillgit("eval", "best", "--tasks", "bm-001,bm-002", "--tasks", "bm-003", "--json").ok()
    tasks = [task["task"] for task in of_kind(done.objects, "task")]
    assert tasks == ["bm-001", "bm-002", "bm-003"]


def test_a_task_that_is_not_there_is_wrong_usage_with_the_nearest(skillgit, trained) -> None:
    done = skillgit("eval", "best", "--tasks", "bm-0001")
    assert done.code == 2
    assert "there is no task 'bm-0001'" in done.err
    assert "Did you mean 'bm-001'?" in done.err


def test_versions_are_named_as_everywhere(skillgit, trained: Path) -> None:
    names = ("train-1", "train-1@1", "train-1@0", "train-1@best", "best", "HEAD", "skillopt/best")
    done = skillgit("eval", *names, "--json").ok()
    assert [v["rev"] for v in of_kind(done.objects, "version")] == list(names)
    assert len(of_kind(done.objects, "comparison")) == len(names) - 1
    assert skillgit("eval", "train-9").code == 1
    assert skillgit("eval").code == 2


def test_the_budget_stops_it_before_the_first_call_too_many(skillgit, ready: Path) -> None:
    with (ready / "skillgit.toml").open("a") as file:
        file.write("\n[budget]\ncalls = 2\n")
    done = skillgit("eval", "main")
    assert done.code == 5
    assert "the budget of 2 calls is used up" in done.err
    assert skillgit("eval", "main").code == 0, "two more calls are all that is missing"


def test_nothing_is_sent_before_it_is_trusted(skillgit, ready: Path) -> None:
    text = (
        (ready / "skillgit.toml")
        .read_text()
        .replace('provider = "simulated"', 'base_url = "http://127.0.0.1:1/v1"')
    )
    (ready / "skillgit.toml").write_text(text.replace('api_key_env = ""', 'api_key_env = "K_EY"'))
    done = skillgit("eval", "main", K_EY="secret-value")
    assert done.code == 1
    assert "skillgit trust" in done.err
    assert "secret-value" not in done.err


def test_a_server_that_is_not_there_blocks_and_writes_nothing(skillgit, ready: Path, git) -> None:
    text = (ready / "skillgit.toml").read_text()
    local = 'provider = "openai"\nbase_url = "http://127.0.0.1:1/v1"\nretries = 0'
    (ready / "skillgit.toml").write_text(text.replace('provider = "simulated"', local, 1))
    before = refs(git)
    assert skillgit("eval", "main").code == 3
    assert refs(git) == before


def test_a_bare_repository_has_no_work_tree_to_score(
    skillgit, ready: Path, git, tmp_path: Path
) -> None:
    git("clone", "--quiet", "--bare", str(ready), str(tmp_path / "bare.git"))
    git("config", "user.name", "Ada", cwd=tmp_path / "bare.git")
    git("config", "user.email", "ada@example.org", cwd=tmp_path / "bare.git")
    assert skillgit("eval", "main", cwd=tmp_path / "bare.git").code == 0
    done = skillgit("eval", "WORKTREE", cwd=tmp_path / "bare.git")
    assert done.code == 1
    assert "no work tree" in done.err


def test_two_at_once_are_told_of_each_other(skillgit, ready: Path) -> None:
    locks = ready / ".git" / "skillgit" / "locks"
    locks.mkdir(parents=True)
    with FileLock(locks / "eval.lock"):
        done = skillgit("eval", "main")
    assert done.code == 4
    assert "eval is already being worked on" in done.err


def test_tasks_of_other_splits_do_not_get_among_those_of_val(skillgit, trained: Path) -> None:
    (before,) = skillgit("show", "train-1@1", "--json").ok().objects
    for split in ("train", "test"):
        skillgit("eval", "train-1@1", "train-1@0", "--split", split).ok()
    (after,) = skillgit("show", "train-1@1", "--json").ok().objects
    assert after["tasks"] == before["tasks"]
