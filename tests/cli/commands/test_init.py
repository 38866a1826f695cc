from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from skillgit.config import parse_config

TASK = '{"task_id": "%s", "task": "%s", "judge": {"kind": "rule", "checks": [%s]}}\n'
CHECK = '{"op": "contains", "arg": "## Key Risks"}'


def init(skillgit, *words: str, **environ: str):
    return skillgit("init", "skills/brief/SKILL.md", *words, **environ)


def test_init_writes_one_file_and_commits_nothing(skillgit, skill_repo: Path, git) -> None:
    head, status = git("rev-parse", "HEAD"), "?? skillgit.toml\n"
    done = init(skillgit, "--tasks", "tasks/brief.jsonl").ok()
    assert (git("rev-parse", "HEAD"), git("status", "--porcelain")) == (head, status)
    config = parse_config((skill_repo / "skillgit.toml").read_text())
    assert (config.repo.onto, config.skill.path) == ("main", "skills/brief/SKILL.md")
    assert config.tasks.path == "tasks/brief.jsonl"
    assert done.err == ""


def test_init_says_what_to_type_next(skillgit, skill_repo: Path) -> None:
    out = init(skillgit).ok().out
    assert out.endswith(
        "Next:\n"
        "  git add skills/brief/SKILL.md tasks/brief.jsonl skillgit.toml\n"
        "  git commit -m 'Set up skillgit'\n"
        "  export OPENAI_API_KEY=...\n"
        "  skillgit train\n"
    )


def test_what_is_done_already_is_not_said_again(skillgit, skill_repo: Path, git) -> None:
    out = init(skillgit, OPENAI_API_KEY="sk-set").ok().out
    assert "export" not in out
    git("config", "--unset", "user.name")
    (skill_repo / "skillgit.toml").unlink()
    assert 'git config user.name "..."' in init(skillgit).ok().out


def test_the_commands_fit_the_folder_they_are_typed_in(skillgit, skill_repo: Path) -> None:
    out = skillgit("init", "SKILL.md", cwd=skill_repo / "skills" / "brief").ok().out
    assert "git add SKILL.md ../../tasks/brief.jsonl ../../skillgit.toml" in out


def test_a_folder_means_the_skill_in_it(skillgit, skill_repo: Path) -> None:
    skillgit("init", "skills/brief").ok()
    assert 'path = "skills/brief/SKILL.md"' in (skill_repo / "skillgit.toml").read_text()


def test_init_never_overwrites(skillgit, skill_repo: Path) -> None:
    (skill_repo / "skillgit.toml").write_text("mine\n")
    done = init(skillgit)
    assert done.code == 1
    assert "overwrites nothing" in done.err
    assert (skill_repo / "skillgit.toml").read_text() == "mine\n"


def test_onto_is_the_branch_that_head_is_on(skillgit, skill_repo: Path, git) -> None:
    git("branch", "-m", "trunk")
    init(skillgit).ok()
    assert 'onto = "trunk"' in (skill_repo / "skillgit.toml").read_text()


def test_a_detached_head_asks_for_the_branch(skillgit, skill_repo: Path, git) -> None:
    git("checkout", "--quiet", "--detach")
    done = init(skillgit)
    assert done.code == 2
    assert "hint: Name the branch: --onto main" in done.err
    init(skillgit, "--onto", "main").ok()


def test_an_unborn_branch_is_a_branch(skillgit, repo: Path) -> None:
    (repo / "SKILL.md").write_text("# Skill\n")
    (repo / "tasks.jsonl").write_text(
        "".join(TASK % (i, "about " + w, CHECK) for i, w in enumerate(["owls", "cats", "dogs"]))
    )
    out = skillgit("init", "SKILL.md").ok().out
    assert "git add SKILL.md tasks.jsonl skillgit.toml" in out


@pytest.mark.parametrize(("n", "steps"), [(15, 4), (4, 2), (9, 5)])
def test_an_epoch_has_four_steps_where_tasks_allow_it(
    skillgit, skill_repo: Path, git, n: int, steps: int
) -> None:
    lines = (skill_repo / "tasks" / "brief.jsonl").read_text().splitlines(keepends=True)
    (skill_repo / "tasks" / "brief.jsonl").write_text("".join(lines[:n]))
    assert f"4 epochs of {steps} steps" in init(skillgit).ok().out


