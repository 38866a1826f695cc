from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from skillgit.cli.app.clock import SystemClock
from skillgit.config import SimulationConfig
from skillgit.models.simulated.server import ServerSettings, SimulatedServer, running

KEY = "sk-sim-0123456789"
INIT = ("init", "skills/brief", "--model", "sim-target", "--optimizer-model", "sim-optimizer")


@contextmanager
def served(*, latency_ms: float = 0, key: str | None = KEY) -> Iterator[SimulatedServer]:
    settings = ServerSettings(simulation=SimulationConfig(latency_ms=latency_ms), key=key)
    with running(settings, SystemClock()) as server:
        yield server


def set_up(skillgit, git, url: str, *words: str) -> None:
    skillgit(*INIT, "--base-url", url, *words).ok()
    git("add", ".")
    git("commit", "--quiet", "-m", "Set up skillgit")


def edit_config(repo: Path, git, old: str, new: str) -> None:
    text = (repo / "skillgit.toml").read_text()
    assert old in text
    (repo / "skillgit.toml").write_text(text.replace(old, new))
    git("commit", "--quiet", "-am", "Change the config")


def all_bytes(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file())


def test_a_training_ends_with_the_commands_to_type_next(skillgit, trained: Path) -> None:
    done = skillgit("train", "--epochs", "2").ok()
    assert done.out.startswith("train-1: 0.0000 -> ")
    assert done.out.endswith(
        "Next:\n"
        "  git log skillopt/best\n"
        "  git diff main...skillopt/train-1\n"
        "  skillgit adopt train-1\n"
    )


def test_a_run_that_has_ended_is_not_run_again(skillgit, trained: Path, git) -> None:
    before = git("for-each-ref")
    done = skillgit("train", "--epochs", "2").ok()
    assert "train-1 has ended" in done.err
    assert "nothing was spent" in done.err
    assert git("for-each-ref") == before


def test_training_touches_neither_index_nor_work_tree(skillgit, skill_repo: Path, git) -> None:
    skillgit("init", "skills/brief", "--provider", "simulated").ok()
    git("add", ".")
    git("commit", "--quiet", "-m", "Set up skillgit")
    index, head = (skill_repo / ".git/index").read_bytes(), git("rev-parse", "HEAD")
    mtimes = {f: f.stat().st_mtime_ns for f in skill_repo.rglob("*") if ".git" not in f.parts}
    done = skillgit("train", "--epochs", "1").ok()
    assert (skill_repo / ".git/index").read_bytes() == index
    assert (git("rev-parse", "HEAD"), git("status", "--porcelain")) == (head, "")
    assert {
        f: f.stat().st_mtime_ns for f in skill_repo.rglob("*") if ".git" not in f.parts
    } == mtimes
    assert "at most" in done.err.splitlines()[0]
    assert "step 0/4: baseline 0.0000" in done.err.splitlines()
    git("fsck", "--strict")


def test_a_new_run_names_both_ways_to_go_on_from_the_best(skillgit, trained: Path) -> None:
    done = skillgit("train", "--new", "--epochs", "1").ok()
    assert "skillgit adopt best" in done.err
    assert "skillgit train --from best" in done.err
    assert done.out.startswith("train-2: ")


def test_a_run_from_a_version_begins_with_its_score(skillgit, trained: Path) -> None:
    objects = skillgit("train", "--from", "best", "--epochs", "1", "--json", "--force").ok().objects
    assert objects[0]["score"] == 1.0


def test_json_is_an_object_a_line_and_ends_with_the_result(skillgit, trained: Path) -> None:
    objects = skillgit("train", "--new", "--epochs", "1", "--json").ok().objects
    assert {o["version"] for o in objects} == {1}
    assert [o["kind"] for o in objects[:-1]] == ["step"] * (len(objects) - 1)
    assert objects[-1]["kind"] == "result"
    assert objects[-1]["proposal"] == "skillopt/train-2"


