from __future__ import annotations

import os
import pty
import sys
from pathlib import Path

import pytest

from skillgit.cli.app.worktree import worktree_at
from skillgit.cli.hooks.installing import install
from skillgit.cli.hooks.place import place_of

from .conftest import CONFIG, REGION, SKILL, write

MAIN = "skills/brief/SKILL.md"


@pytest.fixture
def hooked(project: Path) -> Path:
    """The repository with our hooks."""
    install(place_of(worktree_at(project, os.environ)))
    return project


def test_python_is_not_started_when_no_skill_is_staged(hooked: Path, tried, calls) -> None:
    write(hooked, "README.md", "# Read me\n")
    write(hooked, "tasks/brief.jsonl", "{}\n")
    write(hooked, MAIN, SKILL + "- Not staged.\n")
    tried("add", "README.md", "tasks")
    assert tried("commit", "-qm", "x").code == 0
    assert calls() == []


@pytest.mark.parametrize("path", [MAIN, "skills/brief/references/a.md", "CLAUDE.md", "AGENTS.md"])
def test_it_is_started_for_a_document(hooked: Path, tried, calls, git, path: str) -> None:
    write(hooked, path, SKILL + "- More.\n")
    git("add", ".")
    assert tried("commit", "-qm", "x").code == 0
    assert calls() == ["hook pre-commit"]


@pytest.mark.parametrize(
    ("config", "started"),
    [
        (CONFIG.replace('path = "skills', "path='skills").replace('SKILL.md"', "SKILL.md'"), False),
        (CONFIG.replace('path = "skills', '  path   =   "./skills'), False),
        ("# path = 1\n" + CONFIG, False),
        (CONFIG.replace("[skill]", "[[skill]]"), False),
        (CONFIG.replace('"skills/brief', '"skills\\u002fbrief'), True),
        (CONFIG.replace('[skill]\npath = "', 'skill.path = "').replace("files", "#"), True),
        (CONFIG.replace("path = ", '"path" = '), True),
        (CONFIG.replace("skills/brief", "skills/gone"), True),
        ("", True),
        ("not toml", True),
    ],
)
def test_what_the_shell_cannot_be_sure_of_is_left_to_python(
    hooked: Path, tried, calls, git, config: str, started: bool
) -> None:
    write(hooked, "skillgit.toml", config)
    write(hooked, "README.md", "# Read me\n")
    git("add", "README.md")
    assert tried("commit", "-qm", "x").code == 0
    assert calls() == (["hook pre-commit"] if started else [])


def test_a_skill_at_the_root_is_found(hooked: Path, tried, calls, git) -> None:
    write(hooked, "SKILL.md", SKILL)
    write(hooked, "skillgit.toml", CONFIG.replace(MAIN, "SKILL.md").replace("files", "#"))
    git("add", ".")
    git("commit", "-qm", "x")
    calls()
    write(hooked, "README.md", "# Read me\n")
    git("add", ".")
    assert tried("commit", "-qm", "x").code == 0
    assert calls() == []
    write(hooked, "SKILL.md", "# nothing\n")
    assert tried("commit", "-qam", "x").code == 1


def test_a_linked_skill_is_followed(hooked: Path, tried, git) -> None:
    write(hooked, "shared/SKILL.md", SKILL)
    (hooked / "skills/brief/SKILL.md").unlink()
    (hooked / "skills/brief").rmdir()
    (hooked / "skills/brief").symlink_to("../shared")
    git("add", "--all")
    git("commit", "-qm", "x")
    write(hooked, "shared/SKILL.md", SKILL + "<!-- APPENDIX_END -->\n")
    done = tried("commit", "-qam", "x")
    assert done.code == 1
    assert "shared/SKILL.md" in done.err


def test_the_second_of_several_skills_is_looked_at(hooked: Path, tried, git) -> None:
    both = CONFIG.replace("[skill]", "[[skill]]") + '[[skill]]\npath = "skills/two/SKILL.md"\n'
    write(hooked, "skillgit.toml", both)
    write(hooked, "skills/two/SKILL.md", SKILL.replace("name: brief\n", ""))
    git("add", ".")
    done = tried("commit", "-qm", "x")
    assert done.code == 1
    assert "skills/two/SKILL.md: the frontmatter has no `name`" in done.err


def test_a_fault_is_refused_with_how_to_go_on(hooked: Path, tried) -> None:
    write(hooked, MAIN, SKILL + "<!-- SLOW_UPDATE_START -->\n")
    done = tried("commit", "-qam", "x")
    assert done.code == 1
    assert "line 8" in done.err
    assert "--no-verify" in done.err
    assert tried("commit", "-qam", "x", "--no-verify").code == 0


def test_the_staged_bytes_count_and_not_the_work_tree(hooked: Path, tried, git) -> None:
    write(hooked, MAIN, SKILL + "- Fine.\n")
    git("add", ".")
    write(hooked, MAIN, "broken <!-- -->\n")
    assert tried("commit", "-qm", "fine").code == 0
    git("add", ".")
    write(hooked, MAIN, SKILL)
    assert tried("commit", "-qm", "broken").code == 1