def test_the_simulated_model_needs_no_key(skillgit, skill_repo: Path) -> None:
    out = init(skillgit, "--provider", "simulated").ok().out
    config = parse_config((skill_repo / "skillgit.toml").read_text())
    assert config.target.provider == "simulated"
    assert "export" not in out


def test_a_server_on_this_machine_is_sent_no_key_unless_one_is_named(
    skillgit, skill_repo: Path
) -> None:
    init(skillgit, "--base-url", "http://127.0.0.1:8080/v1", "--model", "qwen").ok()
    config = parse_config((skill_repo / "skillgit.toml").read_text())
    assert (config.target.api_key_env, config.optimizer.model) == ("", "qwen")


def test_init_trusts_what_it_wrote_itself(skillgit, skill_repo: Path) -> None:
    init(skillgit, "--base-url", "https://models.example.org/v1", "--api-key-env", "MY_KEY").ok()
    assert "asks for nothing" in skillgit("trust").ok().out
    assert "send the key in MY_KEY" in skillgit("trust", "--list").ok().out


@pytest.mark.parametrize(
    ("skill", "message"),
    [
        ("---\nname: [\n---\n# A\n", "frontmatter"),
        ("# A\n<!-- SLOW_UPDATE_START -->\nx\n", "line 2"),
        ("# A\n\udc80", "UTF-8"),
    ],
)
def test_a_skill_that_cannot_be_edited_is_refused(
    skillgit, skill_repo: Path, skill: str, message: str
) -> None:
    (skill_repo / "skills/brief/SKILL.md").write_bytes(os.fsencode(skill))
    done = init(skillgit)
    assert done.code == 1
    assert message in done.err
    assert "skills/brief/SKILL.md" in done.err
    assert not (skill_repo / "skillgit.toml").exists()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{broken\n", "tasks/brief.jsonl:16: not valid JSON"),
        (TASK % ("bm-001", "something else", CHECK), "'bm-001' stands 2 times"),
        (TASK % ("x", "y", '{"op": "regex", "arg": "("}'), "x"),
        (TASK % ("x", "y", '{"op": "containz", "arg": "("}'), "x"),
    ],
)
def test_tasks_that_cannot_be_used_are_refused(
    skillgit, skill_repo: Path, line: str, message: str
) -> None:
    with (skill_repo / "tasks" / "brief.jsonl").open("a") as file:
        file.write(line)
    done = init(skillgit, "--tasks", "tasks/brief.jsonl")
    assert done.code == 1
    assert message in done.err
    assert not (skill_repo / "skillgit.toml").exists()


def test_paths_that_are_not_there_are_named(skillgit, skill_repo: Path, tmp_path: Path) -> None:
    assert "there is no skill at nowhere.md" in skillgit("init", "nowhere.md").err
    assert "nowhere.jsonl" in init(skillgit, "--tasks", "nowhere.jsonl").err
    (tmp_path / "SKILL.md").write_text("# Outside\n")
    done = skillgit("init", "../SKILL.md")
    assert done.code == 1
    assert "not in the repository" in done.err


def test_no_task_file_shows_what_a_task_looks_like(skillgit, skill_repo: Path) -> None:
    (skill_repo / "tasks" / "brief.jsonl").unlink()
    done = init(skillgit)
    assert done.code == 1
    assert '"task_id": "t1"' in done.err
    assert "skillgit init skills/brief/SKILL.md --tasks tasks/brief-writer.jsonl" in done.err


def test_several_task_files_are_a_question(skillgit, skill_repo: Path) -> None:
    text = (skill_repo / "tasks" / "brief.jsonl").read_text()
    (skill_repo / "tasks" / "other.jsonl").write_text(text)
    done = init(skillgit)
    assert done.code == 1
    assert "--tasks tasks/other.jsonl" in done.err