def test_a_wrong_key_blocks_and_shows_itself_nowhere(skillgit, skill_repo: Path, git) -> None:
    with served() as server:
        set_up(skillgit, git, server.url, "--api-key-env", "SIM_KEY")
        done = skillgit("train", SIM_KEY="sk-wrong-0123456789")
    assert done.code == 3
    assert "401" in done.err
    assert "SIM_KEY" in done.err
    assert "sk-wrong-0123456789" not in done.err
    assert b"sk-wrong-0123456789" not in all_bytes(skill_repo)
    assert git("for-each-ref", "refs/heads/skillopt") == ""


def test_a_key_stands_in_no_file_after_a_training(skillgit, skill_repo: Path, git) -> None:
    with served() as server:
        set_up(skillgit, git, server.url, "--api-key-env", "SIM_KEY")
        done = skillgit("train", "--epochs", "1", SIM_KEY=KEY).ok()
    assert KEY not in done.out + done.err
    assert KEY.encode() not in all_bytes(skill_repo)
    assert KEY not in git("log", "--all", "-p")


def test_a_server_that_is_not_there_blocks(skillgit, skill_repo: Path, git) -> None:
    with served() as server:
        url = server.url
    set_up(skillgit, git, url)
    edit_config(skill_repo, git, "[optimizer]", "retries = 0\n[optimizer]")
    done = skillgit("train")
    assert done.code == 3
    assert url in done.err
    assert git("for-each-ref", "refs/heads/skillopt") == ""


def test_no_key_is_sent_to_an_address_that_nobody_trusted(skillgit, skill_repo: Path, git) -> None:
    with served() as mine, served() as theirs:
        set_up(skillgit, git, mine.url, "--api-key-env", "SIM_KEY")
        edit_config(skill_repo, git, mine.url, theirs.url)
        done = skillgit("train", SIM_KEY=KEY)
        assert theirs.stats.report()["requests"] == 0
        assert done.code == 1
        assert theirs.url in done.err
        assert "hint: skillgit trust" in done.err
        skillgit("trust", "--yes").ok()
        skillgit("train", "--epochs", "1", SIM_KEY=KEY).ok()


def test_the_users_own_program_may_print_the_key(skillgit, skill_repo: Path, git) -> None:
    git("config", "skillgit.apiKeyCommand", f"printf '%s\\n' {KEY}")
    with served() as server:
        set_up(skillgit, git, server.url, "--api-key-env", "SIM_KEY")
        done = skillgit("train", "--epochs", "1").ok()
    assert KEY not in done.out + done.err


@pytest.mark.parametrize("program", ["false", "true", "/no/such/program", "'unbalanced"])
def test_a_program_that_prints_no_key_is_named(skillgit, skill_repo: Path, git, program) -> None:
    git("config", "skillgit.apiKeyCommand", program)
    set_up(skillgit, git, "http://127.0.0.1:9/v1", "--api-key-env", "SIM_KEY")
    done = skillgit("train")
    assert done.code == 1
    assert "skillgit.apiKeyCommand" in done.err


def test_without_a_key_it_says_which_variable(skillgit, skill_repo: Path, git) -> None:
    skillgit("init", "skills/brief").ok()
    git("add", ".")
    git("commit", "--quiet", "-m", "Set up skillgit")
    done = skillgit("train")
    assert done.code == 1
    assert "OPENAI_API_KEY is not set" in done.err
    assert "hint: export OPENAI_API_KEY=..." in done.err


def test_a_budget_stops_it_and_the_next_start_goes_on(skillgit, skill_repo: Path, git) -> None:
    skillgit("init", "skills/brief", "--provider", "simulated").ok()
    with (skill_repo / "skillgit.toml").open("a") as config:
        config.write("[budget]\ncalls = 12\n")
    git("add", ".")
    git("commit", "--quiet", "-m", "Set up skillgit")
    done = skillgit("train", "--epochs", "1")
    assert done.code == 5
    assert "stops it at 12 calls" in done.err
    steps = len(skillgit("log", "--json").ok().objects)
    edit_config(skill_repo, git, "calls = 12", "calls = 2000")
    git("worktree", "add", "--quiet", "../elsewhere", "skillopt/run/train-1")
    held = skillgit("train", "--epochs", "1")
    assert (held.code, "is checked out in" in held.err) == (1, True)
    git("worktree", "remove", "../elsewhere")
    resumed = skillgit("train", "--epochs", "1").ok()
    assert f"train-1 goes on after step {steps - 1}" in resumed.err


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("batch_size", "batchsize", "did you mean 'batch_size'?"),
        ("[train]", "[train", "not valid TOML"),
        ("epochs = 4", "epochs = 0", "train.epochs"),
        ('path = "skills/brief/SKILL.md"', 'path = "skills/gone/SKILL.md"', "skills/gone/SKILL.md"),
        ('path = "tasks/brief.jsonl"', 'path = "tasks/gone.jsonl"', "tasks/gone.jsonl"),
        ('onto = "main"', 'onto = "develop"', "develop"),
    ],
)
def test_a_config_that_cannot_be_used_is_said_in_a_sentence(
    skillgit, trained: Path, git, old: str, new: str, message: str
) -> None:
    edit_config(trained, git, old, new)
    done = skillgit("train")
    assert done.code == 1
    assert message in done.err
    assert done.err.startswith("error: ")


