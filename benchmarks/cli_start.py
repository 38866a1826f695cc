"""How long the commands take that people type most, with the interpreter's own start.

python benchmarks/cli_start.py [--steps 5000]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench_project import FreeModel, make_repository, opened

from skillgit.train import train


def seconds(words: list[str], cwd: Path, repeats: int = 7) -> float:
    """The median wall time of a command."""
    took = []
    for _ in range(repeats):
        began = time.perf_counter()
        subprocess.run(words, cwd=cwd, check=True, stdout=subprocess.DEVNULL)
        took.append(time.perf_counter() - began)
    return statistics.median(took)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=5000)
    arguments = parser.parse_args()
    program = str(Path(sys.executable).parent / "skillgit")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "project"
        config = make_repository(path, train=20, val=4, epochs=-(-arguments.steps // 10))
        config = config.model_copy(
            update={"train": config.train.model_copy(update={"batch_size": 2, "workers": 1})}
        )
        with opened(path, config, FreeModel()) as run:
            steps = sum(recorded.note is not None for recorded in train(run.training))
        print(f"skillgit --help               {seconds([program, '--help'], path):.3f} s")
        took = seconds([program, "log", "train-1"], path)
        print(f"skillgit log at {steps:5} steps   {took:.3f} s")
        print(f"skillgit status               {seconds([program, 'status'], path):.3f} s")


if __name__ == "__main__":
    main()
