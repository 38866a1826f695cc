"""Evidence: trainings of four task families with small real models, written to docs/evidence.md.

    python benchmarks/evidence/run.py [--families commits,replies] [--seeds 1,2,3] [--calls 150]

Run by hand (`make evidence`), never by CI: it takes hours on two cores. Every training is one
repository, made here and kept as a git bundle where that is small, so that anybody can read it:
`git clone docs/evidence/commits-1.bundle`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from evidence.families import FAMILIES, Family
from evidence.models import OPTIMIZER, TARGET, serving

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "evidence.md"
BUNDLES = ROOT / "docs" / "evidence"
MOST_BYTES = 200_000
RESAMPLES = 10_000

CONFIG = """[repo]
onto = "main"
[skill]
path = "skills/{name}/SKILL.md"
[tasks]
path = "tasks/{name}.jsonl"
[target]
model = "{target.name}"
base_url = "{target.url}"
api_key_env = ""
max_tokens = 140
temperature = 0.0
timeout = 600
[optimizer]
model = "{optimizer.name}"
base_url = "{optimizer.url}"
api_key_env = ""
style = "{style}"
max_tokens = 600
timeout = 600
[train]
epochs = {epochs}
batch_size = 10
workers = 1
seed = {seed}
[gate]
metric = "mixed"
[slow_update]
enabled = false
[meta_skill]
enabled = false
[budget]
calls = {calls}
"""


@dataclass(frozen=True)
class Result:
    """What came of one training; scores are `mixed`, on the test split where nothing else is said.

    `best` is what a person's own skill for the family reaches with the same target.
    """

    family: str
    seed: int
    baseline: float
    trained: float
    best: float
    val: tuple[float, float]
    asks: int
    useful: int
    calls: int
    minutes: float

    @property
    def lift(self) -> float:
        """How much the test score rose."""
        return self.trained - self.baseline


def main() -> None:
    """Train every family with every seed, and write the page."""
    arguments = _arguments()
    cache = Path(arguments.cache).expanduser()
    cache.mkdir(parents=True, exist_ok=True)
    results: list[Result] = []
    with serving(TARGET, cache), serving(OPTIMIZER, cache):
        for name in arguments.families.split(","):
            for seed in map(int, arguments.seeds.split(",")):
                results.append(_one(FAMILIES[name], seed, arguments))
                print(json.dumps(asdict(results[-1])), flush=True)
    PAGE.write_text(_page(results, arguments), encoding="utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--families", default=",".join(FAMILIES))
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--calls", type=int, default=150)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--style", default="plain")
    parser.add_argument("--cache", default="~/.cache/skillgit-evidence")
    return parser.parse_args()


# ── one training ─────────────────────────────────────────────────────────────────────────────


def _one(family: Family, seed: int, arguments: argparse.Namespace) -> Result:
    with tempfile.TemporaryDirectory() as folder:
        repo = Path(folder) / family.name
        _project(repo, family, seed, arguments)
        began = time.monotonic()
        _skillgit(repo, "train")
        minutes = (time.monotonic() - began) / 60
        log = [
            json.loads(line) for line in _skillgit(repo, "log", "train-1", "--json").splitlines()
        ]
        notes = _step_notes(repo)
        best = _score_of_best(repo, family)
        baseline, trained = (
            _test_score(repo, version) for version in ("train-1@0", "train-1@best")
        )
        _bundle(repo, f"{family.name}-{seed}")
        steps = [note for note in notes if note["kind"] == "step"]
        return Result(
            family=family.name,
            seed=seed,
            baseline=baseline,
            trained=trained,
            best=best,
            val=_val_scores(log),
            asks=sum(len(note["raw_patches"]) for note in steps),
            useful=sum(_useful(note) for note in steps),
            calls=sum(sum(note["costs"]["calls"].values()) for note in notes if "costs" in note),
            minutes=minutes,
        )


def _project(repo: Path, family: Family, seed: int, arguments: argparse.Namespace) -> None:
    skill = repo / "skills" / family.name / "SKILL.md"
    skill.parent.mkdir(parents=True)
    front = f"---\nname: {family.name}\ndescription: {family.name}\n---\n"
    skill.write_text(front + family.skill)
    (repo / "tasks").mkdir()
    (repo / "tasks" / f"{family.name}.jsonl").write_text(family.task_lines())
    (repo / "skillgit.toml").write_text(
        CONFIG.format(
            name=family.name,
            seed=seed,
            target=TARGET,
            optimizer=OPTIMIZER,
            epochs=arguments.epochs,
            style=arguments.style,
            calls=arguments.calls,
        )
    )
    _git(repo.parent, "init", "--quiet", "--initial-branch=main", str(repo))
    _git(repo, "config", "user.name", "evidence")
    _git(repo, "config", "user.email", "evidence@localhost")
    _git(repo, "add", "--all")
    _git(repo, "commit", "--quiet", "--message", "Start")


def _useful(note: dict[str, object]) -> int:
    """How many of a step's asks led to a change of the text that the gate kept."""
    patches = note["raw_patches"]
    kept = str(note["action"]).startswith("accept")
    return len(patches) if kept and isinstance(patches, list) else 0


