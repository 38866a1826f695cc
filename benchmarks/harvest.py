"""How long a harvest takes, and how much memory: 2,000 sessions of 300 MB, then once more.

    python benchmarks/harvest.py [SESSIONS] [MEGABYTES]

The transcripts are made up here: prompts, answers, and above all tool results, in the shape that
Claude Code writes. Each harvest is a process of its own, started as a user would.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WORDS: list[str] = str.split(
    "parser index cache branch commit token reader writer config value error buffer stream handle "
    "request answer module folder history version check password secret_key https://host/path"
)
AT_MOST_FIRST, AT_MOST_SECOND = 60.0, 2.0
"""Unit: seconds."""
AT_MOST_MEMORY = 300
"""Unit: megabytes."""


def text(rng: random.Random, characters: int) -> str:
    words = rng.choices(WORDS, k=characters // 7)
    return " ".join(words)


def write_session(path: Path, cwd: str, size: int, rng: random.Random) -> None:
    records, written, number, parent = [], 0, 0, None
    session = path.stem
    while written < size:
        number += 1
        uuid = f"{session}-{number:08d}"
        stamp = f"2026-03-{1 + number % 28:02d}T{number % 24:02d}:{number % 60:02d}:00.000Z"
        record = {
            "parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": cwd,
            "sessionId": session, "version": "2.1.197", "entrypoint": "cli", "uuid": uuid,
            "timestamp": stamp,
        }  # fmt: skip
        turn = number % 10
        if turn == 1:
            content = f"Write the {text(rng, 40)} number {rng.random()}"
            record |= {"type": "user", "promptSource": "typed", "origin": {"kind": "human"}}
            record["message"] = {"role": "user", "content": content}
        elif turn == 6:
            record |= {"type": "user", "promptSource": "typed", "origin": {"kind": "human"}}
            record["message"] = {"role": "user", "content": "no, use pytest instead of unittest"}
        elif turn % 2:
            result = [{"type": "tool_result", "tool_use_id": "t", "content": text(rng, 4_000)}]
            record |= {"type": "user", "toolUseResult": {"stdout": text(rng, 1_000)}}
            record["message"] = {"role": "user", "content": result}
        else:
            said = [{"type": "text", "text": text(rng, 600)}]
            record |= {"type": "assistant", "message": {"role": "assistant", "content": said}}
        line = json.dumps(record)
        records.append(line)
        written += len(line) + 1
        parent = uuid
    path.write_text("\n".join(records) + "\n")


def harvest(repo: Path, claude: Path, *words: str) -> tuple[float, float, float]:
    """Seconds, seconds of a processor, and megabytes of one harvest."""
    environ = {**os.environ, "CLAUDE_CONFIG_DIR": str(claude), "HOME": str(repo.parent)}
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "skillgit", "harvest", *words],
        cwd=repo, env=environ, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    assert status == 0
    per_unit = 1 if sys.platform == "darwin" else 1024
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * per_unit / 1e6


def main() -> None:
    sessions = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    megabytes = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as name:
        repo, claude = Path(name, "repo"), Path(name, "claude")
        projects = claude / "projects" / "p"
        projects.mkdir(parents=True)
        repo.mkdir()
        subprocess.run(["git", "init", "--quiet", str(repo)], check=True)
        for number in range(sessions):
            path = projects / f"session-{number:06d}.jsonl"
            write_session(path, str(repo.resolve()), megabytes * 1_000_000 // sessions, rng)
        total = sum(path.stat().st_size for path in projects.iterdir()) / 1e6
        print(f"{sessions} sessions, {total:.0f} MB")
        for name, limit, *words in (
            ("first", AT_MOST_FIRST),
            ("second", AT_MOST_SECOND),
            ("second, of everything again", 10 * AT_MOST_SECOND, "--all"),
        ):
            seconds, busy, memory = harvest(repo, claude, *words)
            good = seconds <= limit and memory <= AT_MOST_MEMORY
            print(
                f"{name}: {seconds:.1f} s of {limit:.0f} ({busy:.1f} s busy), {memory:.0f} MB of {AT_MOST_MEMORY}",
                "ok" if good else "TOO MUCH",
            )
        kept = repo / ".git" / "skillgit" / "harvest"
        print(f"digests: {sum(path.stat().st_size for path in kept.iterdir()) / 1e6:.1f} MB")


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
