"""Versions measured side by side, in words: the table, the means, and how two of them compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skillgit.cli.show.output import count, number, print_json, print_table, printable
from skillgit.evaluation.standalone import Scores
from skillgit.gate import TIE, select_gate_score
from skillgit.gate.statistics import CONFIDENCE, Comparison, compare
from skillgit.records import Metric, Score

_PERCENT = f"{CONFIDENCE:.0%}"


@dataclass(frozen=True)
class Measured:
    """A version as it was named, with its scores."""

    name: str
    scores: Scores


@dataclass(frozen=True)
class Report:
    """Versions on the same tasks. `keys` has each task's key by its id; the first is the base."""

    versions: Sequence[Measured]
    keys: Mapping[str, str]
    where: str
    metric: Metric
    mixed_weight: float

    @property
    def base(self) -> Measured:
        """The version that the others are compared with."""
        return self.versions[0]

    def number_of(self, score: Score | None) -> float | None:
        """A score by the metric."""
        if score is None:
            return None
        return select_gate_score(score.hard, score.soft, self.metric, self.mixed_weight)

    def task(self, version: Measured, key: str) -> float | None:
        """One task's score, over all its measurements."""
        return self.number_of(version.scores.mean_of(key))

    def mean(self, version: Measured) -> float | None:
        """A version's mean over the tasks that have a score."""
        return self.number_of(version.scores.mean)

    def differences(self, version: Measured) -> list[float]:
        """What a version has over the base, on each task scored on both sides."""
        pairs = ((self.task(self.base, k), self.task(version, k)) for k in self._distinct())
        return [new - old for old, new in pairs if old is not None and new is not None]

    def compared(self, version: Measured) -> tuple[float, Comparison] | None:
        """The difference of the means on tasks scored on both sides, and what it says."""
        found = self.differences(version)
        comparison = compare(found)
        return None if comparison is None else (sum(found) / len(found), comparison)

    def _distinct(self) -> list[str]:
        return list(dict.fromkeys(self.keys.values()))


def print_report(report: Report) -> None:
    """Print it for a person."""
    tasks = count(len(report.keys), f"{report.where} task".strip())
    print(f"{tasks}, metric {report.metric.value}\n")
    head = ["task", *(printable(v.name) for v in report.versions)]
    two = len(report.versions) == 2
    rows = [[printable(task), *_cells(report, key)] for task, key in report.keys.items()]
    rows.append(["mean", *(number(report.mean(v)) for v in report.versions)])
    if two:
        head.append("")
        for row, key in zip(rows, report.keys.values(), strict=False):
            row.append(_change(report, key))
        rows[-1].append("")
    print_table(head, rows, right=frozenset(range(1, len(report.versions) + 1)))
    print()
    for version in report.versions:
        print(_source(version))
    for version in report.versions[1:]:
        print()
        print(compared_words(report, version))


def compared_words(report: Report, version: Measured) -> str:
    """How a version compares with the base, and how sure that is."""
    names = f"{printable(version.name)} against {printable(report.base.name)}"
    found = report.compared(version)
    if found is None:
        return f"{names}: no task has a score on both sides"
    difference, comparison = found
    interval = comparison.interval
    what = "" if _is_net_share(difference, comparison) else "net share of tasks better "
    if what:
        what += f"{comparison.net_share:+.4f}, "
    tasks = count(comparison.n, "task")
    return (
        f"{names}: {difference:+.4f} on {tasks} scored on both sides\n"
        f"  {comparison.better} better, {comparison.worse} worse, {comparison.equal} equal; "
        f"sign test p = {comparison.p:.3g}\n"
        f"  {what}{_PERCENT} interval {interval.low:+.4f} to {interval.high:+.4f}"
    )


def print_objects(report: Report) -> None:
    """Print it as JSON: an object for each task, each version, each comparison."""
    for task, key in report.keys.items():
        scores = {v.name: _pairs(v.scores.tasks.get(key, ())) for v in report.versions}
        print_json("task", {"task": task, "key": key, "scores": scores})
    for version in report.versions:
        print_json("version", _version_fields(report, version))
    for version in report.versions[1:]:
        found = report.compared(version)
        fields = {"rev": version.name, "base": report.base.name, "confidence": CONFIDENCE}
        if found is not None:
            difference, comparison = found
            numbers = comparison.model_dump(mode="json")
            fields |= {**numbers, "n": comparison.n, "difference": difference}
        print_json("comparison", fields)


def _cells(report: Report, key: str) -> list[str]:
    return [number(report.task(version, key)) for version in report.versions]


def _change(report: Report, key: str) -> str:
    old, new = (report.task(version, key) for version in report.versions)
    if old is None or new is None:
        return "unscored"
    found = compare([new - old])
    if found is None or found.equal:
        return ""
    return "better" if found.better else "worse"


def _source(version: Measured) -> str:
    scores = version.scores
    total = sum(len(measurements) for measurements in scores.tasks.values())
    parts = [f"{total - scores.measured} from the ledger", f"{scores.measured} measured now"]
    unscored = len(scores.tasks) - scores.scored
    if unscored:
        parts.append(f"{count(unscored, 'task')} without a score, left out of the mean")
    return f"{printable(version.name)}: {count(total, 'score')}: {', '.join(parts)}"


def _is_net_share(difference: float, comparison: Comparison) -> bool:
    return abs(difference - comparison.net_share) <= TIE


def _version_fields(report: Report, version: Measured) -> dict[str, object]:
    scores, mean = version.scores, version.scores.mean
    total = sum(len(measurements) for measurements in scores.tasks.values())
    return {
        "rev": version.name,
        "object": scores.object_id,
        "metric": report.metric.value,
        "score": report.mean(version),
        "hard": mean.hard if mean else None,
        "soft": mean.soft if mean else None,
        "n_tasks": len(scores.tasks),
        "n_scored": scores.scored,
        "from_ledger": total - scores.measured,
        "measured": scores.measured,
    }


def _pairs(measurements: Sequence[Score]) -> list[tuple[float, float]]:
    return [(score.hard, score.soft) for score in measurements]
