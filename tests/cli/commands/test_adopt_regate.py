"""`skillgit adopt --regate`: where the skill has changed, the gate is asked once more."""

from __future__ import annotations

from pathlib import Path

import pytest
from filelock import FileLock

from skillgit.history.trailers import parse_commit

SKILL = Path("skills/brief/SKILL.md")


def edit(repo: Path, git, line: str) -> str:
    """A line of a person's at the head of the skill's rules, committed on main."""
    text = (repo / SKILL).read_text()
    (repo / SKILL).write_text(text.replace("- Write one page.", f"{line}\n- Write one page."))
    git("commit", "--quiet", "-am", "By hand")
    return git("rev-parse", "main").strip()


@pytest.fixture
def edited(trained: Path, git) -> Path:
    edit(trained, git, "- Prefer short paragraphs.")
    return trained


def test_a_changed_text_is_measured_and_the_score_stands_on_what_was_measured(
    skillgit, edited: Path, git
) -> None:
    before = git("rev-parse", "main").strip()
    done = skillgit("adopt", "train-1", "--regate").ok()
    assert "measured on val: 0.0000 -> 1.0000" in done.out
    assert "at most 8 calls" in done.err
    tip = parse_commit(git("log", "-1", "--format=%B", "main"))
    assert tip is not None
    assert (tip.score, tip.state) == (1.0, None)
    assert ": accept 1.0000 (+1.0000, measured again)" in git("log", "-1", "--format=%s", "main")
    assert "where that text has 0.0000" in git("log", "-1", "--format=%b", "main")
    assert "Prefer short paragraphs." in (edited / SKILL).read_text()
    assert git("status", "--porcelain") == ""
    git("fsck", "--strict")
    assert "all is as it says" in skillgit("verify", f"{before}..main").ok().out
    git(*done.out.splitlines()[-1].split()[1:])
    assert git("rev-parse", "main").strip() == before


def test_what_was_measured_is_in_the_ledger_and_not_paid_again(skillgit, edited: Path, git) -> None:
    before = git("rev-parse", "main").strip()
    skillgit("adopt", "train-1", "--regate").ok()
    noted = git("rev-parse", "refs/notes/skillopt")
    for version in ("main", before):
        assert "calls" not in skillgit("eval", version).ok().err
    git("reset", "--quiet", "--hard", before)
    again = skillgit("adopt", "train-1", "--regate").ok()
    assert "measured on val: 0.0000 -> 1.0000" in again.out
    assert "calls" not in again.err
    assert git("rev-parse", "refs/notes/skillopt") == noted


def test_what_is_no_better_there_moves_nothing_and_is_known_the_next_time(
    skillgit, trained: Path, git
) -> None:
    before = edit(trained, git, "- Keep every answer under five words.")
    with (trained / "skillgit.toml").open("a") as config:
        config.write("\n[target.simulation]\nobedience = 1.0\n")
    done = skillgit("adopt", "train-1", "--regate")
    assert done.code == 1
    assert "do not pass the gate there: 0.0000 against 0.0000" in done.err
    assert "Nothing was moved" in done.err
    assert git("rev-parse", "main").strip() == before
    assert git("status", "--porcelain").split() == ["M", "skillgit.toml"]
    again = skillgit("adopt", "train-1", "--regate")
    assert (again.code, "calls" in again.err) == (1, False)
    assert "unmeasured" in skillgit("adopt", "train-1").ok().out


def test_nothing_is_paid_where_the_verdict_holds(skillgit, trained: Path, git) -> None:
    (trained / "other.txt").write_text("x\n")
    git("add", ".")
    git("commit", "--quiet", "-m", "Elsewhere")
    done = skillgit("adopt", "train-1", "--regate").ok()
    assert "so the scores hold" in done.out
    assert "calls" not in done.err


def test_nothing_is_paid_for_a_fast_forward(skillgit, trained: Path, git) -> None:
    assert "calls" not in skillgit("adopt", "train-1", "--regate").ok().err
    assert git("rev-parse", "main") == git("rev-parse", "skillopt/train-1")


def test_json_has_both_scores(skillgit, edited: Path) -> None:
    (adoption,) = skillgit("adopt", "best", "--regate", "--json").ok().objects
    assert adoption["state"] == "regated"
    assert (adoption["found"]["before"], adoption["found"]["score"]) == (0.0, 1.0)
    assert adoption["found"]["metric"] == "hard"


def test_a_merge_is_not_measured(skillgit, edited: Path, git) -> None:
    before = git("rev-parse", "main")
    done = skillgit("adopt", "train-1", "--regate", "--merge")
    assert (done.code, "exclude each other" in done.err) == (2, True)
    assert git("rev-parse", "main") == before


def test_unmeasured_says_how_it_is_measured(skillgit, edited: Path) -> None:
    out = skillgit("adopt", "train-1").ok().out
    assert "skillgit eval main" in out


def test_a_budget_stops_it_before_anything_moves(skillgit, edited: Path, git) -> None:
    config = edited / "skillgit.toml"
    text = config.read_text()
    before = git("rev-parse", "main")
    config.write_text(text + "\n[budget]\ncalls = 5\n")
    assert skillgit("adopt", "train-1", "--regate").code == 5
    assert git("rev-parse", "main") == before
    config.write_text(text + "\n[budget]\ncalls = 4\n")
    assert "measured on val" in skillgit("adopt", "train-1", "--regate").ok().out


def test_nothing_is_paid_while_changes_are_in_the_way(skillgit, edited: Path, git) -> None:
    mine = (edited / SKILL).read_text() + "mine\n"
    (edited / SKILL).write_text(mine)
    done = skillgit("adopt", "train-1", "--regate")
    assert done.code == 1
    assert "not committed: skills/brief/SKILL.md" in done.err
    assert "calls" not in done.err
    assert (edited / SKILL).read_text() == mine
    git("stash", "--quiet")
    assert "measured on val" in skillgit("adopt", "train-1", "--regate").ok().out


def test_without_a_key_nothing_moves(skillgit, edited: Path, git) -> None:
    config = edited / "skillgit.toml"
    text = config.read_text().replace('provider = "simulated"', 'provider = "openai"')
    config.write_text(text.replace('api_key_env = ""', 'api_key_env = "NO_SUCH_KEY"'))
    before = git("rev-parse", "main")
    done = skillgit("adopt", "train-1", "--regate")
    assert done.code == 1
    assert "NO_SUCH_KEY" in done.err
    assert git("rev-parse", "main") == before


def test_two_at_once_are_told(skillgit, edited: Path, git) -> None:
    with FileLock(edited / ".git/skillgit/locks/regate.lock"):
        done = skillgit("adopt", "train-1", "--regate")
    assert done.code == 4
    assert "regate is already being worked on" in done.err