def test_the_task_file_of_the_skills_name_is_the_likely_one(skillgit, skill_repo: Path) -> None:
    text = (skill_repo / "tasks" / "brief.jsonl").read_text()
    (skill_repo / "tasks" / "brief-writer.jsonl").write_text(text)
    assert "in tasks/brief-writer.jsonl" in init(skillgit).ok().out


def test_other_json_lines_are_no_tasks(skillgit, skill_repo: Path) -> None:
    (skill_repo / "skills" / "log.jsonl").write_text('{"level": "info"}\n')
    assert "in tasks/brief.jsonl" in init(skillgit).ok().out


# ── sharing ──────────────────────────────────────────────────────────────────────────────────


def test_a_fetch_brings_notes_along_until_one_line_says_not_to(
    skillgit, skill_repo: Path, git, tmp_path: Path
) -> None:
    git("remote", "add", "origin", "/srv/git/skills.git")
    before = git("config", "--list", "--includes", "--local")
    out = init(skillgit).ok().out
    assert "Included .git/skillgit/sharing.gitconfig" in out
    assert "refs/notes/remotes/origin/" in git("config", "--get-all", "remote.origin.fetch")
    (line,) = [line for line in out.splitlines() if "--unset-all" in line]
    git(*shlex.split(line.partition("git ")[2]))
    assert git("config", "--list", "--includes", "--local") == before


def test_ci_writes_a_workflow_beside_the_config(skillgit, skill_repo: Path) -> None:
    out = init(skillgit, "--ci", "github").ok().out
    assert "Wrote .github/workflows/skillgit.yml" in out
    assert (skill_repo / "skillgit.toml").exists()


def test_ci_alone_adds_the_workflow_to_what_is_set_up(skillgit, skill_repo: Path) -> None:
    init(skillgit).ok()
    out = skillgit("init", "--ci", "github").ok().out
    assert "git add .github/workflows/skillgit.yml" in out
    done = skillgit("init", "--ci", "github")
    assert done.code == 1
    assert "overwrites nothing" in done.err


def test_without_a_skill_there_has_to_be_something_to_do(skillgit, skill_repo: Path) -> None:
    assert skillgit("init").code == 2
    assert skillgit("init", "--ci", "github").code == 1


# ── for nights alone ─────────────────────────────────────────────────────────────────────────


def test_for_nights_no_tasks_are_needed(skillgit, skill_repo: Path, git) -> None:
    (skill_repo / "tasks/brief.jsonl").unlink()
    refused = skillgit("init", "skills/brief")
    assert refused.code == 1
    assert "skillgit init skills/brief/SKILL.md --nights" in refused.err
    done = skillgit("init", "skills/brief", "--nights", "--provider", "simulated").ok()
    assert "nights     from your sessions" in done.out
    assert "skillgit sleep --schedule" in done.out
    text = (skill_repo / "skillgit.toml").read_text()
    assert "[sleep]" in text
    assert "[train]" not in text
    git("add", "skillgit.toml", "skills/brief/SKILL.md")
    git("commit", "--quiet", "-m", "Set up skillgit")
    assert "no task to learn from" in skillgit("sleep").ok().out
    assert skillgit("status").ok().out.splitlines()[-2:] == [
        "  skillgit sleep",
        "  skillgit sleep --schedule",
    ]
    assert "nights make tasks of their own" in skillgit("doctor").ok().out


def test_a_memory_file_can_be_the_skill_of_nights(skillgit, repo: Path) -> None:
    (repo / "CLAUDE.md").write_text("# How we work\n\nBe brief.\n")
    done = skillgit("init", "CLAUDE.md", "--nights", "--provider", "simulated").ok()
    assert "in CLAUDE.md" in done.out


def test_tasks_may_be_named_for_nights_too(skillgit, skill_repo: Path) -> None:
    words = ("init", "skills/brief", "--nights", "--tasks", "later/tasks.jsonl")
    skillgit(*words, "--provider", "simulated").ok()
    assert 'path = "later/tasks.jsonl"' in (skill_repo / "skillgit.toml").read_text()
