"""`skillgit harvest`: from a person's transcripts to a file of tasks."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from transcripts import ClaudeSession, codex_event, codex_message, codex_meta, jsonl

Skillgit = Callable[..., Any]


@pytest.fixture
def claude(tmp_path: Path) -> Path:
    return tmp_path / "claude"


@pytest.fixture
def harvest(skillgit: Skillgit, repo: Path, claude: Path, tmp_path: Path) -> Skillgit:
    """`skillgit harvest WORDS` over the transcripts of this test."""
    (claude / "projects" / "p").mkdir(parents=True)
    variables = {"CLAUDE_CONFIG_DIR": str(claude), "CODEX_HOME": str(tmp_path / "codex")}

    def run(*words: str, **environ: str) -> Any:
        return skillgit("harvest", *words, **variables, **environ)

    return run


def talk(repo: Path, claude: Path, name: str, request: str, correction: str) -> Path:
    """A session in the repository with a request and what was wrong with the answer."""
    built = ClaudeSession(name, cwd=str(repo)).user(request).agent("Done.").user(correction).agent()
    return built.write(claude / "projects" / "p")


def many(repo: Path, claude: Path, n: int = 8, start: int = 0) -> None:
    for number in range(start, start + n):
        request = f"Write the brief number {number} about topic {number * number}"
        talk(repo, claude, f"s{number}", request, "no, use pytest instead of unittest")


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_tasks_go_to_the_private_folder_and_nothing_else_moves(
    harvest: Skillgit, repo: Path, claude: Path, git: Callable[..., str]
) -> None:
    before = git("status", "--porcelain"), git("for-each-ref")
    many(repo, claude)
    done = harvest().ok()
    path = repo / ".git" / "skillgit" / "harvest" / "tasks.jsonl"
    assert len(rows(path)) == 8
    assert {row["split"] for row in rows(path)} == {"train", "val", "test"}
    assert "Found 8 sessions" in done.out
    assert "8 new tasks" in done.out
    assert str(path) in done.out
    assert (git("status", "--porcelain"), git("for-each-ref")) == before
    assert path.stat().st_mode & 0o077 == 0


def test_every_session_left_out_is_told_with_its_reason(
    harvest: Skillgit, repo: Path, claude: Path
) -> None:
    talk(repo, claude, "mine", "Write the notes now", "no, wrong")
    ClaudeSession("other", cwd="/elsewhere").user("Add a test").write(claude / "projects" / "p")
    ClaudeSession("agent-1", cwd=str(repo)).user("Explore").write(claude / "projects" / "p")
    (claude / "projects" / "p" / "bad.jsonl").write_bytes(b"[]\n{\n")
    done = harvest("--list").ok()
    for words in ("taken", "other project", "sub-agent", "Damaged in claude-code: 1 not JSON"):
        assert words in done.out
    objects = harvest("--json", "--all").ok().objects
    fates = {Path(o["path"]).stem: o["fate"] for o in objects if o["kind"] == "session"}
    assert fates["other"] == "other project"
    assert fates["agent-1"] == "sub-agent"
    (summary,) = [o for o in objects if o["kind"] == "harvest"]
    assert sum(summary["fates"].values()) == len(fates)


def test_the_second_harvest_adds_only_what_is_new(
    harvest: Skillgit, repo: Path, claude: Path
) -> None:
    many(repo, claude)
    harvest().ok()
    path = repo / ".git" / "skillgit" / "harvest" / "tasks.jsonl"
    first, *others = path.read_text().splitlines()
    path.write_text("\n".join(others) + "\n")
    assert "0 new tasks" in harvest().ok().out
    assert path.read_text().splitlines() == others
    built = ClaudeSession("late", cwd=str(repo))
    late = "2026-03-02T09:00:00Z"
    built.user("Draw the chart of rainfall", timestamp=late).agent(timestamp=late)
    built.user("no, use svg", timestamp=late).write(claude / "projects" / "p")
    assert "1 new task" in harvest().ok().out
    assert "1 new task" in harvest("--all").ok().out
    assert first.split('"split"')[0] in path.read_text()


def test_what_one_file_has_got_is_still_new_to_another(
    harvest: Skillgit, repo: Path, claude: Path, tmp_path: Path
) -> None:
    many(repo, claude, 3)
    codex = tmp_path / "codex" / "sessions" / "rollout-1.jsonl"
    codex.parent.mkdir(parents=True)
    codex.write_bytes(
        jsonl(
            codex_meta(cwd=str(repo)),
            codex_event(900, "user_message", message="Draw the chart of rainfall"),
            codex_event(901, "agent_message", message="Done"),
            codex_event(902, "user_message", message="no, use svg instead"),
        )
    )
    assert "1 new task" in harvest("--source", "codex").ok().out
    assert "3 new tasks" in harvest().ok().out
    assert "4 new tasks" in harvest("-o", "own.jsonl").ok().out
    assert "0 new tasks" in harvest().ok().out
    assert "0 new tasks" in harvest("-o", "own.jsonl").ok().out


def test_a_file_in_the_work_tree_is_warned_of_unless_git_ignores_it(
    harvest: Skillgit, repo: Path, claude: Path
) -> None:
    many(repo, claude)
    done = harvest("-o", "mine.jsonl").ok()
    assert "git does not ignore it" in done.err
    assert len(rows(repo / "mine.jsonl")) == 8
    (repo / ".gitignore").write_text("*.jsonl\n")
    assert harvest("-o", "mine.jsonl").ok().err == ""


def test_such_a_file_can_be_trained_on(
    harvest: Skillgit, skillgit: Skillgit, skill_repo: Path, claude: Path, git: Callable[..., str]
) -> None:
    many(skill_repo, claude, 12)
    harvest("-o", "mine.jsonl").ok()
    skillgit("init", "skills/brief", "--tasks", "mine.jsonl", "--provider", "simulated").ok()
    config = (skill_repo / "skillgit.toml").read_text()
    assert "mine.jsonl" in config


def test_the_config_says_whose_sessions_how_many_and_from_where(
    harvest: Skillgit, skillgit: Skillgit, skill_repo: Path, claude: Path, tmp_path: Path
) -> None:
    skillgit("init", "skills/brief", "--provider", "simulated").ok()
    many(tmp_path / "elsewhere", claude)
    export = tmp_path / "exports" / "a.jsonl"
    export.parent.mkdir()
    export.write_bytes(
        jsonl(
            {"text": "Write the notes"}, {"role": "assistant", "text": "x"}, {"text": "no, use svg"}
        )
    )
    config = skill_repo / "skillgit.toml"
    plain = config.read_text()
    assert "0 new tasks" in harvest().ok().out
    config.write_text(plain + f'\n[sleep]\nprojects = ["{tmp_path}/elsewhere"]\n')
    assert "8 new tasks" in harvest("-o", "a.jsonl").ok().out
    config.write_text(plain + '\n[sleep]\nprojects = ["*"]\nmax_tasks = 3\n')
    assert "3 new tasks" in harvest("-o", "b.jsonl").ok().out
    config.write_text(plain + '\n[sleep]\nsources = ["neutral:../exports"]\n')
    assert "1 new task" in harvest("-o", "c.jsonl").ok().out
    config.write_text(plain + '\n[sleep]\nprojects = ["*"]\nminer = "llm"\n')
    assert any("llm" in row["tags"] for row in rows(_harvested(harvest, skill_repo)))
    config.write_text(plain + '\n[sleep]\nsources = ["cursor"]\n')
    done = harvest()
    assert done.code == 1
    assert "there is no source 'cursor'" in done.err


def _harvested(harvest: Skillgit, repo: Path) -> Path:
    harvest("-o", "d.jsonl").ok()
    return repo / "d.jsonl"


def test_wrong_words_and_files_are_one_clear_sentence(
    harvest: Skillgit, repo: Path, claude: Path
) -> None:
    assert harvest("--since", "soon").code == 2
    assert harvest("--since", "2026-03-01", "--all").code == 2
    assert harvest("--miner", "llm").code == 1
    (repo / "README.md").write_text("# Not tasks\n")
    done = harvest("-o", "README.md")
    assert done.code == 1
    assert "line 1" in done.err
    assert (repo / "README.md").read_text() == "# Not tasks\n"


def test_without_any_transcript_it_says_so(harvest: Skillgit, repo: Path) -> None:
    assert "Found 0 sessions" in harvest().ok().out


# ── secrets ──────────────────────────────────────────────────────────────────────────────────

CORE = "Zq7Xv3Kp9Lm2Rt8Wn4"
SECRETS = [
    f"ghp_{CORE}{CORE}",
    f"password={CORE}",
    f"https://ada:{CORE}@example.org/x",
    f"-----BEGIN PRIVATE KEY-----\n{CORE}\n-----END PRIVATE KEY-----",
    f'{{"api_key": "{CORE}"}}',
    f"Authorization: Bearer {CORE}",
]
STRUCTURE = frozenset(
    (
        "type", "role", "timestamp", "kind", "commandMode", "entrypoint", "promptSource", "uuid",
        "parentUuid", "cwd", "sessionId", "source", "originator", "id", "call_id", "subtype",
    )
)  # fmt: skip


def planted(value: Any, everywhere: bool, name: str = "") -> Any:
    """The value with a secret in every text; `everywhere` in names, ids and types as well."""
    if isinstance(value, dict):
        return {key: planted(part, everywhere, key) for key, part in value.items()}
    if isinstance(value, list):
        return [planted(part, everywhere, name) for part in value]
    if isinstance(value, str) and (everywhere or name not in STRUCTURE):
        secret = SECRETS[len(value) % len(SECRETS)]
        return f"{value} {'x' * 5_900 if len(value) == 22 else ''} {secret} and so on"
    return value


class Recorder(BaseHTTPRequestHandler):
    """Answers every request with a task that tells a secret, and keeps what it was sent."""

    heard: bytes = b""

    def do_POST(self) -> None:
        type(self).heard += self.rfile.read(int(self.headers["Content-Length"]))
        task = {
            "prompt": f"Push with {SECRETS[0]}",
            "checks": [{"op": "contains", "arg": f"token={CORE}", "hint": SECRETS[1]}],
            "evidence": ["s1.1", "s1.3"],
        }
        message = {"role": "assistant", "content": json.dumps({"tasks": [task]})}
        body = json.dumps({"choices": [{"index": 0, "finish_reason": "stop", "message": message}]})
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def recorder() -> Iterator[type[Recorder]]:
    handler = type("Handler", (Recorder,), {"heard": b"", "address": ""})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        handler.address = f"http://127.0.0.1:{server.server_port}/v1"  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield handler
        server.shutdown()


@pytest.mark.parametrize("everywhere", [False, True])
def test_no_secret_reaches_a_digest_a_task_a_terminal_or_a_model(
    everywhere: bool,
    harvest: Skillgit,
    skillgit: Skillgit,
    skill_repo: Path,
    claude: Path,
    tmp_path: Path,
    recorder: Any,
) -> None:
    skillgit(
        "init", "skills/brief", "--base-url", recorder.address, "--api-key-env", "NO_SUCH_KEY"
    ).ok()
    built = (
        ClaudeSession("s1", cwd=str(skill_repo)).user("Write the release notes").agent("Here it is")
    )
    built.user("no, always use bullets here").result("ok", error=False).result("boom", error=True)
    built.add("attachment", attachment={"type": "queued_command", "prompt": "also the docs"})
    built.user("a summary", isCompactSummary=True).add("system", content="x").add(
        "brand-new", a="b"
    )
    built.add("queue-operation", content="typed").user("/compact now").user("meta", isMeta=True)
    call = {"type": "function_call", "call_id": "c", "name": "sh", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c", "output": "Exit code: 1 boom"}
    codex = [
        codex_meta(cwd=str(skill_repo), instructions="be nice"),
        codex_message(1, "Fix the tests"),
        codex_event(1, "user_message", message="Fix the tests"),
        {"timestamp": "2026-03-01T10:00:00Z", "type": "response_item", "payload": call},
        {"timestamp": "2026-03-01T10:00:00Z", "type": "response_item", "payload": output},
        codex_message(2, "Fixed", "assistant"),
        codex_event(3, "user_message", message="no, always use uv here"),
    ]
    rollout = tmp_path / "codex" / "sessions" / "rollout-1.jsonl"
    rollout.parent.mkdir(parents=True)
    for name in ("s1", "whole"):
        folder = claude / "projects" / "p"
        deep = everywhere and name == "s1"
        (folder / f"{name}.jsonl").write_bytes(jsonl(*planted(built.records, deep)))
    rollout.write_bytes(jsonl(*planted(codex, everywhere)))
    told = ""
    for words in (
        ("--miner", "llm"),
        ("--miner", "heuristic", "--all", "--list"),
        ("--all", "--json"),
    ):
        done = harvest(*words).ok()
        told += done.out + done.err
    assert recorder.heard
    assert b"Write the release notes" in recorder.heard
    kept = [path for path in (skill_repo / ".git" / "skillgit").rglob("*") if path.is_file()]
    assert len(kept) > 3
    tasks = (skill_repo / ".git" / "skillgit" / "harvest" / "tasks.jsonl").read_text()
    assert tasks.count("\n") >= 2
    reply = b"Push with"
    for path in kept:
        data = path.read_bytes()
        if path.name.startswith("journal"):
            continue  # it holds what a model answered, word for word
        assert CORE.encode() not in data, path
    assert CORE not in told
    assert CORE.encode() not in recorder.heard.replace(reply, b"")
