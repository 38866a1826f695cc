from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

SECRET = "sk-this-must-never-be-shown"


def rows(done) -> dict[str, dict]:
    """The rows by name, the last of each."""
    return {found["name"]: found for found in done.objects if found["kind"] == "check"}


def look(skillgit, *words: str, **environ: str) -> tuple[int, dict[str, dict]]:
    done = skillgit("doctor", "--json", *words, **environ)
    return done.code, rows(done)


def test_a_repository_in_order_has_nothing_bad(skillgit, trained: Path, git) -> None:
    before = git("for-each-ref")
    code, found = look(skillgit)
    assert code == 0
    assert {row["state"] for row in found.values()} == {"ok"}
    assert {"skillgit", "git", "repository", "identity", "names", "config", "trust"} <= set(found)
    assert "answers" in found["model target"]["says"]
    assert found["runs"]["says"] == "1 run here"
    assert git("for-each-ref") == before
    assert git("status", "--porcelain") == ""


def test_people_read_a_row_a_line_and_what_to_do_below_it(skillgit, trained: Path) -> None:
    (trained / ".git" / "index.lock").touch()
    lines = skillgit("doctor").ok().out.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("warn  locks"))
    assert "> If no git command runs here: rm '" in lines[at + 1]
    assert lines[-1].endswith("1 warn, 0 bad")


def test_offline_asks_no_model(skillgit, trained: Path) -> None:
    _, found = look(skillgit, "--offline")
    assert "not asked" in found["model target"]["says"]


def test_no_repository_is_a_row_and_not_the_end(skillgit, tmp_path: Path) -> None:
    (tmp_path / "repo").mkdir()
    code, found = look(skillgit)
    assert code == 1
    assert found["repository"]["state"] == "bad"
    assert found["git"]["state"] == "ok"


@pytest.mark.parametrize(
    ("option", "word"), [("--object-format=sha256", "SHA-256"), ("--ref-format=reftable", "ref")]
)
def test_a_repository_that_cannot_be_opened_says_why(
    skillgit, tmp_path: Path, option: str, word: str
) -> None:
    done = subprocess.run(["git", "init", "-q", option, tmp_path / "repo"], check=False)
    if done.returncode != 0:
        pytest.skip("this git does not know the format")
    code, found = look(skillgit)
    assert code == 1
    assert word in found["repository"]["says"]
    assert found["repository"]["do"]


def test_kinds_of_repositories_are_told_apart(skillgit, trained: Path, git, tmp_path) -> None:
    git("worktree", "add", "--quiet", "--detach", str(tmp_path / "linked"))
    git("clone", "--quiet", "--bare", str(trained), str(tmp_path / "bare"))
    shallow = f"file://{trained}"
    git("clone", "--quiet", "--depth=1", shallow, str(tmp_path / "shallow"))
    kinds = {}
    for name in ("repo", "linked", "bare", "shallow"):
        done = skillgit("doctor", "--json", "--offline", cwd=tmp_path / name)
        kinds[name] = rows(done)["repository"]["says"].split(":")[0]
    assert kinds == {
        "repo": "a work tree",
        "linked": "a linked work tree",
        "bare": "bare",
        "shallow": "a work tree, shallow",
    }


def test_a_partial_clone_is_warned_of(skillgit, trained: Path, git) -> None:
    git("config", "remote.origin.promisor", "true")
    _, found = look(skillgit)
    assert found["repository"]["state"] == "warn"
    assert "partial" in found["repository"]["says"]


def test_nobody_to_commit_as_is_bad(skillgit, trained: Path, git) -> None:
    git("config", "--unset", "user.name")
    code, found = look(skillgit)
    assert (code, found["identity"]["state"]) == (1, "bad")
    assert "git config user.name" in found["identity"]["do"]


def test_a_branch_in_the_way_is_named_with_the_rename(skillgit, trained: Path, git) -> None:
    git("branch", "skillopt/best", "main")
    code, found = look(skillgit)
    assert (code, found["names"]["state"]) == (1, "bad")
    assert "git branch -m skillopt/best" in found["names"]["do"]


def test_a_config_that_is_wrong_does_not_hide_the_rest(skillgit, trained: Path) -> None:
    with (trained / "skillgit.toml").open("a") as file:
        file.write("\n[trian]\nepochs = 3\n")
    code, found = look(skillgit)
    assert (code, found["config"]["state"]) == (1, "bad")
    assert "did you mean 'train'" in found["config"]["says"]
    assert found["remotes"]["state"] == "ok"


def test_broken_tasks_and_an_uncommitted_skill_are_seen(skillgit, trained: Path) -> None:
    (trained / "tasks" / "brief.jsonl").write_text("{\n")
    (trained / "skills" / "brief" / "SKILL.md").write_text("# Other\n")
    code, found = look(skillgit)
    assert code == 1
    assert found["tasks"]["state"] == "bad"
    assert found["skill"]["state"] == "warn"
    assert "git add skills/brief/SKILL.md" in found["skill"]["do"]


