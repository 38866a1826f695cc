"""A training over HTTP against a bare loop of the same SDK over the same calls.

python benchmarks/over_http.py [--steps 6] [--latency 50]

The simulated server runs in a process of its own. The training's requests are kept, phase by
phase; the bare loop sends them again with one client and a plain pool of 16 threads.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench_project import SystemClock, make_repository, opened
from openai import OpenAI

from skillgit.config import ModelConfig
from skillgit.models import build_model
from skillgit.models.endpoint import RequestForm
from skillgit.models.wire import to_payload
from skillgit.ports import Model
from skillgit.records import ModelReply, ModelRequest
from skillgit.train import train

WORKERS = 16


class Keeping:
    """A model that keeps what it is asked, by the phase it was asked in."""

    def __init__(self, models: dict[str, Model]) -> None:
        self._models = models
        self._lock = threading.Lock()
        self.phase = ""
        self.asked: dict[str, list[ModelRequest]] = {}
        self.seconds = 0.0

    def complete(self, request: ModelRequest) -> ModelReply:
        role = "optimizer" if request.answer_schema is not None else "target"
        with self._lock:
            self.asked.setdefault(f"{self.phase}/{role}", []).append(request)
        return self._models[role].complete(request)


def start_server(latency: float) -> tuple[subprocess.Popen[str], str]:
    """The simulated server on a free port; its base URL is its first line."""
    process = subprocess.Popen(
        [sys.executable, "-m", "skillgit", "simulate", "--latency", str(latency)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    return process, process.stdout.readline().split()[-1]


def bare_loop(url: str, phases: list[list[ModelRequest]]) -> float:
    """The seconds that the same requests take with nothing around them."""
    with OpenAI(api_key="none", base_url=url, max_retries=0) as client:

        def ask(request: ModelRequest) -> None:
            client.chat.completions.create(**to_payload(request, RequestForm()))  # type: ignore[call-overload]

        began = time.perf_counter()
        for requests in phases:
            with ThreadPoolExecutor(WORKERS) as pool:
                list(pool.map(ask, requests))
        return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--latency", type=float, default=50.0)
    arguments = parser.parse_args()
    server, url = start_server(arguments.latency)
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "project"
            config = make_repository(path, train=16 * arguments.steps, val=64)
            gate = config.gate.model_copy(update={"curtail": False})
            sizes = config.train.model_copy(update={"workers": WORKERS, "stop_when_perfect": False})
            config = config.model_copy(update={"gate": gate, "train": sizes})
            models = {
                role: build_model(
                    ModelConfig(model=f"sim-{role}", base_url=url, api_key_env=None),
                    api_key=None,
                    clock=SystemClock(),
                    workers=WORKERS,
                )
                for role in ("target", "optimizer")
            }
            keeping = Keeping(models)
            with opened(path, config, keeping, waits=True) as run:
                progress = run.training.evaluator.progress
                begin = progress.begin

                def noted(phase: str, total: int = 0) -> None:
                    keeping.phase = f"{progress.step}/{phase}"
                    begin(phase, total)

                progress.begin = noted  # type: ignore[method-assign]
                began = time.perf_counter()
                steps = sum(recorded.note is not None for recorded in train(run.training))
                ours = time.perf_counter() - began
        bare = min(bare_loop(url, list(keeping.asked.values())) for _ in range(2))
        calls = sum(map(len, keeping.asked.values()))
        print(f"{steps} steps, {calls} calls, {arguments.latency:.0f} ms of latency")
        print(f"training {ours:.2f} s, bare loop {bare:.2f} s, ratio {ours / bare:.3f}")
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
