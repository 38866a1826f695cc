"""How far each gate can be trusted: a simulation with the gate's own code and fixed seeds.

    python benchmarks/gate.py [--runs 300] [--null-runs 10000] [--plots docs/how-to]

A world has 40 val tasks, each with its own chance to pass under a skill; a candidate is better,
worse or equal, and is measured by throwing coins. Everything that decides is skillgit's: the
rules, the early stop that cuts validation short, the pooling. Prints Markdown tables.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from multiprocessing import Pool
from pathlib import Path
from statistics import fmean

from svg import bars, lines

from skillgit.gate import RULES, beats, mean_score, pool
from skillgit.gate.betting import highest_e_value, threshold
from skillgit.gate.early_stop import EarlyStopper
from skillgit.gate.power import accept_chance
from skillgit.gate.rule import Sizes
from skillgit.ports import Trial
from skillgit.records import Measurements, Metric, Score, Skill, SkillDocument

TASKS, STEPS = 40, 40
BUDGET = TASKS * (STEPS + 1)
GOOD, BAD, SIZE, SPREAD = 0.25, 0.35, 0.25, 1.0
MOST_STEPS = 120
ALPHA = 0.05
JOBS = 2
KEYS = [f"{i:016x}" for i in range(TASKS)]
SKILL = Skill(name="s", documents=(SkillDocument(path="SKILL.md", data=b""),))
HIT, MISS = Score(hard=1.0, soft=1.0), Score(hard=0.0, soft=0.0)


@dataclass(frozen=True)
class Setting:
    """A gate as skillgit.toml sets it."""

    rule: str = "strict"
    curtail: bool = False
    refresh_every: int = 0
    repeats: int = 1
    min_delta: float = 0.0


PLAIN = Setting()
RECOMMENDED = Setting(curtail=True, refresh_every=5)
SETTINGS = {
    "strict, plain": PLAIN,
    "strict, curtail": Setting(curtail=True),
    "strict, curtail, refresh_every = 5 (recommended)": RECOMMENDED,
    "paired, curtail, refresh_every = 5": Setting(rule="paired", curtail=True, refresh_every=5),
    "betting, curtail, refresh_every = 5": Setting(rule="betting", curtail=True, refresh_every=5),
}


@dataclass
class Version:
    """A skill in the simulated world: how good it truly is, and what was measured of it."""

    quality: float
    rounds: list[Measurements]

    @property
    def scores(self) -> Measurements:
        """All its measurements pooled."""
        return pool("", self.rounds)

    @property
    def score(self) -> float:
        """Its recorded score."""
        mean = mean_score(s for s in self.scores.scores.values() if s is not None)
        return mean.hard if mean else 0.0


@dataclass
class World:
    """Tasks of different difficulty, and the luck of one run."""

    rng: random.Random
    difficulty: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.difficulty = [self.rng.gauss(0.0, SPREAD) for _ in range(TASKS)]

    def truth(self, quality: float) -> float:
        """The share of attempts that a skill of this quality passes."""
        return fmean(_logistic(d + quality) for d in self.difficulty)

    def measure(self, quality: float) -> Measurements:
        """One attempt at every task."""
        passed = (self.rng.random() < _logistic(d + quality) for d in self.difficulty)
        scores = {key: HIT if p else MISS for key, p in zip(KEYS, passed, strict=True)}
        return Measurements(object_id="", scores=scores)

    def propose(self, quality: float) -> float:
        """A candidate's quality: often no better."""
        u, size = self.rng.random(), self.rng.expovariate(1 / SIZE)
        return quality + (size if u < GOOD else -size if u < GOOD + BAD else 0.0)


@dataclass
class Outcome:
    """What came of one run, in points of a hundred where it is a score."""

    gain: float
    curse: float
    steps: int
    saved: float
    useless: float
    agree: bool


