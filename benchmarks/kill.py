"""kill -9 at random moments, again and again, until the run has ended; then compare.

python benchmarks/kill.py [--kills 100] [--http] [--seed 1]

The run that was never killed and every run that was have to end with the same refs: run branch,
notes, tag, proposal, and so the same trees, verdicts, scores and commit ids. Over HTTP the
server counts the requests that came more than once: at most `workers` for each kill.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

CLOCK = "2026-03-01T12:00:00+00:00"
WORKERS = 4
CONFIG = """
[skill]
path = "skills/field-notes/SKILL.md"
[tasks]
path = "tasks.jsonl"
[target]
{target}
model = "sim-target"
[optimizer]
{target}
model = "sim-optimizer"
[train]
epochs = 3
batch_size = 12
minibatch_size = 4
workers = 4
"""


def run(path: Path, *arguments: str) -> str:
    """Run git in a folder, at a fixed time, and return what it prints."""
    environ = os.environ | {"GIT_AUTHOR_DATE": CLOCK, "GIT_COMMITTER_DATE": CLOCK}
    done = subprocess.run(
        ["git", *arguments], cwd=path, env=environ, check=True, capture_output=True, text=True
    )
    return done.stdout


def make_project(path: Path, url: str | None) -> None:
    """The demo's skill and tasks in a repository, for the simulated model or its server."""
    import skillgit

    data = Path(skillgit.__file__).parent / "demo_data"
    (path / "skills/field-notes").mkdir(parents=True)
    shutil.copy(data / "SKILL.md", path / "skills/field-notes/SKILL.md")
    shutil.copy(data / "tasks.jsonl", path / "tasks.jsonl")
    target = f'base_url = "{url}"\napi_key_env = ""' if url else 'provider = "simulated"'
    (path / "skillgit.toml").write_text(CONFIG.format(target=target))
    run(path, "init", "--quiet", "--initial-branch=main")
    run(path, "config", "user.name", "Kill")
    run(path, "config", "user.email", "kill@localhost")
    run(path, "add", "--all")
    run(path, "commit", "--quiet", "--message", "Start")


def start_training(path: Path) -> subprocess.Popen[bytes]:
    """`skillgit train` in a process group of its own, at a set clock."""
    return subprocess.Popen(
        [sys.executable, "-m", "skillgit", "train"],
        cwd=path,
        env=os.environ | {"SKILLGIT_CLOCK": CLOCK},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def train_to_the_end(path: Path) -> float:
    """Train without a kill; the seconds it took."""
    began = time.monotonic()
    process = start_training(path)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors.decode()
    return time.monotonic() - began


def train_with_kills(path: Path, luck: random.Random, longest: float) -> int:
    """Kill it at random moments until one start gets to the end; how many kills it took."""
    kills = 0
    while True:
        process = start_training(path)
        try:
            _, errors = process.communicate(timeout=luck.uniform(0.25, longest))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            kills += 1
            longest *= 1.02
            continue
        assert process.returncode == 0, errors.decode()
        return kills


def refs_of(path: Path) -> dict[str, str]:
    """All refs of a repository."""
    lines = run(path, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    return dict(line.split() for line in lines)


@contextmanager
def counting_server(port: int | None) -> Iterator[Callable[[], int]]:
    """The simulated server on a port, and how many requests it saw more than once so far."""
    if port is None:
        yield lambda: 0
        return
    process = subprocess.Popen(
        [sys.executable, "-m", "skillgit", "simulate", "--port", str(port), "--latency", "10"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(200):
            try:
                stats_of(port)
                break
            except OSError:
                time.sleep(0.05)
        yield lambda: stats_of(port)["repeated"]
    finally:
        process.terminate()
        process.wait()


def stats_of(port: int) -> dict[str, int]:
    """What the server has counted."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/stats", timeout=5) as answer:
        stats: dict[str, int] = json.load(answer)
    return stats


def free_port() -> int:
    """A loopback port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def compare(kills_wanted: int, luck: random.Random, port: int | None) -> None:
    """Trials until there were enough kills, each compared with the run never killed."""
    with tempfile.TemporaryDirectory() as folder:
        start = Path(folder) / "start"
        start.mkdir()
        make_project(start, f"http://127.0.0.1:{port}/v1" if port else None)
        whole = Path(folder) / "whole"
        shutil.copytree(start, whole)
        with counting_server(port) as repeated:
            seconds = train_to_the_end(whole)
            usual = repeated()
        expected = refs_of(whole)
        kills = trials = 0
        worst = 0.0
        while kills < kills_wanted:
            trial = Path(folder) / f"trial-{trials}"
            shutil.copytree(start, trial)
            with counting_server(port) as repeated:
                done = train_with_kills(trial, luck, longest=seconds)
                again = repeated() - usual
            refs = refs_of(trial)
            differing = sorted(r for r in expected | refs if expected.get(r) != refs.get(r))
            assert not differing, f"after {done} kills these differ: {differing}"
            assert again <= WORKERS * done, f"{again} calls repeated in {done} kills"
            run(trial, "fsck", "--strict")
            kills, trials = kills + done, trials + 1
            worst = max(worst, again / done if done else 0.0)
            said = f", {again} calls repeated" if port else ""
            print(f"trial {trials}: {done} kills, same refs, fsck clean{said}", flush=True)
            shutil.rmtree(trial)
        print(f"{kills} kills over {trials} runs: every one ended as the run never killed")
        if port:
            print(f"calls repeated for each kill, in the worst run: {worst:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--http", action="store_true")
    arguments = parser.parse_args()
    port = free_port() if arguments.http else None
    compare(arguments.kills, random.Random(arguments.seed), port)


if __name__ == "__main__":
    main()
