"""The command environment: twenty-line agents, rollouts as JSON, and programs that go wrong."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import pytest

from skillgit.config import ModelConfig
from skillgit.environments import CommandEnvironment, EnvironmentResources, build_environment
from skillgit.errors import BlockedError
from skillgit.records import (
    JudgeSpec,
    PaidCall,
    PaidReply,
    Record,
    Role,
    Rollout,
    Skill,
    SkillDocument,
    Speaker,
    Split,
    Task,
    ToolSpec,
)
from skillgit.runtime.processes import CommandReply

T = TypeVar("T", bound=PaidReply)

SKILL = Skill(
    name="brief",
    documents=(
        SkillDocument(path="skills/brief/SKILL.md", data=b"# Brief\nAlways add a risks section.\n"),
        SkillDocument(path="skills/brief/references/tone.md", data=b"Be calm.\n"),
    ),
)

PYTHON_AGENT = '''
"""A small agent: it writes a brief, and adds what the skill asks for."""
import json
import os
import pathlib
import sys

task = json.load(sys.stdin)
skill = pathlib.Path(os.environ["SKILLGIT_SKILL_FILE"]).read_text()
tone = pathlib.Path("skills/brief/references/tone.md").read_text()

trajectory = [{"role": "user", "content": task["prompt"]}]
answer = f"# Brief\\n\\n{task['prompt']}: {tone}"
if "risks section" in skill:
    answer += "\\n## Key Risks\\n\\nNone."
for tool in task["tools"]:
    call = {"id": "1", "function": {"name": tool["name"], "arguments": {"q": task["prompt"]}}}
    trajectory.append({"role": "assistant", "content": None, "tool_calls": [call]})
trajectory.append({"role": "assistant", "content": answer})
json.dump({"answer": answer, "trajectory": trajectory,
           "tokens": {"prompt": 12, "completion": 5}, "files": {"out.md": answer}}, sys.stdout)
'''

SHELL_AGENT = """#!/bin/sh
# A small agent: it repeats the task, and follows the skill where it understands it.
set -eu
task=$(cat)
prompt=$(printf '%s' "$task" | sed 's/.*"prompt":"\\([^"]*\\)".*/\\1/')
printf '# Brief\\n\\n%s\\n' "$prompt"
if grep -q 'risks section' "$1/SKILL.md"; then
    printf '\\n## Key Risks\\n\\nNone.\\n'