def test_without_a_config_it_names_the_command_that_writes_one(skillgit, skill_repo: Path) -> None:
    done = skillgit("train")
    assert done.code == 1
    assert "hint: skillgit init SKILL --tasks FILE writes one." in done.err


def test_a_branch_in_the_way_is_named_with_its_rename(skillgit, skill_repo: Path, git) -> None:
    skillgit("init", "skills/brief", "--provider", "simulated").ok()
    git("branch", "skillopt")
    done = skillgit("train")
    assert done.code == 1
    assert "hint: git branch -m skillopt old-skillopt" in done.err


def test_without_an_identity_nothing_begins(skillgit, skill_repo: Path, git) -> None:
    skillgit("init", "skills/brief", "--provider", "simulated").ok()
    git("config", "--unset", "user.name")
    done = skillgit("train")
    assert done.code == 1
    assert "hint: git config user.name" in done.err


def test_a_dirty_skill_stays_as_it_is(skillgit, trained: Path) -> None:
    skill = trained / "skills/brief/SKILL.md"
    skill.write_text("# Something else\n")
    done = skillgit("train", "--new", "--epochs", "1").ok()
    assert "not committed" in done.err
    assert skill.read_text() == "# Something else\n"


def test_where_every_task_passes_it_asks_for_force(skillgit, trained: Path) -> None:
    done = skillgit("train", "--from", "best", "--epochs", "1")
    assert done.code == 1
    assert "--force" in done.err


def test_a_clock_that_is_no_time_is_wrong_usage(skillgit, trained: Path) -> None:
    done = skillgit("train", SKILLGIT_CLOCK="noon")
    assert done.code == 2
    assert "SKILLGIT_CLOCK" in done.err


def test_an_interrupted_training_goes_on_and_pays_nothing_twice(
    skillgit, skill_repo: Path, git
) -> None:
    words = [sys.executable, "-m", "skillgit", "train", "--epochs", "1", "--workers", "2"]
    with served(latency_ms=250, key=None) as server:
        set_up(skillgit, git, server.url)
        first = subprocess.Popen(words, cwd=skill_repo, stderr=subprocess.PIPE, text=True)
        with first:
            assert first.stderr is not None
            assert any(line.startswith("step 0/4") for line in first.stderr)
            second = skillgit("train", "--epochs", "1")
            first.send_signal(signal.SIGINT)
            told = first.stderr.read()
        assert second.code == 4
        assert "already being worked on" in second.err
        assert first.returncode == 130
        assert "hint: skillgit train --epochs 1 --workers 2 goes on from there." in told
        skillgit("train", "--epochs", "1").ok()
        stats = server.stats.report()
    # What was in flight is waited for; at most the interrupted call itself is asked again.
    assert stats["repeated"] <= 2


def test_a_training_that_hears_nothing_else_is_quiet_in_a_pipe(
    skill_repo: Path, skillgit, git
) -> None:
    skillgit("init", "skills/brief", "--provider", "simulated").ok()
    git("add", ".")
    git("commit", "--quiet", "-m", "Set up skillgit")
    done = skillgit("train", "--epochs", "1").ok()
    assert "\x1b" not in done.err + done.out
    starts = ("step ", "train-1 ", "gate ", "warning: ")
    assert all(line.startswith(starts) for line in done.err.splitlines())