def simulate(setting: Setting, seed: int) -> Outcome:
    """One run, until as many validation rollouts are used as 40 plain steps take."""
    world = World(random.Random(seed))
    start = Version(0.0, [world.measure(0.0) for _ in range(setting.repeats)])
    versions, current, best = [start], start, start
    used, step, sent_all, could = TASKS * setting.repeats, 0, 0, 0
    # Measuring at the run's end, which takes one or two of val, is paid for from the same budget.
    budget = BUDGET - (3 * TASKS // 2 if setting.refresh_every else 0)
    accepted, useless, agree = 0, 0, True
    while used < budget and step < MOST_STEPS:
        step += 1
        if setting.refresh_every and step % setting.refresh_every == 0:
            current.rounds += [world.measure(current.quality) for _ in range(setting.repeats)]
            used += TASKS * setting.repeats
            for version in [current, *versions]:
                if beats(version.score, best.score):
                    best = version
        quality = world.propose(current.quality)
        rounds = [world.measure(quality) for _ in range(setting.repeats)]
        trial = trial_of(setting, current, best, step)
        verdict = RULES[setting.rule].decide(_with(trial, rounds)).result.action
        sent = TASKS
        if setting.curtail:
            sent, curtailed = _cut_short(setting, trial, rounds)
            agree = agree and curtailed == verdict.accepted
        used += sent * setting.repeats
        sent_all += sent
        could += TASKS
        if verdict.accepted:
            accepted += 1
            useless += quality <= current.quality
            current = Version(quality, rounds)
            versions.append(current)
            if beats(current.score, best.score):
                best = current
    if setting.refresh_every:
        best = _settled(world, setting, versions, current, best)
    return Outcome(
        gain=100 * (world.truth(best.quality) - world.truth(0.0)),
        curse=100 * (best.score - world.truth(best.quality)),
        steps=step,
        saved=100 * (1 - sent_all / could),
        useless=100 * useless / accepted if accepted else 0.0,
        agree=agree,
    )


def _settled(
    world: World, setting: Setting, versions: list[Version], current: Version, best: Version
) -> Version:
    """The best once it was measured twice, as at a run's end."""
    for _ in range(3):
        if len(best.rounds) > setting.repeats:
            break
        best.rounds += [world.measure(best.quality) for _ in range(setting.repeats)]
        for version in [current, *versions]:
            if beats(version.score, best.score):
                best = version
    return best


def trial_of(setting: Setting, current: Version, best: Version, step: int) -> Trial:
    """The trial of a step, without the candidate's scores."""
    nothing, scores = Measurements(object_id="", scores={}), current.scores
    return Trial(
        candidate=SKILL,
        current=SKILL,
        best=SKILL,
        candidate_scores=nothing,
        current_scores=scores,
        best_scores=scores if best is current else best.scores,
        best_step=0,
        global_step=step,
        metric=Metric.HARD,
        mixed_weight=0.5,
        min_delta=setting.min_delta,
        alpha=ALPHA,
        look=step,
        current_rounds=tuple(current.rounds),
        order=tuple(KEYS),
    )


def _with(trial: Trial, rounds: list[Measurements]) -> Trial:
    update = {"candidate_scores": pool("", rounds), "candidate_rounds": tuple(rounds)}
    return trial.model_copy(update=update)


def _cut_short(setting: Setting, trial: Trial, rounds: list[Measurements]) -> tuple[int, bool]:
    """How many tasks are sent where validation may be cut short, and what is decided then."""
    early_stopper = EarlyStopper(
        RULES[setting.rule].decide, trial, repeats=setting.repeats, may_be_unscored=TASKS // 5
    )
    sent, waiting = 0, KEYS
    while waiting:
        seen = [
            Measurements(object_id="", scores={k: r.scores[k] for k in KEYS[:sent]}) for r in rounds
        ]
        block = early_stopper.safe_batch(seen, waiting)
        if not block:
            return sent, False
        sent += block
        waiting = KEYS[sent:]
    return sent, RULES[setting.rule].decide(_with(trial, rounds)).result.action.accepted


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))


# ── the tables ───────────────────────────────────────────────────────────────────────────────


def single_looks(looks: int) -> dict[str, list[float]]:
    """How often one look accepts, in percent: 5 points worse, equal, 5 and 10 points better."""
    gains = (-0.05, 0.0, 0.05, 0.1)
    found: dict[str, list[float]] = {}
    print("\n### One look at 40 tasks, each a coin toss\n")
    print("| rule | 5 points worse | equal | 5 points better | 10 points better |")
    print("|---|---|---|---|---|")
    for rule in RULES:
        setting, row = Setting(rule=rule), []
        rng = random.Random(7)
        for gain in gains:
            accepted = 0
            for _ in range(looks):
                current = Version(0.0, [_coins(rng, 0.5)])
                trial = trial_of(setting, current, current, 1)
                ruling = RULES[rule].decide(_with(trial, [_coins(rng, 0.5 + gain)]))
                accepted += ruling.result.action.accepted
            exact = accept_chance(Sizes(rule=rule, tasks=TASKS, alpha=ALPHA), 0.5, 0.5 + gain)
            if abs(accepted / looks - exact) > 4 * math.sqrt(0.25 / looks):
                raise SystemExit(f"{rule} at {gain:+}: {accepted / looks} against {exact}")
            row.append(100 * accepted / looks)
        found[rule] = row
        print(f"| `{rule}` | " + " | ".join(f"{value:.1f} %" for value in row) + " |")
    return found


def _coins(rng: random.Random, p: float) -> Measurements:
    scores = {key: HIT if rng.random() < p else MISS for key in KEYS}
    return Measurements(object_id="", scores=scores)


