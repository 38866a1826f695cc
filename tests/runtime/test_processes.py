"""Programs: what they see, how much of them is kept, and that they end with all they started."""

from __future__ import annotations

import os
import resource
import sys
import time
from pathlib import Path

import pytest

from skillgit.errors import BlockedError, CallError
from skillgit.runtime.processes import KEPT_BYTES, CommandReply, Program, command_digest


class WallClock:
    """Real monotonic time, which the tests of time limits need."""

    def now(self) -> object:
        raise AssertionError("no one asks for the time of day")

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


def program(
    *command: str, timeout: float = 20.0, root: Path | None = None, **variables: str
) -> Program:
    return Program(
        command=command,
        timeout=timeout,
        variables={"PATH": os.environ["PATH"], **variables},
        root=None if root is None else str(root),
        clock=WallClock(),  # type: ignore[arg-type]
    )


def run(one: Program, stdin: str = "", **files: bytes) -> CommandReply:
    return one.run(stdin, files, {})


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_program_reads_its_question_and_answers() -> None:
    reply = run(program("cat"), "question é")
    assert (reply.exit_code, reply.stdout, reply.cut) == (0, "question é", 0)


def test_an_exit_code_and_the_words_on_stderr_are_kept() -> None:
    reply = run(program("sh", "-c", "echo why >&2; exit 3"))
    assert (reply.exit_code, reply.stderr) == (3, "why\n")


def test_a_program_that_does_not_read_its_question_is_no_error() -> None:
    assert run(program("true"), "x" * 1_000_000).exit_code == 0


def test_only_the_variables_given_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    names = {line.split("=")[0] for line in run(program("env", CITY="Bern")).stdout.splitlines()}
    assert names - {"PWD", "SHLVL", "_", "OLDPWD"} == {"PATH", "CITY", "SKILLGIT_PROCESS"}


def test_no_shell_reads_the_command() -> None:
    assert run(program("printf", "%s", "$HOME; $(id) `id` *")).stdout == "$HOME; $(id) `id` *"


def test_files_are_laid_out_at_their_paths_and_placeholders_filled() -> None:
    one = program(
        "sh", "-c", 'cat "$1/SKILL.md"; test "$1" = "$SKILLGIT_SKILL_DIR"; pwd', "sh", "{skill_dir}"
    )
    reply = one.run("", {"skills/brief/SKILL.md": b"# Brief\n"}, {"skill_dir": "skills/brief"})
    assert reply.exit_code == 0
    assert reply.stdout.startswith("# Brief\n")
    assert not Path(reply.stdout.splitlines()[1]).exists()


def test_a_path_that_leads_out_of_the_folder_is_refused() -> None:
    for path in ("../x", "/tmp/x", "a/../../x"):
        with pytest.raises(ValueError, match="leads out"):
            program("true").run("", {path: b""}, {})


def test_a_program_of_the_repository_is_found_by_its_path(tmp_path: Path) -> None:
    script = tmp_path / "agents" / "agent.sh"
    script.parent.mkdir()
    script.write_text('#!/bin/sh\necho "$0"\n')
    script.chmod(0o755)
    for command in (
        ["agents/agent.sh"],
        ["sh", "agents/agent.sh"],
        ["sh", "{repo}/agents/agent.sh"],
    ):
        assert run(program(*command, root=tmp_path)).stdout.strip() == str(script)


def test_the_documents_being_tried_are_not_taken_from_the_work_tree(tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").write_text("old")
    reply = program("cat", "SKILL.md", root=tmp_path).run("", {"SKILL.md": b"new"}, {})
    assert reply.stdout == "new"


def test_the_digest_changes_with_a_program_of_the_repository(tmp_path: Path) -> None:
    root, command = str(tmp_path), ["python3", "agent.py"]
    (tmp_path / "agent.py").write_text("1")
    before = command_digest(command, root)
    (tmp_path / "agent.py").write_text("2")
    assert command_digest(command, root) != before
    assert command_digest(command, root, {"agent.py": b""}) == command_digest(command, None)
    assert command_digest(["a"], None) != command_digest(["b"], None)


@pytest.mark.parametrize("command", ["no-such-program-here", "/etc/passwd", "a\0b", ""])
def test_a_command_that_cannot_be_started_is_blocked(command: str) -> None:
    with pytest.raises(BlockedError, match="cannot be started"):
        run(program(command))


CHILDREN = {
    "a child": "sleep 300 & echo $! > '{pid}'; wait",
    "a child that ignores signals": "sh -c 'trap \"\" TERM INT HUP; sleep 300' & echo $! > '{pid}'; wait",
    "a child in a session of its own": "setsid sleep 300 & echo $! > '{pid}'; wait",
    "a grandchild whose parent is gone": "(setsid sh -c 'echo $$ > \"{pid}\"; exec sleep 300' &) ; sleep 300",
}


@pytest.mark.parametrize("script", CHILDREN.values(), ids=CHILDREN.keys())
def test_at_the_limit_a_program_ends_with_all_that_it_started(script: str, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    with pytest.raises(CallError, match=r"not done within 0\.5 s"):
        run(program("sh", "-c", script.replace("{pid}", str(pid)), timeout=0.5))
    assert not alive(int(pid.read_text()))


def test_what_a_program_leaves_behind_is_ended_when_it_is_done(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    reply = run(program("sh", "-c", f"sleep 300 & echo $! > {pid}; echo done"))
    assert reply.stdout == "done\n"
    assert not alive(int(pid.read_text()))


def test_a_hundred_megabytes_are_cut_and_not_held_in_memory() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    reply = run(program("sh", "-c", "head -c 100000000 /dev/zero; head -c 50000000 /dev/zero >&2"))
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert reply.exit_code == 0
    assert len(reply.stdout) == KEPT_BYTES
    assert reply.cut == 100_000_000 - KEPT_BYTES
    assert grown < 30_000_000


def test_a_cut_through_a_character_leaves_it_out() -> None:
    reply = run(program(sys.executable, "-c", "print('a' + 'é' * 600_000, end='')"))
    assert reply.cut
    assert reply.stdout == "a" + "é" * (len(reply.stdout) - 1)


def test_bytes_that_are_no_text_do_not_break_anything() -> None:
    assert run(program("printf", r"\377\376ok")).stdout.endswith("ok")


def test_the_value_of_a_key_is_not_in_what_is_kept() -> None:
    script = 'echo "$SOME_API_KEY"; echo "bad key $SOME_API_KEY" >&2; echo "$CITY_NAME"'
    reply = run(program("sh", "-c", script, SOME_API_KEY="sk-0123456789", CITY_NAME="Fribourg"))
    assert reply.stdout == "<SOME_API_KEY>\nFribourg\n"
    assert reply.stderr == "bad key <SOME_API_KEY>\n"
