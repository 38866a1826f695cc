from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from skillgit.cli.app.worktree import worktree_at
from skillgit.cli.hooks.installing import (
    HookChange,
    InstalledHook,
    Way,
    entry_command,
    install,
    installed_hooks,
    uninstall,
)
from skillgit.cli.hooks.place import HookPlace, Manager, lines_for, place_of
from skillgit.cli.hooks.scripts import HOOKS, Copy

from .conftest import FOREIGN, REGION, SKILL, snapshot, write


def place(repo: Path) -> HookPlace:
    return place_of(worktree_at(repo, os.environ))


def ways(found: list[InstalledHook]) -> dict[str, Way]:
    return {installed.hook: installed.way for installed in found}


def new_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git as it is here, but it says that it is 2.54."""
    folder = tmp_path / "newgit"
    folder.mkdir()
    real = shutil.which("git")
    (folder / "git").write_text(
        f'#!/bin/sh\n[ "$1" = version ] && echo git version 2.54.0 && exit\nexec {real} "$@"\n'
    )
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def test_in_a_plain_repository_files_are_put_and_taken_away(project: Path) -> None:
    before = snapshot(project)
    found = install(place(project))
    assert {s.change for s in found} == {HookChange.INSTALLED}
    assert ways(found) == dict.fromkeys(HOOKS, Way.FILE)
    assert all(os.access(project / ".git" / "hooks" / hook, os.X_OK) for hook in HOOKS)
    assert {s.change for s in install(place(project))} == {HookChange.NOTHING}
    uninstall(place(project))
    assert snapshot(project) == before


def test_folders_that_were_not_there_go_again(project: Path) -> None:
    shutil.rmtree(project / ".git" / "hooks")
    before = snapshot(project)
    install(place(project))
    uninstall(place(project))
    assert snapshot(project) == before


def test_looking_changes_nothing(project: Path) -> None:
    before = snapshot(project)
    assert ways(installed_hooks(place(project))) == dict.fromkeys(HOOKS, Way.NONE)
    uninstall(place(project))
    assert snapshot(project) == before


def test_a_foreign_hook_is_left_and_the_others_are_put(project: Path) -> None:
    write(project, ".git/hooks/pre-commit", FOREIGN).chmod(0o755)
    before = snapshot(project)
    found = install(place(project))
    assert ways(found) == {"pre-commit": Way.NONE, "pre-push": Way.FILE, "post-merge": Way.FILE}
    assert (project / ".git/hooks/pre-commit").read_text() == FOREIGN
    uninstall(place(project))
    assert snapshot(project) == before


def test_the_line_to_add_makes_a_foreign_hook_call_ours(project: Path, tried, calls) -> None:
    hook = write(project, ".git/hooks/pre-commit", FOREIGN)
    hook.chmod(0o755)
    ((file, line),) = lines_for(place(project), ("pre-commit",))
    assert Path(file) == hook
    hook.write_text(f"{FOREIGN}{line}\n")
    assert installed_hooks(place(project))[0].way is Way.LINE
    write(project, "skills/brief/SKILL.md", SKILL + REGION)
    assert tried("commit", "-qam", "x").code == 1
    assert (project / "theirs.log").exists()
    assert calls() == ["hook pre-commit"]


def test_the_line_to_add_blocks_nothing_without_skillgit(
    project: Path, tried, without_skillgit: None
) -> None:
    ((_, line),) = lines_for(place(project), ("pre-commit",))
    write(project, ".git/hooks/pre-commit", f"#!/bin/sh\nset -e\n{line}\n").chmod(0o755)
    write(project, "skills/brief/SKILL.md", SKILL + REGION)
    assert tried("commit", "-qam", "x").code == 0


def test_an_older_hook_of_ours_is_brought_up_to_date(project: Path) -> None:
    body = "# an older version\nexit 0\n"
    stamp = hashlib.sha256(body.encode()).hexdigest()[:16]
    head = "#!/bin/sh\n# Installed by skillgit; `skillgit hooks uninstall` takes it away. "
    before = snapshot(project)
    write(project, ".git/hooks/pre-commit", f"{head}{stamp}\n{body}")
    assert installed_hooks(place(project))[0].copy is Copy.OLDER
    assert install(place(project))[0].change is HookChange.UPGRADED
    assert installed_hooks(place(project))[0].copy is Copy.CURRENT
    uninstall(place(project))
    assert snapshot(project) == before


def test_an_older_hook_is_taken_away_as_well(project: Path) -> None:
    body = "exit 0\n"
    stamp = hashlib.sha256(body.encode()).hexdigest()[:16]
    head = "#!/bin/sh\n# Installed by skillgit; `skillgit hooks uninstall` takes it away. "
    before = snapshot(project)
    write(project, ".git/hooks/pre-push", f"{head}{stamp}\n{body}")
    uninstall(place(project))
    assert snapshot(project) == before


def test_a_hook_of_ours_with_somebodys_lines_is_theirs(project: Path) -> None:
    install(place(project))
    hook = project / ".git/hooks/pre-commit"
    hook.write_text(hook.read_text() + "make lint\n")
    mine = hook.read_bytes()
    install(place(project))
    uninstall(place(project))
    assert hook.read_bytes() == mine
    assert not (project / ".git/hooks/pre-push").exists()


@pytest.mark.parametrize("given", [".githooks", "./tools/git-hooks"])
def test_the_folder_that_hooks_path_names_is_used(
    project: Path, git, tried, calls, given: str
) -> None:
    git("config", "core.hooksPath", given)
    write(project, f"{given}/commit-msg", FOREIGN).chmod(0o755)
    before = snapshot(project)
    found = install(place(project))
    assert ways(found) == dict.fromkeys(HOOKS, Way.FILE)
    assert found[0].path == project / given / "pre-commit"
    assert list((project / ".git/hooks").glob("pre-*")) == []
    uninstall(place(project))
    assert snapshot(project) == before


def test_a_folder_for_all_repositories_is_not_written_to(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "shared-hooks"
    shared.mkdir()
    config = tmp_path / "gitconfig"
    config.write_text(f"[core]\n\thooksPath = {shared}\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    before = snapshot(project)
    found = install(place(project))
    assert ways(found) == dict.fromkeys(HOOKS, Way.NONE)
    assert list(shared.iterdir()) == []
    assert snapshot(project) == before


def test_a_folder_outside_is_not_written_to_though_set_here(
    project: Path, git, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    git("config", "core.hooksPath", str(tmp_path / "elsewhere"))
    assert ways(install(place(project))) == dict.fromkeys(HOOKS, Way.NONE)
    git("config", "core.hooksPath", "/dev/null")
    assert ways(install(place(project))) == dict.fromkeys(HOOKS, Way.NONE)


def husky(project: Path, git) -> None:
    """Husky 9 as it leaves a repository."""
    for hook in (*HOOKS, "commit-msg"):
        write(project, f".husky/_/{hook}", '#!/usr/bin/env sh\n. "${0%/*}/h"\n').chmod(0o755)
    write(
        project,
        ".husky/_/h",
        's="$(dirname "$(dirname "$0")")/$(basename "$0")"\n[ -f "$s" ] || exit 0\n'
        'sh -e "$s" "$@"\nexit $?\n',
    )
    write(project, ".husky/pre-commit", "echo theirs >>theirs.log\n")
    git("config", "core.hooksPath", ".husky/_")


def test_in_husky_nothing_is_written_and_the_line_works(project: Path, git, tried, calls) -> None:
    husky(project, git)
    before = snapshot(project)
    here = place(project)
    assert here.manager is Manager.HUSKY
    assert ways(install(here)) == dict.fromkeys(HOOKS, Way.NONE)
    assert snapshot(project) == before
    for file, line in lines_for(here):
        assert Path(file).parent == project / ".husky"
        with Path(file).open("a") as out:
            out.write(f"{line}\n")
    assert ways(installed_hooks(here)) == dict.fromkeys(HOOKS, Way.LINE)
    write(project, "skills/brief/SKILL.md", SKILL + REGION)
    done = tried("commit", "-qam", "x")
    assert done.code == 1
    assert "SLOW_UPDATE" in done.err
    assert calls() == ["hook pre-commit"]
    uninstall(here)
    assert ways(installed_hooks(here)) == dict.fromkeys(HOOKS, Way.LINE)


@pytest.mark.parametrize("name", ["lefthook.yml", ".lefthook.yaml", ".config/lefthook.yml"])
def test_in_lefthook_its_entries_are_said(project: Path, name: str) -> None:
    write(project, name, "pre-commit:\n  commands: {}\n")
    here = place(project)
    assert here.manager is Manager.LEFTHOOK
    assert ways(install(here)) == dict.fromkeys(HOOKS, Way.NONE)
    ((file, text),) = lines_for(here)
    assert Path(file) == project / name
    entries = yaml.safe_load(text)
    assert set(entries) == set(HOOKS)
    assert entries["pre-push"]["commands"]["skillgit"]["use_stdin"] is True


def test_in_the_pre_commit_framework_its_entries_are_said(project: Path, tmp_path: Path) -> None:
    config = write(project, ".pre-commit-config.yaml", "repos: []\n")
    write(project, ".git/hooks/pre-commit", "#!/bin/sh\n# File generated by pre-commit\n")
    before = snapshot(project)
    here = place(project)
    assert here.manager is Manager.PRE_COMMIT
    assert ways(install(here)) == dict.fromkeys(HOOKS, Way.NONE)
    assert snapshot(project) == before
    ((file, text),) = lines_for(here)
    assert Path(file) == config
    (hooks,) = (repo["hooks"] for repo in yaml.safe_load(text)["repos"])
    assert [hook["stages"] for hook in hooks] == [[hook] for hook in HOOKS]
    config.write_text(text)
    by_file = {"pre-commit": Way.LINE, "pre-push": Way.PENDING, "post-merge": Way.PENDING}
    assert ways(install(here)) == by_file


def test_a_hook_that_the_framework_moved_aside_is_still_ours(project: Path) -> None:
    install(place(project))
    hook = project / ".git/hooks/pre-commit"
    hook.rename(hook.with_name("pre-commit.legacy"))
    hook.write_text("#!/bin/sh\n# File generated by pre-commit\n")
    write(project, ".pre-commit-config.yaml", "repos: []\n")
    assert ways(install(place(project)))["pre-commit"] is Way.FILE
    uninstall(place(project))
    assert [file.name for file in hook.parent.iterdir()] == ["pre-commit"]


def test_an_entry_of_the_framework_blocks_nothing_without_skillgit(
    project: Path, without_skillgit: None
) -> None:
    import shlex

    write(project, ".pre-commit-config.yaml", "repos: []\n")
    ((_, text),) = lines_for(place(project))
    for hook in yaml.safe_load(text)["repos"][0]["hooks"]:
        assert subprocess.run(shlex.split(hook["entry"]), check=False).returncode == 0


def test_the_shipped_entries_of_the_framework_are_those_hooks() -> None:
    root = Path(__file__).parents[3]
    entries = yaml.safe_load((root / ".pre-commit-hooks.yaml").read_text())
    assert [entry["id"] for entry in entries] == [f"skillgit-{hook}" for hook in HOOKS]
    for hook, entry in zip(HOOKS, entries, strict=True):
        assert entry["entry"] == f"skillgit hook {hook}"
        assert entry["stages"] == [hook]


def test_a_linked_work_tree_shares_the_hooks(project: Path, git, tried, tmp_path: Path) -> None:
    other = tmp_path / "other"
    git("worktree", "add", "--quiet", str(other))
    before = {name: what for name, what in snapshot(project).items() if "/objects" not in name}
    install(place(other))
    assert ways(installed_hooks(place(project))) == dict.fromkeys(HOOKS, Way.FILE)
    write(other, "skills/brief/SKILL.md", SKILL + REGION)
    assert tried("commit", "-qm", "x", "skills", cwd=other).code == 1
    uninstall(place(project))
    after = {name: what for name, what in snapshot(project).items() if "/objects" not in name}
    assert {k: v for k, v in after.items() if v != before.get(k)} == {}
    assert set(before) == set(after)


def test_a_bare_repository_has_hooks_too(project: Path, git, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    git("clone", "--quiet", "--bare", str(project), str(bare))
    before = snapshot(bare)
    assert ways(install(place(bare))) == dict.fromkeys(HOOKS, Way.FILE)
    uninstall(place(bare))
    assert snapshot(bare) == before


# ── git 2.54's configured hooks ──────────────────────────────────────────────────────────────


def test_a_new_git_runs_ours_beside_a_foreign_one(
    project: Path, git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new_git(tmp_path, monkeypatch)
    write(project, ".git/hooks/pre-commit", FOREIGN).chmod(0o755)
    before = snapshot(project)
    found = install(place(project))
    assert ways(found) == {"pre-commit": Way.CONFIG, "pre-push": Way.FILE, "post-merge": Way.FILE}
    assert git("config", "hook.skillgit-pre-commit.event").strip() == "pre-commit"
    assert {s.change for s in install(place(project))} == {HookChange.NOTHING}
    uninstall(place(project))
    assert snapshot(project) == before


def test_a_new_git_runs_ours_beside_husky(
    project: Path, git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new_git(tmp_path, monkeypatch)
    husky(project, git)
    before = snapshot(project)
    assert ways(install(place(project))) == dict.fromkeys(HOOKS, Way.CONFIG)
    uninstall(place(project))
    assert snapshot(project) == before


def test_an_older_configured_hook_is_brought_up_to_date(
    project: Path, git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new_git(tmp_path, monkeypatch)
    husky(project, git)
    install(place(project))
    git("config", "hook.skillgit-pre-commit.command", "skillgit old-words")
    assert install(place(project))[0].change is HookChange.UPGRADED
    assert git("config", "hook.skillgit-pre-commit.command").rstrip("\n") == (
        entry_command("pre-commit")
    )


def run_configured(repo: Path, hook: str, *arguments: str, stdin: str = "") -> int:
    """Run a configured hook as git does: through a shell, its arguments appended."""
    command = entry_command(hook) + (' "$@"' if arguments else "")
    done = subprocess.run(
        ["sh", "-c", command, command, *arguments], cwd=repo, input=stdin, text=True, check=False
    )
    return done.returncode


def test_a_configured_hook_calls_the_script_with_gits_arguments(
    project: Path, git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls
) -> None:
    new_git(tmp_path, monkeypatch)
    husky(project, git)
    install(place(project))
    tip = git("rev-parse", "HEAD").strip()
    line = f"refs/heads/x {tip} refs/heads/skillopt/train-1 {'0' * 40}\n"
    assert run_configured(project, "pre-push", "origin", "url", stdin=line) == 0
    assert calls() == ["hook pre-push origin url"]


def test_a_configured_hook_whose_script_is_gone_blocks_nothing(project: Path) -> None:
    for hook in HOOKS:
        assert run_configured(project, hook, "a", "b") == 0