def whole_runs(runs: int) -> dict[str, list[float]]:
    """Gain, curse and the rest for each setting, at equal validation rollouts."""
    print(f"\n### Whole runs: {runs} each, {BUDGET} validation rollouts each\n")
    print("| setting | true gain | against plain | winner's curse | steps | rollouts saved "
          "| accepted that were no better | same verdicts as in full |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|")
    found: dict[str, list[float]] = {}
    for name, setting in SETTINGS.items():
        row, agree = averages(setting, runs)
        found[name] = row
        ratio = row[0] / found["strict, plain"][0]
        same = ("in every run" if agree else "NO") if setting.curtail else "-"
        print(f"| {name} | {row[0]:.1f} | {ratio:.2f} | {row[1]:.1f} | {row[2]:.1f} "
              f"| {row[3]:.0f} % | {row[4]:.0f} % | {same} |", flush=True)  # fmt: skip
    return found


@cache
def averages(setting: Setting, runs: int) -> tuple[list[float], bool]:
    """The means over runs, and whether cutting short never changed a verdict."""
    with Pool(JOBS) as workers:
        outcomes = workers.map(partial(simulate, setting), range(runs), chunksize=10)
    getters: list[Callable[[Outcome], float]] = [
        lambda o: o.gain, lambda o: o.curse, lambda o: o.steps, lambda o: o.saved,
        lambda o: o.useless,
    ]  # fmt: skip
    return [fmean(get(o) for o in outcomes) for get in getters], all(o.agree for o in outcomes)


def null_runs(runs: int) -> float:
    """In how many of so many runs, in percent, `betting` accepts an equal skill at any of 40 looks."""
    fooled = 0
    for seed in range(runs):
        rng = random.Random(seed)
        p = [rng.random() for _ in KEYS]
        current = [rng.random() < q for q in p]
        for look in range(1, STEPS + 1):
            differences = [float((rng.random() < q) - c) for q, c in zip(p, current, strict=True)]
            if sum(differences) > 0 and highest_e_value(differences) >= threshold(ALPHA, look):
                fooled += 1
                break
    share = 100 * fooled / runs
    print(f"\n### `betting` in {runs} runs of {STEPS} looks in which no candidate is better\n")
    print(f"Accepted one in {fooled} runs: {share:.2f} %, where at most {100 * ALPHA:g} % may.")
    return share


def sweep(runs: int) -> dict[str, list[float]]:
    """Gain and curse by how often current is measured again."""
    every = (0, 2, 5, 8)
    print("\n### How often to measure current again (`strict`, `curtail`)\n")
    print("| refresh_every | true gain | winner's curse | steps |")
    print("|---|---|---|---|")
    rows = []
    for n in every:
        row, _ = averages(Setting(curtail=True, refresh_every=n), runs)
        rows.append(row)
        print(f"| {n or 'never'} | {row[0]:.1f} | {row[1]:.1f} | {row[2]:.1f} |", flush=True)
    return {"true gain": [r[0] for r in rows], "winner's curse": [r[1] for r in rows]}


def bars_met(found: dict[str, list[float]], fooled: float) -> list[str]:
    """Which of the bars that the recommended setting has to pass it does not."""
    plain, best = found["strict, plain"], found[next(n for n in found if "recommended" in n)]
    bars = {
        "true gain at least 1.3 times plain's": best[0] >= 1.3 * plain[0],
        "winner's curse at most 6 points": best[1] <= 6.0,
        "at least 20 % of validation saved": best[3] >= 20.0,
        "betting within its bound": fooled <= 100 * ALPHA,
    }
    return [name for name, met in bars.items() if not met]


def main() -> None:
    """Print the tables, write the plots, and fail when a bar is missed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--null-runs", type=int, default=10_000)
    parser.add_argument("--plots", type=Path)
    given = parser.parse_args()
    looks = single_looks(2_000)
    found = whole_runs(given.runs)
    swept = sweep(given.runs)
    fooled = null_runs(given.null_runs)
    if given.plots:
        groups = ["5 points worse", "equal", "5 better", "10 better"]
        plot = bars(
            "One look at 40 tasks: how often each rule accepts", "% of tries", groups, looks
        )
        (given.plots / "gate-one-look.svg").write_text(plot)
        ticks = ["never", "2", "5", "8"]
        title = "Measuring current again every n steps, at equal rollouts"
        (given.plots / "gate-refresh.svg").write_text(lines(title, "points", ticks, swept))
        names = [
            "strict, plain",
            "curtail",
            "recommended",
            "paired",
            "betting",
        ]
        series = {"true gain": [round(r[0], 1) for r in found.values()],
                  "winner's curse": [round(r[1], 1) for r in found.values()]}  # fmt: skip
        title = "Whole runs at equal rollouts"
        (given.plots / "gate-runs.svg").write_text(bars(title, "points", names, series))
    missed = bars_met(found, fooled)
    if missed:
        raise SystemExit("missed: " + "; ".join(missed))
    print("\nAll bars met.")


if __name__ == "__main__":
    main()