fi
"""


class WallClock:
    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class Journal:
    """A `Paid` that keeps what was asked and what came back, and answers from it."""

    def __init__(self) -> None:
        self.calls: list[PaidCall] = []
        self.requests: list[str] = []
        self.known: dict[tuple[PaidCall, str], str] = {}

    def __call__(
        self, call: PaidCall, request: Record, reply: type[T], perform: Callable[[], T]
    ) -> T:
        self.calls.append(call)
        self.requests.append(request.model_dump_json())
        key = (call, self.requests[-1])
        if key not in self.known:
            self.known[key] = perform().model_dump_json()
        return reply.model_validate_json(self.known[key])


def environment(*command: str, root: Path | None = None, **config: Any) -> CommandEnvironment:
    return CommandEnvironment(
        ModelConfig(provider="command", command=command, **config),
        clock=WallClock(),
        variables={**os.environ, "CITY": "Bern", "OTHER": "x"},
        root=None if root is None else str(root),
    )


def task(**fields: Any) -> Task:
    fields = {"judge": JudgeSpec(kind="exact"), "reference": "SECRET-ANSWER", **fields}
    return Task(id="t1", prompt="Tides", split=Split.VAL, **fields)


TASK = task()


def run(
    one: CommandEnvironment, paid: Any = None, task: Task = TASK, skill: Skill = SKILL
) -> Rollout:
    return one.rollout(task, skill, paid or Journal(), purpose="evaluate", slot="t1/0", seed=7)


def sh(script: str, **config: Any) -> CommandEnvironment:
    return environment("sh", "-c", script, **config)


def test_a_twenty_line_agent_in_python(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(PYTHON_AGENT)
    paid = Journal()
    one = environment(sys.executable, "agent.py", root=tmp_path)
    rollout = run(one, paid, task(tools=(ToolSpec(name="search"),)))
    assert rollout.failure is None
    assert rollout.answer == "# Brief\n\nTides: Be calm.\n\n## Key Risks\n\nNone."
    assert rollout.usage.total == 17
    assert rollout.files == {"out.md": rollout.answer}
    assert [call.name for m in rollout.trajectory for call in m.tool_calls] == ["search"]
    assert rollout.trajectory[1].tool_calls[0].arguments == '{"q": "Tides"}'
    assert paid.calls == [PaidCall(role=Role.TARGET, purpose="evaluate", slot="t1/0")]


def test_a_twenty_line_agent_in_shell(tmp_path: Path) -> None:
    script = tmp_path / "agents" / "agent.sh"
    script.parent.mkdir()
    script.write_text(SHELL_AGENT)
    script.chmod(0o755)
    one = environment("agents/agent.sh", "{skill_dir}", root=tmp_path)
    rollout = run(one)
    assert rollout.answer == "# Brief\n\nTides\n\n## Key Risks\n\nNone."
    assert [m.role for m in rollout.trajectory] == [Speaker.USER, Speaker.ASSISTANT]
    bare = SKILL.with_document("skills/brief/SKILL.md", b"# Brief\n")
    assert "Key Risks" not in run(one, skill=bare).answer


def test_the_program_is_told_the_task_but_not_how_it_is_judged() -> None:
    told = run(sh("cat"), task=task(context="c", system="s", turns=("more",)))
    read = json.loads(told.answer)
    assert (read["id"], read["prompt"], read["context"], read["turns"]) == (
        "t1", "Tides", "c", ["more"],
    )  # fmt: skip
    assert read["seed"] == 7
    assert read["skill"] == [document.path for document in SKILL.documents]
    assert "SECRET-ANSWER" not in told.answer
    assert not {"judge", "reference", "split"} & read.keys()


def test_only_the_named_variables_are_seen() -> None:
    script = 'test -z "${OTHER+x}" && test -z "${HOME+x}" && printf %s "$CITY"'
    assert run(sh(script, env=["CITY"])).answer == "Bern"
    assert run(sh('printf %s "${CITY-none}"')).answer == "none"


def test_the_journal_holds_the_documents_digests_and_no_temporary_path() -> None:
    paid = Journal()
    one = sh("echo done; echo run >&2")
    assert run(one, paid) == run(one, paid)
    run(one, paid, skill=SKILL.with_document("skills/brief/SKILL.md", b"new"))
    assert paid.requests[0] == paid.requests[1] != paid.requests[2]
    assert len(paid.known) == 2
    assert "/tmp" not in paid.requests[0]


@pytest.mark.parametrize(
    ("printed", "answer"),
    [
        ("plain words", "plain words"),
        ('{"answer": 5}', '{"answer": 5}'),
        ('{"other": "x"}', '{"other": "x"}'),
        ('["answer"]', '["answer"]'),
        ('{"answer": "x"} and more', '{"answer": "x"} and more'),
        ('{"answer": "x", "unknown": 1}', "x"),
        ('{"answer": "", "tokens": 3}', ""),
        ("", ""),
    ],
)
def test_the_output_is_the_answer_unless_it_is_a_rollout(printed: str, answer: str) -> None:
    rollout = run(environment("printf", "%s", printed))
    assert rollout.failure is None
    assert rollout.answer == answer


@pytest.mark.parametrize(
    ("printed", "reason"),
    [
        ({"answer": "x", "tokens": -1}, "tokens"),
        ({"answer": "x", "tokens": True}, "tokens"),
        ({"answer": "x", "tokens": {"prompt": "3"}}, "tokens"),
        ({"answer": "x", "trajectory": "no"}, "trajectory"),
        ({"answer": "x", "trajectory": [{"role": "martian"}]}, "trajectory.0.role"),
        ({"answer": "x", "trajectory": [3]}, "trajectory.0"),
        ({"answer": "x", "files": {"a": 3}}, "files.a"),
    ],
)
def test_a_rollout_that_cannot_be_read_is_unscored(printed: Any, reason: str) -> None:
    rollout = run(environment("printf", "%s", json.dumps(printed)))
    assert rollout.failure is not None
    assert f"the rollout that it printed: {reason}" in rollout.failure


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo broken >&2; exit 3", "exit code 3: broken"),
        ("exit 1", "exit code 1: it said nothing"),
        ("kill -9 $$", "by signal 9"),
    ],
)
def test_a_run_that_failed_is_unscored_and_not_kept(script: str, reason: str) -> None:
    paid = Journal()
    rollout = run(sh(script), paid)
    assert rollout.failure is not None
    assert reason in rollout.failure
    assert paid.known == {}


def test_at_the_time_limit_a_run_ends_with_its_children(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    script = f"(setsid sh -c 'echo $$ > {pid}; exec sleep 300' &); sleep 300"
    rollout = run(sh(script, timeout=0.5))
    assert rollout.failure is not None
    assert "not done within 0.5 s" in rollout.failure
    stat = Path(f"/proc/{int(pid.read_text())}/stat")
    assert not stat.exists() or stat.read_text().rsplit(")", 1)[1].split()[0] == "Z"


def test_a_hundred_megabytes_are_cut_and_it_is_said() -> None:
    rollout = run(sh("head -c 100000000 /dev/zero | tr '\\0' x"))
    assert len(rollout.answer) < 1_000_100
    assert rollout.answer.endswith("[cut here: 99000000 more bytes were printed]")


def test_a_rollout_too_long_to_be_read_is_unscored() -> None:
    rollout = run(
        sh("""printf '{"answer": "'; head -c 2000000 /dev/zero | tr '\\0' x; printf '"}'""")
    )
    assert rollout.failure == "it printed 2000014 bytes: too much to be read as a rollout"


@pytest.mark.parametrize(
    "script",
    [
        "echo 'Not logged in · Please run /login'",
        "echo 'Invalid API key · Please run /login' >&2; exit 1",
        """echo '{"answer": "Not logged in"}'""",
        "no-such-agent",
        "exit 126",
    ],
)
def test_what_no_run_can_mend_is_blocked(script: str) -> None:
    paid = Journal()
    with pytest.raises(BlockedError):
        run(sh(script), paid)
    assert paid.known == {}


def test_a_command_that_is_not_there_is_blocked() -> None:
    with pytest.raises(BlockedError, match="cannot be started"):
        run(environment("no-such-agent"))


def test_the_fingerprint_changes_with_the_command_and_its_files(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("1")
    before = environment("python3", "agent.py", root=tmp_path).fingerprint
    assert before == environment("python3", "agent.py", root=tmp_path, timeout=1).fingerprint
    assert before != environment("python3", "-u", "agent.py", root=tmp_path).fingerprint
    (tmp_path / "agent.py").write_text("2")
    assert before != environment("python3", "agent.py", root=tmp_path).fingerprint


def test_one_rollout_is_one_call() -> None:
    assert sh("true").max_calls(task(turns=("a", "b"))) == 1


def test_the_provider_decides_which_environment_it_is() -> None:
    resources = EnvironmentResources(clock=WallClock())
    config = ModelConfig(provider="command", command=("true",))
    assert isinstance(build_environment(config, resources), CommandEnvironment)


def test_a_reply_can_be_read_back_from_the_journal() -> None:
    reply = CommandReply(exit_code=0, stdout="\x00é", cut=1)
    assert CommandReply.model_validate_json(reply.model_dump_json()) == reply


HOW_TO = Path(__file__).parents[2] / "docs" / "how-to" / "bring-your-own-agent.md"


@pytest.mark.parametrize(("language", "runner"), [("python", sys.executable), ("sh", "sh")])
def test_the_agents_that_the_docs_show_work(language: str, runner: str, tmp_path: Path) -> None:
    program = HOW_TO.read_text().split(f"```{language}\n")[1].split("```")[0]
    (tmp_path / "agent").write_text(program)
    rollout = run(environment(runner, "agent", root=tmp_path))
    assert rollout.failure is None
    assert rollout.answer.strip() == "# Brief\n\nTides\n\n## Key Risks\n\nNone that we know of."
