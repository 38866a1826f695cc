"""Own time per step, and how it and the repository grow.

python benchmarks/step.py [--steps 1000] [--profile]

Batch 16, val 64, in process, fsync off; the model's own time is taken off. Every step is a
rejection, which is what costs most: a candidate, its revert, and all notes.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import statistics
import tempfile
import threading
import time
from pathlib import Path

from bench_project import FreeModel, git, make_repository, opened

from skillgit.store.git_store import GitStore
from skillgit.train import train


def timed(owner: type, name: str, into: dict[str, float]) -> None:
    """Add up the wall time of a method, over all threads."""
    original = getattr(owner, name)
    lock = threading.Lock()

    def wrapper(*args: object, **kwargs: object) -> object:
        began = time.perf_counter()
        try:
            return original(*args, **kwargs)
        finally:
            with lock:
                into[f"{owner.__name__}.{name}"] = (
                    into.get(f"{owner.__name__}.{name}", 0.0) + time.perf_counter() - began
                )

    setattr(owner, name, wrapper)


def folder_bytes(path: Path) -> int:
    """The sum of the sizes of all files below a folder."""
    return sum(f.stat().st_size for f in path.rglob("*") if f.is_file())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--profile", action="store_true")
    arguments = parser.parse_args()
    git_time: dict[str, float] = {}
    for name in ("record", "rejections", "object_id", "measurements"):
        timed(GitStore, name, git_time)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "project"
        config = make_repository(path, epochs=-(-arguments.steps // 10))
        model = FreeModel()
        profiler = cProfile.Profile()
        own: list[float] = []
        git_share: list[float] = []
        with opened(path, config, model) as run:
            began, model_began, git_began = time.perf_counter(), 0.0, 0.0
            if arguments.profile:
                profiler.enable()
            for recorded in train(run.training):
                now = time.perf_counter()
                if recorded.note is not None:
                    own.append(now - began - (model.seconds - model_began))
                    git_share.append(sum(git_time.values()) - git_began)
                began, model_began = time.perf_counter(), model.seconds
                git_began = sum(git_time.values())
            if arguments.profile:
                profiler.disable()
        private = folder_bytes(path / ".git/skillgit")
        before = folder_bytes(path / ".git") - private
        git(path, "-c", "gc.autoDetach=false", "gc", "--quiet")
        after = folder_bytes(path / ".git") - private
        steps = len(own)
        print(f"steps                     {steps}")
        print(f"own time per step, median {1000 * statistics.median(own):.1f} ms")
        print(f"  of which git            {1000 * statistics.median(git_share):.1f} ms")
        for first, last in ((90, 110), (steps - 20, steps)):
            part = own[max(first, 0) : last]
            if part:
                print(f"  steps {first} to {last}, median {1000 * statistics.median(part):.1f} ms")
        print(f"repository before gc      {before / 1e6:.2f} MB")
        print(f"repository after gc       {after / 1e6:.2f} MB")
        print(f"private folder            {private / 1e6:.2f} MB")
    if arguments.profile:
        pstats.Stats(profiler).sort_stats("tottime").print_stats(25)


if __name__ == "__main__":
    main()