def _test_score(repo: Path, version: str) -> float:
    lines = _skillgit(repo, "eval", version, "--split", "test", "--json").splitlines()
    return _mixed([json.loads(line) for line in lines])


def _score_of_best(repo: Path, family: Family) -> float:
    """What a person's own skill reaches on the test split; committed on a branch of its own."""
    skill = repo / "skills" / family.name / "SKILL.md"
    front = skill.read_text().partition("# ")[0]
    _git(repo, "switch", "--quiet", "--create", "by-hand")
    skill.write_text(front + family.best)
    _git(repo, "commit", "--quiet", "--all", "--message", "A person's own")
    score = _test_score(repo, "by-hand")
    _git(repo, "switch", "--quiet", "main")
    return score


def _mixed(records: Sequence[dict[str, object]]) -> float:
    for record in records:
        hard, soft = record.get("hard"), record.get("soft")
        if isinstance(hard, float | int) and isinstance(soft, float | int):
            return (hard + soft) / 2
    raise SystemExit(f"eval said nothing of a score: {records}")


def _val_scores(log: Sequence[dict[str, object]]) -> tuple[float, float]:
    scores = [r["score"] for r in log if isinstance(r.get("score"), float | int)]
    return (float(str(scores[0])), float(str(max(map(float, map(str, scores))))))


def _step_notes(repo: Path) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for commit in _git(repo, "rev-list", "skillopt/run/train-1").split():
        shown = subprocess.run(
            ["git", "-C", str(repo), "notes", "--ref", "skillopt", "show", commit],
            capture_output=True,
            text=True,
            check=False,
        )
        found += [json.loads(line) for line in shown.stdout.splitlines() if line.strip()]
    return [note for note in found if "kind" in note]


def _bundle(repo: Path, name: str) -> None:
    BUNDLES.mkdir(parents=True, exist_ok=True)
    path = BUNDLES / f"{name}.bundle"
    _git(repo, "bundle", "create", "--quiet", str(path), "--all")
    if path.stat().st_size > MOST_BYTES:
        path.unlink()


def _skillgit(repo: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "skillgit", *words],
        cwd=repo,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    if done.returncode not in (0, 5):
        raise SystemExit(f"skillgit {' '.join(words)}: {done.returncode}\n{done.stderr}")
    return done.stdout


def _git(repo: Path, *words: str) -> str:
    return subprocess.run(
        ["git", "-C", str(repo), *words], check=True, capture_output=True, text=True
    ).stdout


# ── the page ─────────────────────────────────────────────────────────────────────────────────


def _page(results: Sequence[Result], arguments: argparse.Namespace) -> str:
    lifts = [result.lift for result in results]
    low, high = _interval(lifts)
    rows = "\n".join(
        f"| {r.family} | {r.seed} | {r.baseline:.3f} | {r.trained:.3f} | {r.lift:+.3f} "
        f"| {r.best:.3f} | {r.val[0]:.3f} → {r.val[1]:.3f} | {r.useful} of {r.asks} "
        f"| {r.calls} | {r.minutes:.0f} |"
        for r in results
    )
    possible = [r.best - r.baseline for r in results]
    share = sum(lifts) / sum(possible) if sum(possible) > 0 else float("nan")
    when = datetime.now(UTC).date().isoformat()
    return f"""# Evidence: trainings with small real models

Made by `make evidence` on {when}, on {platform.machine()} with {os.cpu_count()} cores; Python
{platform.python_version()}. Target {TARGET.name}, optimizer {OPTIMIZER.name}, both served on
loopback; style `{arguments.style}`, at most {arguments.calls} calls a training, 10 train, 12 val
and 12 test tasks a family, metric `mixed`. The families were not looked at while the prompts were
written.

Mean lift on test: **{statistics.fmean(lifts):+.3f}** (95 % bootstrap interval {low:+.3f} to
{high:+.3f}), which is {share:.0%} of what a person's own skill reaches with that target.

| family | seed | test before | test after | lift | a person's own | val | asks kept | calls | minutes |
|---|---|---|---|---|---|---|---|---|---|
{rows}

Each training is a repository: `git clone docs/evidence/FAMILY-SEED.bundle` and `git log
skillopt/run/train-1`.
"""


def _interval(values: Sequence[float]) -> tuple[float, float]:
    """A 95 % interval of the mean, by resampling."""
    draw = random.Random(0)
    means = sorted(statistics.fmean(draw.choices(values, k=len(values))) for _ in range(RESAMPLES))
    return means[round(0.025 * RESAMPLES)], means[round(0.975 * RESAMPLES) - 1]


if __name__ == "__main__":
    main()