def test_a_commit_of_some_paths_is_looked_at_by_its_own_index(hooked: Path, tried, git) -> None:
    write(hooked, MAIN, "# no frontmatter\n")
    write(hooked, "README.md", "# Read me\n")
    git("add", ".")
    assert tried("commit", "-qm", "x", "README.md").code == 0
    assert tried("commit", "-qm", "x", MAIN).code == 1


def test_from_a_subfolder_and_in_the_first_commit(hooked: Path, tried, git) -> None:
    git("checkout", "--quiet", "--orphan", "fresh")
    write(hooked, MAIN, SKILL + "<!-- APPENDIX_END -->\n")
    git("add", ".")
    assert tried("commit", "-qm", "x", cwd=hooked / "skills").code == 1


def test_old_faults_block_nobody(hooked: Path, tried, git) -> None:
    write(hooked, MAIN, SKILL + "<!-- APPENDIX_END -->\n")
    git("commit", "-qam", "x", "--no-verify")
    write(hooked, MAIN, SKILL + "- A new rule.\n<!-- APPENDIX_END -->\n")
    assert tried("commit", "-qam", "x").code == 0


def test_a_region_edited_by_hand_needs_a_word(hooked: Path, tried, git) -> None:
    write(hooked, MAIN, SKILL + REGION)
    done = tried("commit", "-qam", "x")
    assert done.code == 1
    assert "SLOW_UPDATE" in done.err
    assert "git -c skillgit.allowRegionEdits=true commit" in done.err
    assert tried("-c", "skillgit.allowRegionEdits=true", "commit", "-qam", "x").code == 0


@pytest.mark.parametrize("remote", [False, True])
def test_a_region_that_a_run_wrote_is_committed_without_a_word(
    hooked: Path, tried, git, remote: bool
) -> None:
    git("switch", "--quiet", "-c", "skillopt/night-1")
    write(hooked, MAIN, SKILL + REGION)
    git("commit", "-qam", "a night", "--no-verify")
    git("switch", "--quiet", "main")
    git("merge", "--quiet", "--squash", "skillopt/night-1")
    if remote:
        git("update-ref", "refs/remotes/up/stream/skillopt/night-1", "skillopt/night-1")
        git("branch", "-D", "skillopt/night-1")
    assert tried("commit", "-qm", "squashed").code == 0


def on_a_terminal(repo: Path, answer: bytes) -> tuple[int, str]:
    """`git commit` on a terminal of its own, with one answer typed."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(repo)
        os.execvp("git", ["git", "commit", "-qam", "x"])
    seen = b""
    answered = False
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:
            break
        if not part:
            break
        seen += part
        if b"[y/N]" in seen and not answered:
            os.write(terminal, answer)
            answered = True
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), seen.decode()


@pytest.mark.skipif(sys.platform != "linux", reason="terminals differ")
@pytest.mark.parametrize(("answer", "code"), [(b"y\n", 0), (b"n\n", 1), (b"\n", 1)])
def test_on_a_terminal_a_person_is_asked(hooked: Path, answer: bytes, code: int) -> None:
    write(hooked, MAIN, SKILL + REGION)
    ended, seen = on_a_terminal(hooked, answer)
    assert ended == code, seen
    assert "Commit it?" in seen


def test_without_skillgit_nothing_is_blocked(hooked: Path, tried, without_skillgit: None) -> None:
    write(hooked, MAIN, "# nothing right\n<!-- APPENDIX_END -->\n")
    assert tried("commit", "-qam", "x").code == 0


@pytest.mark.parametrize(
    "program", ["#!/nowhere/python\n", "#!/bin/sh\nexit 1\n", "#!/bin/sh\nexit 70\n"]
)
def test_a_broken_skillgit_blocks_nothing(
    hooked: Path, tried, tmp_path: Path, program: str
) -> None:
    (tmp_path / "bin" / "skillgit").write_text(program)
    write(hooked, MAIN, "# nothing right\n<!-- APPENDIX_END -->\n")
    assert tried("commit", "-qam", "x").code == 0


def test_a_config_that_cannot_be_read_blocks_nothing(hooked: Path, tried) -> None:
    write(hooked, "skillgit.toml", "[skill]\npath = 3\n")
    write(hooked, MAIN, "# nothing\n")
    done = tried("commit", "-qam", "x")
    assert done.code == 0
    assert "looked at nothing" in done.err


def test_a_commit_into_another_repository_is_not_judged_by_this_one(
    hooked: Path, tried, git, tmp_path: Path
) -> None:
    other = tmp_path / "other.git"
    git("init", "--quiet", "--bare", str(other))
    install(place_of(worktree_at(other, os.environ)))
    write(hooked, MAIN, "# nothing right\n")
    git("add", MAIN)
    there = (f"--git-dir={other}", f"--work-tree={hooked}", "-c", "core.bare=false")
    tried(*there, "add", "tasks")
    done = tried(*there, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x")
    assert done.code == 0
    assert "looked at nothing" in done.err


def test_without_a_config_there_is_nothing_to_do(hooked: Path, tried, calls, git) -> None:
    git("rm", "--quiet", "skillgit.toml")
    write(hooked, MAIN, "# nothing\n")
    assert tried("commit", "-qam", "x").code == 0
    assert calls() == []
