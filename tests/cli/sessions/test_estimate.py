from __future__ import annotations

from pathlib import Path

import pytest

PRICES = """
[budget.prices]
target = { prompt = 0.05, completion = 0.4 }
optimizer = { prompt = 1.25, completion = 10.0 }
"""


def state(repo: Path) -> dict[str, tuple[int, bytes]]:
    """Every file there is, the private folder's included, with its time and its bytes."""
    return {
        str(f.relative_to(repo)): (f.stat().st_mtime_ns, f.read_bytes())
        for f in sorted(repo.rglob("*"))
        if f.is_file()
    }


def set_up(skillgit, repo: Path, git, more: str = "") -> None:
    skillgit("init", "skills/brief", "--provider", "simulated").ok()
    with (repo / "skillgit.toml").open("a") as config:
        config.write(more)
    git("add", ".")
    git("commit", "--quiet", "-m", "Set up skillgit")


def test_an_estimate_writes_nothing(skillgit, skill_repo: Path, git) -> None:
    set_up(skillgit, skill_repo, git)
    before = state(skill_repo)
    done = skillgit("train", "--estimate").ok()
    assert state(skill_repo) == before
    assert "at most" in done.out
    assert "likely" in done.out
    assert "is a guess" in done.out
    assert "gate strict on 4 val tasks" in done.out


def test_after_a_run_has_begun_it_knows_how_long_calls_are(skillgit, skill_repo: Path, git) -> None:
    set_up(skillgit, skill_repo, git, PRICES + "[budget]\ncalls = 12\n")
    assert skillgit("train").code == 5
    before = state(skill_repo)
    (found,) = skillgit("train", "--estimate", "--json").ok().objects
    assert state(skill_repo) == before
    assert found["spent_calls"] == 12
    most, likely = found["estimate"]["most"], found["estimate"]["likely"]
    assert 0 < likely["usd"] <= most["usd"]
    assert all(likely["calls"][role] <= most["calls"][role] for role in likely["calls"])


@pytest.mark.parametrize(
    ("more", "extra"),
    [
        ("[lr]\nmode = 'autonomous'\n", 1),
        ("[reflect]\nskill_aware = true\n", 1),
        ("[train]\nupdate_mode = 'rewrite_from_suggestions'\n", 1),
    ],
)
def test_what_a_mode_asks_more_is_in_both_lines(
    skillgit, skill_repo: Path, git, more: str, extra: int
) -> None:
    def optimizer_calls() -> tuple[int, list[int]]:
        (found,) = skillgit("train", "--estimate", "--json").ok().objects
        both = [found["estimate"][line]["calls"]["optimizer"] for line in ("most", "likely")]
        return found["steps"], both

    set_up(skillgit, skill_repo, git)
    steps, plain = optimizer_calls()
    config = skill_repo / "skillgit.toml"
    table, _, setting = more.partition("\n")
    text = config.read_text()
    config.write_text(text.replace(table, more) if table in text else f"{text}\n{more}")
    assert optimizer_calls()[1] == [calls + steps * extra for calls in plain], setting


def test_without_a_key_it_can_be_had(skillgit, skill_repo: Path, git) -> None:
    skillgit("init", "skills/brief", "--base-url", "http://example.invalid/v1").ok()
    git("add", ".")
    git("commit", "--quiet", "-m", "Set up skillgit")
    assert "at most" in skillgit("train", "--estimate").ok().out


def test_minutes_are_a_budget_of_one_command(skillgit, skill_repo: Path, git) -> None:
    set_up(skillgit, skill_repo, git, "[budget]\nminutes = 0.00001\n")
    done = skillgit("train")
    assert done.code == 5
    assert "minutes is used up" in done.err
    assert "stops it after" in done.err


def test_money_needs_prices(skillgit, skill_repo: Path, git) -> None:
    set_up(skillgit, skill_repo, git, "[budget]\nusd = 1.0\n")
    done = skillgit("train")
    assert done.code == 1
    assert "prices.target" in done.err


def test_init_writes_the_recommended_gate_for_a_target_that_samples(
    skillgit, skill_repo: Path
) -> None:
    skillgit("init", "skills/brief", "--model", "x").ok()
    text = (skill_repo / "skillgit.toml").read_text()
    assert "[gate]" in text
    assert "refresh_every = 5" in text