def lab(repo: Path, port: int = 1) -> None:
    """Point the target at a server of one's own, with a key."""
    text = (repo / "skillgit.toml").read_text()
    server = f'base_url = "http://127.0.0.1:{port}/v1?k={SECRET}"\nretries = 0'
    text = text.replace('provider = "simulated"', server, 1)
    (repo / "skillgit.toml").write_text(text.replace('api_key_env = ""', 'api_key_env = "LAB"', 1))


def test_no_key_is_ever_printed(skillgit, trained: Path) -> None:
    lab(trained)
    for words in ((), ("--json",), ("--offline",)):
        done = skillgit("doctor", *words, LAB=SECRET, OPENAI_API_KEY="sk-another-secret")
        assert SECRET not in done.out + done.err
        assert "sk-another-secret" not in done.out + done.err
        assert done.code == 1
    _, found = look(skillgit, LAB=SECRET)
    assert found["key target"]["says"] == "LAB is set"


def test_what_is_not_trusted_is_bad_and_is_not_asked(skillgit, trained: Path) -> None:
    lab(trained)
    code, found = look(skillgit, LAB=SECRET)
    assert (code, found["trust"]["state"]) == (1, "bad")
    assert found["model target"]["state"] == "warn"
    assert "trust" in found["model target"]["do"]


def test_a_model_that_does_not_answer_is_bad(skillgit, trained: Path) -> None:
    lab(trained)
    skillgit("trust", "--yes").ok()
    done = skillgit("doctor", "--json", LAB=SECRET)
    assert done.code == 1
    assert "asking for one word, one call each: target" in done.err
    assert rows(done)["model target"]["state"] == "bad"
    assert SECRET not in done.out + done.err


def test_a_key_that_is_missing_is_bad_by_its_name(skillgit, trained: Path) -> None:
    text = (trained / "skillgit.toml").read_text()
    text = text.replace('provider = "simulated"', 'provider = "openai"', 1)
    (trained / "skillgit.toml").write_text(text.replace('api_key_env = ""', "", 1))
    code, found = look(skillgit, "--offline")
    assert (code, found["key target"]["state"]) == (1, "bad")
    assert "OPENAI_API_KEY is not set" in found["key target"]["says"]


def test_a_program_is_looked_for_and_not_run(skillgit, trained: Path) -> None:
    text = (trained / "skillgit.toml").read_text()
    for program, state in (("touch", "ok"), ("no-such-program", "bad")):
        target = f'provider = "command"\ncommand = ["{program}", "{trained}/ran"]'
        changed = text.replace('provider = "simulated"', target, 1)
        (trained / "skillgit.toml").write_text(changed.replace('model = "sim-target"', "", 1))
        skillgit("trust", "--yes").ok()
        _, found = look(skillgit)
        assert found["model target"]["state"] == state
    assert not (trained / "ran").exists()


def test_lines_that_nobody_can_read_and_kinds_that_nobody_knows_are_counted(
    skillgit, trained: Path, git
) -> None:
    future = json.dumps({"kind": "from_the_future", "x": 1})
    git("notes", "--ref=skillopt", "append", "-m", future, "main")
    _, found = look(skillgit)
    assert "lines of unknown kinds: 1 'from_the_future'" in str(
        [o for o in skillgit("doctor", "--json").objects if o.get("name") == "notes/skillopt"]
    )
    git("notes", "--ref=skillopt", "append", "-m", '{"kind":"scores","repeat":"x"}', "main")
    git("notes", "--ref=skillopt", "append", "-m", "a word by hand", "main")
    done = skillgit("doctor", "--json")
    assert done.code == 0
    assert "2 lines cannot be read" in done.out
    assert found["ledger"]["state"] == "ok"


def test_pruned_notes_are_found_and_what_it_says_brings_them_back(
    skillgit, trained: Path, git
) -> None:
    listed = git("notes", "--ref=skillopt", "list")
    commit = git("rev-parse", "skillopt/best").strip()
    git("notes", "--ref=skillopt", "remove", commit)
    code, found = look(skillgit)
    row = found["notes/skillopt"]
    assert (code, row["state"]) == (1, "bad")
    assert "once stood there" in row["says"]
    subprocess.run(["sh", "-ec", row["do"]], cwd=trained, check=True, capture_output=True)
    assert git("notes", "--ref=skillopt", "list") == listed
    assert look(skillgit)[1]["notes/skillopt"]["state"] == "ok"


def test_a_clone_without_its_notes_is_told_how_to_fetch_them(
    skillgit, trained: Path, git, tmp_path: Path
) -> None:
    git("clone", "--quiet", str(trained), str(tmp_path / "clone"))
    for key, value in (("user.name", "Bob"), ("user.email", "bob@example.org")):
        git("config", key, value, cwd=tmp_path / "clone")
    git("branch", "skillopt/run/train-1", "origin/skillopt/run/train-1", cwd=tmp_path / "clone")
    done = skillgit("doctor", "--json", cwd=tmp_path / "clone")
    row = next(o for o in done.objects if o.get("name") == "ledger" and o["state"] == "warn")
    assert "without a note" in row["says"]


