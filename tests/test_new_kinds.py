"""Kinds announce themselves: one made up in this file is used through the command line."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pytest
from pydantic import ValidationError

from skillgit.cli.app.run import run
from skillgit.config import PROVIDERS, Config, ModelConfig, ProviderKind
from skillgit.config.trust import demands
from skillgit.environments.registry import ENVIRONMENTS, EnvironmentKind, EnvironmentResources
from skillgit.gate import RULES, GateRule
from skillgit.gate.comparison import Comparison, Objection
from skillgit.gate.rule import Sizes
from skillgit.judges.registry import JUDGES, JudgeKind
from skillgit.judges.settings import JudgeResources, JudgeSettings
from skillgit.models import Wiring
from skillgit.ports import Paid, Ruling, Trial
from skillgit.records import (
    Grade,
    ModelReply,
    ModelRequest,
    Rollout,
    Score,
    Skill,
    Speaker,
    Task,
    Usage,
)
from skillgit.sleep.harvest.lines import Lines
from skillgit.sleep.harvest.sessions import Origin, Transcript, Turn
from skillgit.sleep.harvest.source import Places, Source
from skillgit.sleep.harvest.sources import SOURCES

TOPICS = ("tides", "bees", "trains", "seeds", "libraries", "satellites", "cargo bikes", "weather")
Git = Callable[..., str]


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Project:
    """A repository that is set up, and the command line in this process."""

    root: Path
    git: Git
    capture: pytest.CaptureFixture[str]

    def set_up(
        self, *, judge: Mapping[str, Any], target: str = 'provider = "simulated"', more: str = ""
    ) -> None:
        (self.root / "SKILL.md").write_text("# Brief writer\n\n- Write one page.\n")
        tasks = [
            {"id": f"t{i}", "prompt": f"Write about {topic}.", "judge": judge}
            for i, topic in enumerate(TOPICS)
        ]
        (self.root / "tasks.jsonl").write_text("".join(f"{json.dumps(t)}\n" for t in tasks))
        (self.root / "skillgit.toml").write_text(
            f'[skill]\npath = "SKILL.md"\n[tasks]\npath = "tasks.jsonl"\n'
            f'[target]\nmodel = "sim-target"\n{target}\n'
            f'[optimizer]\nprovider = "simulated"\nmodel = "sim-optimizer"\n{more}'
        )
        self.git("add", ".")
        self.git("commit", "--quiet", "-m", "Set up skillgit")

    def run(self, *words: str) -> Done:
        self.capture.readouterr()
        code = run(["-C", str(self.root), *words], os.environ)
        said = self.capture.readouterr()
        return Done(code, said.out, said.err)

    def hard_scores(self) -> list[float]:
        """What each task scores with the skill as it is."""
        done = self.run("eval", "HEAD", "--json")
        assert done.code == 0, done.err
        found = [json.loads(line) for line in done.out.splitlines()]
        return [next(iter(f["scores"].values()))[0][0] for f in found if f["kind"] == "task"]


@pytest.fixture
def project(repo: Path, git: Git, capsys: pytest.CaptureFixture[str]) -> Project:
    return Project(repo, git, capsys)


CONTAINS = {"kind": "rule", "checks": [{"op": "contains", "arg": "ECHO"}]}


# ── A judge.


class LengthSettings(JudgeSettings):
    least: int


class LengthJudge:
    def __init__(self, least: int) -> None:
        self._least = least

    def grade(self, rollout: Rollout, paid: Paid, slot: str) -> Grade:
        hard = float(len(rollout.answer) >= self._least)
        return Grade(score=Score(hard=hard, soft=hard), reason="its length")


def build_length(task: Task, settings: LengthSettings, resources: JudgeResources) -> LengthJudge:
    return LengthJudge(settings.least)


@pytest.mark.parametrize(("least", "score"), [(1, 1.0), (1_000_000, 0.0)])
def test_a_new_judge_grades(
    project: Project, monkeypatch: pytest.MonkeyPatch, least: int, score: float
) -> None:
    monkeypatch.setitem(JUDGES, "length", JudgeKind(LengthSettings, build_length, version=1))
    project.set_up(judge={"kind": "length", "least": least})
    assert set(project.hard_scores()) == {score}


# ── A provider.


class EchoModel:
    def complete(self, request: ModelRequest) -> ModelReply:
        return ModelReply(text=f"ECHO {request.messages[-1].content}", usage=Usage())


def build_echo(config: ModelConfig, wiring: Wiring) -> EchoModel:
    return EchoModel()


def test_a_new_provider_answers(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    echo = ProviderKind(
        needs_key=False, sends_away=False, runs_program=False, build="test_new_kinds:build_echo"
    )
    monkeypatch.setitem(PROVIDERS, "echo", echo)
    project.set_up(judge=CONTAINS, target='provider = "echo"')
    assert set(project.hard_scores()) == {1.0}
    assert "sim-target, echo answers" in project.run("doctor").out


@pytest.mark.parametrize("unsaid", ["needs_key", "sends_away", "runs_program"])
def test_a_provider_that_does_not_say_what_it_does_is_refused(unsaid: str) -> None:
    said = {"needs_key": True, "sends_away": True, "runs_program": False, "build": "a:b"}
    said.pop(unsaid)
    with pytest.raises(ValidationError, match=unsaid):
        ProviderKind.model_validate(said)


def test_a_new_providers_key_needs_a_persons_word(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyed = ProviderKind(
        needs_key=True, sends_away=True, runs_program=False, build="test_new_kinds:build_echo"
    )
    monkeypatch.setitem(PROVIDERS, "keyed", keyed)
    project.set_up(judge=CONTAINS, target='provider = "keyed"\napi_key_env = "KEYED_KEY"')
    done = project.run("eval", "HEAD")
    assert done.code == 1
    assert "send the key in KEYED_KEY to where keyed sends it" in done.out + done.err
    assert "ECHO" not in done.out


@pytest.mark.parametrize("name", PROVIDERS)
def test_every_provider_asks_for_trust_as_its_entry_says(name: str) -> None:
    kind = PROVIDERS[name]
    target: dict[str, Any] = {"provider": name, "model": "m"}
    if kind.runs_program:
        target["command"] = ["true"]
    asked = demands(_config({**target, "base_url": "http://lab.example/v1"}))
    assert bool(asked) == (kind.needs_key or kind.runs_program)
    at_home = demands(_config({**target, "api_key_env": kind.default_key_variable}))
    assert bool(at_home) == kind.runs_program


def _config(target: dict[str, Any]) -> Config:
    return Config.model_validate(
        {
            "skill": {"path": "SKILL.md"},
            "tasks": {"path": "tasks.jsonl"},
            "target": target,
            "optimizer": {"provider": "simulated", "model": "o"},
        }
    )


# ── An environment.


class SkillOut:
    """Answers with the skill's own length, and asks nobody."""

    fingerprint: Mapping[str, str | int | float | None] = {"environment": "skill-out", "version": 1}

    def max_calls(self, task: Task) -> int:
        return 0

    def rollout(
        self,
        task: Task,
        skill: Skill,
        paid: Paid,
        *,
        purpose: str,
        slot: str,
        seed: int,
    ) -> Rollout:
        return Rollout(task_id=task.id, answer=f"ECHO {len(skill.main.data)}")


