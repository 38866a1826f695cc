"""Whether the loop ends with the good rules in and the harmful ones out, where rules conflict.

python benchmarks/conflicts.py [--seeds 20] [--verbose]

The simulated model throughout, in process: this is a simulation and says nothing about a real
model. Each set has two kinds of text whose house rules pull in different directions; a rule that
one kind needs breaks the other when it is stated for all.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from skillgit.cli.app.clock import SystemClock
from skillgit.config import parse_config
from skillgit.evaluation.wiring import Runtime
from skillgit.models.journal import Journal
from skillgit.models.simulated.catalogue import OBSTACLES
from skillgit.models.simulated.obedience import StatedRule, stated_rules
from skillgit.prompting.prompts import load_prompts
from skillgit.runtime.progress import Progress
from skillgit.store.git.repository import open_repository
from skillgit.store.git_store import GitStore
from skillgit.tasks import load_tasks
from skillgit.train import train
from skillgit.training.resume import open_run
from skillgit.training.wiring import open_training_context

SUBJECTS = (
    "tidal power", "rail freight", "urban beekeeping", "desalination", "night trains",
    "soil carbon", "heat pumps", "public libraries", "satellite imaging", "peat bogs",
    "cargo bikes", "sea walls", "seed banks", "slow steaming", "green roofs", "tram networks",
    "kelp farming", "paper recycling", "micro grids", "school gardens", "river locks",
    "wind turbines", "street trees", "district heating", "grain silos", "ferry lines",
)  # fmt: skip

SKILL = """---
name: house-style
description: Writes short texts in the house style.
---
# House style

- Name who is affected.
"""

CONFIG = """
[skill]
path = "SKILL.md"
[tasks]
path = "tasks.jsonl"
[target]
provider = "simulated"
model = "sim-target"
[optimizer]
provider = "simulated"
model = "sim-optimizer"
[train]
epochs = {epochs}
batch_size = 8
minibatch_size = 4
workers = 1
seed = {seed}
"""


SHORT_KINDS = ("caption",)
UNCODED = {"op": "regex", "arg": r"\A(?!\s*\{)", "hint": "an answer is prose; it is not JSON"}
UNSHORT = ({"op": "min_chars", "arg": 150},)
UNSHOUTED = (
    {"op": "regex", "arg": "[A-Z]", "hint": "sentences begin with a capital letter"},
    {"op": "regex", "arg": "[a-z]{3}", "hint": "no text is in capitals throughout"},
)
"""What every text of the house has anyway, so that any harmful line does harm that can be seen."""


@dataclass(frozen=True)
class Needed:
    """A rule that texts of one kind need: its name in the simulation, and how it is checked."""

    kind: str
    rule: str
    check: dict[str, object]


@dataclass(frozen=True)
class ConflictSet:
    """Tasks of several kinds; `start` are lines that the skill has from the start."""

    name: str
    needed: tuple[Needed, ...]
    start: tuple[str, ...] = ()

    def tasks(self) -> list[dict[str, object]]:
        """24 tasks a kind: 12 to train on, 12 held out."""
        kinds = list(dict.fromkeys(needed.kind for needed in self.needed))
        return [
            {
                "id": f"{kind}-{number:02d}",
                "prompt": f"Write a {kind} on {SUBJECTS[number]}.",
                "split": "train" if number % 2 else "val",
                "judge": {
                    "kind": "rule",
                    "checks": [
                        *(needed.check for needed in self.needed if needed.kind == kind),
                        *(UNSHORT if kind not in SHORT_KINDS else ()),
                        *(UNSHOUTED if kind != "slogan" else ()),
                        UNCODED,
                    ],
                },
            }
            for kind in kinds
            for number in range(24)
        ]


CAPITALS = ConflictSet(
    "all lower case against a required word in capitals",
    (
        Needed("slogan", "lower_case", {
            "op": "regex", "arg": r"\A[^A-Z]*\Z", "hint": "a slogan is written in lower case",
        }),
        Needed("notice", "phrase", {
            "op": "regex", "arg": r"\bURGENT\b", "hint": 'the word "URGENT" is missing',
        }),
    ),
)  # fmt: skip
LENGTH = ConflictSet(
    "a length that only fits some tasks",
    (
        Needed("caption", "at_most_words", {
            "op": "regex", "arg": r"\A\s*\S+(?:\s+\S+){0,19}\s*\Z",
            "hint": "a caption is too long: at most 20 words",
        }),
        Needed("report", "section", {
            "op": "section_present", "arg": "Key Risks",
        }),
    ),
)  # fmt: skip
INHERITED = ConflictSet(
    "a harmful line that was there from the start",
    (
        Needed("notice", "phrase", {
            "op": "regex", "arg": r"\bURGENT\b", "hint": 'the word "URGENT" is missing',
        }),
        Needed("report", "section", {
            "op": "regex", "arg": "(?m)^## Key Risks$",
            "hint": 'the section "Key Risks" is missing',
        }),
    ),
    start=("Write everything in lower case.",),
)  # fmt: skip
SETS = (CAPITALS, LENGTH, INHERITED)


@dataclass(frozen=True)
class Ending:
    """What a run ended with: the best skill's score, what it lacks, and what harms in it."""

    score: float
    missing: tuple[str, ...]
    harmful: tuple[str, ...]
    skill: str
    verdicts: str

    @property
    def is_good(self) -> bool:
        """Whether every good rule is in and every harmful one out."""
        return not self.missing and not self.harmful