def test_a_best_tag_that_is_gone_or_elsewhere_is_put_back_by_what_it_says(
    skillgit, trained: Path, git
) -> None:
    best = git("rev-parse", "skillopt/best").strip()
    for words in (("-d", "skillopt/best"), ("-f", "skillopt/best", "skillopt/run/train-1~1")):
        git("tag", *words)
        _, found = look(skillgit)
        assert found["best"]["state"] == "warn"
        subprocess.run(["sh", "-ec", found["best"]["do"]], cwd=trained, check=True)
        assert git("rev-parse", "skillopt/best").strip() == best
    git("tag", "-f", "skillopt/best", "main")
    assert look(skillgit)[1]["best"]["state"] == "bad"


def test_an_old_lock_is_bad_and_a_young_one_is_worth_a_look(skillgit, trained: Path) -> None:
    lock = trained / ".git" / "refs" / "notes" / "skillopt.lock"
    lock.touch()
    assert look(skillgit)[1]["locks"]["state"] == "warn"
    os.utime(lock, (0, 0))
    code, found = look(skillgit)
    assert (code, found["locks"]["state"]) == (1, "bad")
    assert f"rm '{lock}'" in found["locks"]["do"]


def test_an_empty_ref_is_bad(skillgit, trained: Path) -> None:
    (trained / ".git" / "refs" / "heads" / "empty").touch()
    code, found = look(skillgit)
    assert (code, found["refs"]["state"]) == (1, "bad")
    assert "refs/heads/empty holds no id (0 bytes)" in found["refs"]["says"]


def test_a_log_of_moves_with_half_a_line_is_warned_of(skillgit, trained: Path) -> None:
    with (trained / ".git" / "skillgit" / "moves.jsonl").open("a") as file:
        file.write('{"ref":"refs/he')
    _, found = look(skillgit)
    assert found["moves"]["state"] == "warn"
    assert "1 line of" in found["moves"]["says"]


def test_private_data_is_shown_with_its_place_and_size(skillgit, trained: Path) -> None:
    says = [
        found["says"]
        for found in skillgit("doctor", "--json").objects
        if found.get("name") == "private"
    ]
    assert any("journal.sqlite, " in line for line in says)
    assert all(line.startswith(str(trained / ".git" / "skillgit")) for line in says)


def test_a_damaged_journal_is_bad(skillgit, trained: Path) -> None:
    for file in (trained / ".git" / "skillgit").glob("journal.sqlite*"):
        file.write_bytes(b"no database at all, but long enough to be read as one")
    code, found = look(skillgit)
    assert (code, found["private"]["state"]) == (1, "bad")


def test_a_run_that_has_not_ended_is_named(skillgit, trained: Path, git) -> None:
    git("update-ref", "refs/heads/skillopt/run/train-1", "skillopt/run/train-1~1")
    says = [
        found["says"]
        for found in skillgit("doctor", "--json").objects
        if found.get("name") == "runs"
    ]
    assert says[0].startswith("train-1 has not ended: it is at step ")


def test_a_remote_that_would_get_private_refs_is_bad_once_there_are_some(
    skillgit, trained: Path, git
) -> None:
    git("remote", "add", "--mirror=push", "backup", "https://u:p@example.org/x.git")
    assert look(skillgit)[1]["remotes"]["state"] == "warn"
    git("update-ref", "refs/notes/skillopt-night", "refs/notes/skillopt")
    code, found = look(skillgit)
    assert (code, found["remotes"]["state"]) == (1, "bad")
    assert "refs/notes/skillopt-night" in found["remotes"]["says"]
    assert "u:p@" not in str(found)


def test_unknown_records_of_transcripts_are_shown_when_asked_for(
    skillgit, trained: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "home" / ".claude" / "projects" / "x"
    folder.mkdir(parents=True)
    known = {"type": "user", "message": {"role": "user", "content": "hello"}}
    common = {"cwd": str(trained), "sessionId": "s1", "timestamp": "2026-03-01T09:00:00Z"}
    records = [{**known, **common, "uuid": "a"}, {"type": "hologram", **common}]
    (folder / "s1.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    home = {"HOME": str(tmp_path / "home")}
    assert "transcripts" not in look(skillgit, **home)[1]
    code, found = look(skillgit, "--transcripts", **home)
    assert (code, found["transcripts"]["state"]) == (0, "warn")
    assert "hologram" in found["transcripts"]["says"]
    assert "hello" not in str(found)


def test_it_advises_the_plain_style_for_an_optimizer_on_this_machine(
    skillgit, trained: Path
) -> None:
    config = trained / "skillgit.toml"
    text = config.read_text()
    assert "ok    style" in skillgit("doctor", "--offline").out
    local = text.replace(
        '[optimizer]         # the model that writes the edits\nprovider = "simulated"',
        '[optimizer]\nprovider = "openai"\nbase_url = "http://127.0.0.1:9/v1"',
    )
    assert local != text
    config.write_text(local)
    shown = skillgit("doctor", "--offline").out
    assert 'style = "plain"' in shown
    config.write_text(local.replace("[optimizer]", '[optimizer]\nstyle = "plain"'))
    assert "plain: one rule against each fault" in skillgit("doctor", "--offline").out