def build_skill_out(config: ModelConfig, resources: EnvironmentResources) -> SkillOut:
    return SkillOut()


def test_a_target_works_in_a_new_environment(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = EnvironmentKind(build_skill_out, needs_model=False, runs_program=False)
    monkeypatch.setitem(ENVIRONMENTS, "skill-out", kind)
    project.set_up(judge=CONTAINS, target='provider = "simulated"\nenvironment = "skill-out"')
    assert set(project.hard_scores()) == {1.0}


@pytest.mark.parametrize("name", ["command", "made-up"])
def test_an_environment_that_cannot_be_is_refused(project: Project, name: str) -> None:
    project.set_up(judge=CONTAINS, target=f'provider = "simulated"\nenvironment = "{name}"')
    done = project.run("eval", "HEAD")
    assert done.code == 1
    assert "target.environment: " in done.err


# ── A gate rule.


def never(trial: Trial) -> Ruling:
    return Comparison(trial).rule(Objection(reason="nothing is ever good enough"))


def never_accepts(sizes: Sizes, current: float, candidate: float) -> float:
    return 0.0


def test_a_new_rule_decides_with_its_own_power(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = GateRule(never, never_accepts, summary="`never`", explanation="`never`")
    monkeypatch.setitem(RULES, "never", rule)
    check = {"op": "contains", "arg": "## Key Risks"}
    project.set_up(
        judge={"kind": "rule", "checks": [check]},
        more='[gate]\nrule = "never"\n[train]\nepochs = 1\n',
    )
    done = project.run("train")
    assert done.code == 0, done.err
    said = done.out + done.err
    assert "it accepts an equal skill in 0% of tries, and no gain is sure to be seen" in said
    log = project.git("log", "--all", "--format=%B")
    assert "Skillopt-Action: accept" not in log.replace("Skillopt-Action: accept_", "")


# ── A source of sessions.


def read_notepad(path: Path, stream: IO[bytes], lines: Lines) -> Sequence[Transcript]:
    turns = [
        Turn(
            id=str(i),
            speaker=Speaker.USER if i % 2 == 0 else Speaker.ASSISTANT,
            origin=Origin.HUMAN if i % 2 == 0 else Origin.MACHINE,
            text=str(record.get("said")),
        )
        for i, record in enumerate(lines)
    ]
    return (Transcript(source="notepad", session_ids=(path.stem,), turns=tuple(turns)),)


def test_sessions_of_a_new_source_are_harvested(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def folders(places: Places) -> Sequence[Path]:
        return [tmp_path / "pads"]

    def is_pad(path: Path) -> bool:
        return path.suffix == ".pad"

    source = Source(folders, is_pad, read_notepad, version=1, tells_project=False)
    monkeypatch.setitem(SOURCES, "notepad", source)
    said = ("Write the brief on tides", "Done.", "no, use pytest instead of unittest", "Sorry.")
    (tmp_path / "pads").mkdir()
    (tmp_path / "pads" / "one.pad").write_text("".join(f'{{"said": "{s}"}}\n' for s in said))
    project.set_up(judge=CONTAINS)
    done = project.run("harvest", "--source", f"notepad:{tmp_path / 'pads'}", "--list")
    assert done.code == 0, done.err
    assert "notepad" in done.out + done.err
    assert "one" in done.out + done.err