def run(conflict: ConflictSet, seed: int, *, epochs: int) -> Ending:
    """Train on a set and look at the best skill."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        _make_repository(path, conflict)
        config = parse_config(CONFIG.format(epochs=epochs, seed=seed))
        clock = SystemClock()
        repository = open_repository(path, durable=False)
        store = GitStore(repository, config.skill, skill_name="house-style", clock=clock)
        tasks = load_tasks(
            config.tasks, read=lambda p: (path / p).read_bytes(), list_files=lambda p: [p]
        )
        with Journal(repository.private.journal, durable=False) as journal:
            runtime = Runtime(
                key_of=lambda _role, _model: None,
                clock=clock,
                prompts=load_prompts(),
                progress=Progress(),
            )
            context = open_training_context(config, tasks, store, journal, runtime)
            records = list(train(open_run(context).training))
        best = store.best()
        text = store.skill_at(best).main.data.decode() if best else ""
        verdicts = " ".join(r.entry.action.value for r in records if r.note)
        return _ending(conflict, text, records[-1].entry.state.best.score or 0.0, verdicts)


def _make_repository(path: Path, conflict: ConflictSet) -> None:
    (path / "SKILL.md").write_text(SKILL + "".join(f"- {line}\n" for line in conflict.start))
    (path / "tasks.jsonl").write_text("".join(json.dumps(t) + "\n" for t in conflict.tasks()))
    for words in (
        ("init", "--quiet", "--initial-branch=main"),
        ("config", "user.name", "Bench"),
        ("config", "user.email", "bench@localhost"),
        ("add", "--all"),
        ("commit", "--quiet", "--message", "Start"),
    ):
        subprocess.run(["git", *words], cwd=path, check=True, capture_output=True)


def _ending(conflict: ConflictSet, text: str, score: float, verdicts: str) -> Ending:
    stated = stated_rules(text)
    kinds = {needed.kind for needed in conflict.needed}
    missing = [
        f"{needed.rule} for {needed.kind}"
        for needed in conflict.needed
        if not any(rule.rule.name == needed.rule and _reaches(rule, needed.kind) for rule in stated)
    ]
    harmful = [
        f"{rule.rule.name} for {kind}"
        for rule in stated
        for kind in kinds
        if rule.rule.name in OBSTACLES
        and _reaches(rule, kind)
        and not _wanted(conflict, rule, kind)
    ]
    return Ending(score, tuple(missing), tuple(harmful), text, verdicts)


def _reaches(rule: StatedRule, kind: str) -> bool:
    return rule.fits(f"Write a {kind} on something.")


def _wanted(conflict: ConflictSet, rule: StatedRule, kind: str) -> bool:
    return any(n.kind == kind and n.rule == rule.rule.name for n in conflict.needed)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print how many seeds end well; 1 when fewer than 19 of 20 do on any set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--verbose", action="store_true")
    asked = parser.parse_args(arguments)
    enough = True
    for conflict in SETS:
        endings = [run(conflict, seed, epochs=asked.epochs) for seed in range(asked.seeds)]
        good = sum(ending.is_good for ending in endings)
        enough &= good >= 0.95 * asked.seeds
        mean = sum(ending.score for ending in endings) / len(endings)
        print(f"{conflict.name}: {good} of {asked.seeds} end well; mean best score {mean:.3f}")
        for seed, ending in enumerate(endings):
            if asked.verbose and not ending.is_good:
                print(f"  seed {seed}: {ending.missing} {ending.harmful} {ending.score}")
                print(f"  {ending.verdicts}\n{ending.skill}")
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main())
