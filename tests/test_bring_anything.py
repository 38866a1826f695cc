"""Whatever people bring is trained with: each judge, each reader, programs as agents, over HTTP."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from projects import CONFIG, TOPICS, Project, brief_tasks

from skillgit.config import parse_config
from skillgit.evaluation.wiring import Runtime
from skillgit.history import StepNote
from skillgit.models.journal import Journal
from skillgit.models.simulated.server import ServerSettings, SimulatedServer, running
from skillgit.prompting.prompts import load_prompts
from skillgit.records import Action, EditOp
from skillgit.runtime.progress import Progress
from skillgit.store.git.repository import open_repository
from skillgit.store.git_store import GitStore
from skillgit.tasks import load_tasks
from skillgit.train import train
from skillgit.training.resume import open_run
from skillgit.training.state import Recorded
from skillgit.training.wiring import open_training_context

GUIDE = Path(__file__).parents[1] / "docs" / "how-to" / "bring-your-own-agent.md"

SECTION = 'It has a section headed "Key Risks".'
CHECK = """\
import json, sys
answer = json.load(sys.stdin)["answer"]
found = "## key risks" in answer.lower()
reason = "" if found else 'needs a section headed "Key Risks"'
print(json.dumps({"hard": float(found), "reason": reason}))
"""


JUDGE = {"kind": "rule", "checks": [{"op": "section_present", "arg": "Key Risks"}]}


@pytest.fixture(scope="module")
def server() -> Iterator[SimulatedServer]:
    with running(ServerSettings(), FixedClock()) as found:
        yield found


def over_http(server: SimulatedServer, *, path: str = "tasks/brief.jsonl", more: str = "") -> str:
    """The config of a small training against the server."""
    local = f'provider = "openai"\nbase_url = "{server.url}"\napi_key_env = ""'
    text = CONFIG.replace('provider = "simulated"', local).replace("epochs = 2", "epochs = 1")
    return text.replace("tasks/brief.jsonl", path) + more


def write_all(project: Project, files: Mapping[str, str]) -> None:
    (project.path / "tasks" / "brief.jsonl").unlink()
    for name, text in files.items():
        project.write(name, text)
    project.commit("Bring our own")


def trained(project: Project, config: str) -> list[Recorded]:
    """A training to its end, with programs trusted, as `skillgit train` opens it."""
    root = project.path
    parsed = parse_config(config)

    def list_files(path: str) -> list[str]:
        whole = root / path
        files = [whole] if whole.is_file() else sorted(whole.rglob("*"))
        return [str(file.relative_to(root)) for file in files if file.is_file()]

    repository = open_repository(root, durable=False)
    store = GitStore(repository, parsed.skill, skill_name="brief", clock=project.clock)
    tasks = load_tasks(
        parsed.tasks, read=lambda path: (root / path).read_bytes(), list_files=list_files
    )
    runtime = Runtime(
        key_of=lambda _role, _model: None,
        clock=project.clock,
        prompts=load_prompts(),
        progress=Progress(),
        variables=os.environ,
        root=str(root),
        may_run=lambda _: True,
    )
    with Journal(repository.private.journal, durable=False) as journal:
        context = open_training_context(parsed, tasks, store, journal, runtime)
        store.prepare()
        return list(train(open_run(context).training))


def actions(records: list[Recorded]) -> list[Action]:
    return [record.entry.action for record in records]


def scores(records: list[Recorded]) -> list[float]:
    return [r.entry.score.score for r in records if r.entry.score.score is not None]


def lines(tasks: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(task) + "\n" for task in tasks)


def judged(judge: Mapping[str, Any], **fields: Any) -> list[dict[str, Any]]:
    return [{**task, "judge": judge, **fields} for task in brief_tasks(4, 4, 2)]


# ── judges ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "judge",
    [
        {"kind": "rule", "checks": [{"op": "section_present", "arg": "Key Risks"}]},
        {"kind": "rubric", "criteria": [SECTION]},
        {"kind": "command", "command": ["python3", "checks/check.py"]},
    ],
    ids=lambda judge: str(judge["kind"]),
)
def test_a_training_learns_what_its_judge_asks_for(
    server: SimulatedServer, tmp_path: Path, judge: dict[str, Any]
) -> None:
    project = Project(tmp_path / "repo")
    write_all(project, {"tasks/t.jsonl": lines(judged(judge)), "checks/check.py": CHECK})
    done = trained(
        project, over_http(server, path="tasks/t.jsonl").replace("epochs = 1", "epochs = 2")
    )
    assert actions(done)[-1] is Action.END
    assert Action.ACCEPT_NEW_BEST in actions(done)
    assert scores(done)[0] == 0.0
    assert max(scores(done)) >= 0.75


@pytest.mark.parametrize(
    ("judge", "reference"),
    [
        ({"kind": "exact"}, "no such answer"),
        ({"kind": "exact", "tolerance": 0.5}, 7),
        ({"kind": "f1"}, ["a brief on the costs and risks", "nothing at all"]),
    ],
    ids=["exact", "numbers", "f1"],
)
def test_a_training_with_references_comes_to_its_end(
    server: SimulatedServer, tmp_path: Path, judge: dict[str, Any], reference: Any
) -> None:
    project = Project(tmp_path / "repo")
    tasks = judged(judge, reference=reference)
    write_all(project, {"tasks/t.jsonl": lines(tasks)})
    done = trained(
        project, over_http(server, path="tasks/t.jsonl", more='[gate]\nmetric = "soft"\n')
    )
    assert actions(done)[-1] is Action.END
    assert (scores(done)[0] > 0) == (judge["kind"] == "f1")
    assert max(scores(done)) < 1.0


def test_a_multiple_choice_is_judged_by_the_option_named(
    server: SimulatedServer, tmp_path: Path
) -> None:
    project = Project(tmp_path / "repo")
    tasks = [
        {**task, "choices": ["Paris", "Confidence: high"], "reference": "B"}
        for task in judged({"kind": "exact"})
    ]
    write_all(project, {"tasks/t.jsonl": lines(tasks)})
    assert actions(trained(project, over_http(server, path="tasks/t.jsonl")))[-1] is Action.END


# ── optimizers ───────────────────────────────────────────────────────────────────────────────


def steps(records: list[Recorded]) -> list[StepNote]:
    return [line for r in records for line in r.entry.lines if isinstance(line, StepNote)]


def test_a_small_optimizer_is_asked_for_rules_alone(
    server: SimulatedServer, tmp_path: Path
) -> None:
    project = Project(tmp_path / "repo")
    checks = [{"op": "section_present", "arg": "Key Risks"}, {"op": "contains", "arg": "TL;DR"}]
    write_all(project, {"tasks/t.jsonl": lines(judged({"kind": "rule", "checks": checks}))})
    config = over_http(server, path="tasks/t.jsonl").replace("epochs = 1", "epochs = 3")
    config = config.replace("[optimizer]\n", '[optimizer]\nstyle = "plain"\n')
    done = trained(project, config)
    assert actions(done)[-1] is Action.END
    assert max(scores(done)) > scores(done)[0] == 0.0
    asked = {name for step in steps(done) for name in step.prompts}
    assert asked == {"reflect_plain"}
    tried = [outcome.edit for step in steps(done) for outcome in step.edits]
    assert tried
    assert {edit.op for edit in tried} == {EditOp.ADD}
    assert all(edit.rationale for edit in tried if edit.support_count)


@pytest.mark.parametrize("refuses", [("json_schema",), ("json_schema", "json_object")], ids=len)
def test_an_endpoint_that_takes_no_schema_is_told_it_in_words(
    refuses: tuple[Any, ...], tmp_path: Path
) -> None:
    project = Project(tmp_path / "repo")
    write_all(project, {"tasks/t.jsonl": lines(judged(JUDGE))})
    with running(ServerSettings(refuses=refuses), FixedClock()) as poor:
        done = trained(
            project, over_http(poor, path="tasks/t.jsonl").replace("epochs = 1", "epochs = 2")
        )
    assert actions(done)[-1] is Action.END
    assert any(patch.patch.edits for step in steps(done) for patch in step.raw_patches)


# ── readers ──────────────────────────────────────────────────────────────────────────────────

SPLITS = ("train",) * 4 + ("val",) * 4 + ("test",) * 2
PROMPTS = tuple(f"Write a brief on {topic}." for topic in TOPICS[: len(SPLITS)])


def table(mark: str) -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=mark)
    writer.writerow(["question", "fold", "judge"])
    for prompt, split in zip(PROMPTS, SPLITS, strict=True):
        writer.writerow([prompt, split, json.dumps(JUDGE)])
    return out.getvalue()


def items(split: str) -> str:
    mine = [p for p, s in zip(PROMPTS, SPLITS, strict=True) if s == split]
    return json.dumps([{"id": p[-20:], "question": p, "judge": JUDGE} for p in mine])


BROUGHT: dict[str, tuple[str, dict[str, str]]] = {
    "our own": (
        "tasks/t.jsonl",
        {
            "tasks/t.jsonl": lines(
                [
                    {"id": p[-20:], "prompt": p, "split": s, "judge": JUDGE}
                    for p, s in zip(PROMPTS, SPLITS, strict=True)
                ]
            )
        },
    ),
    "task_id": (
        "tasks/t.jsonl",
        {
            "tasks/t.jsonl": lines(
                [{"task_id": p[-20:], "task": p, "judge": JUDGE, "source": "x"} for p in PROMPTS]
            )
        },
    ),
    "split folders": ("data", {f"data/{s}/items.json": items(s) for s in ("train", "val", "test")}),
    "evals": (
        "skills/brief/evals/evals.json",
        {
            "skills/brief/evals/evals.json": json.dumps(
                {
                    "skill_name": "brief",
                    "evals": [
                        {"id": i, "prompt": p, "assertions": [SECTION]}
                        for i, p in enumerate(PROMPTS)
                    ],
                }
            )
        },
    ),
    "csv": ("tasks/t.csv", {"tasks/t.csv": table(",")}),
    "tsv": ("tasks/t.tsv", {"tasks/t.tsv": table("\t")}),
    "json": (
        "tasks/t.json",
        {
            "tasks/t.json": json.dumps(
                {
                    "data": [
                        {"question": p, "split": s, "judge": JUDGE}
                        for p, s in zip(PROMPTS, SPLITS, strict=True)
                    ]
                }
            )
        },
    ),
}


@pytest.mark.parametrize("shape", BROUGHT)
def test_a_training_reads_the_tasks_as_they_are_brought(
    server: SimulatedServer, tmp_path: Path, shape: str
) -> None:
    path, files = BROUGHT[shape]
    project = Project(tmp_path / "repo")
    write_all(project, files)
    config = over_http(server, path=path)
    if shape in ("csv", "tsv"):
        config = config.replace(f'path = "{path}"', f'path = "{path}"\ncolumns.split = "fold"')
    done = trained(project, config)
    assert actions(done)[0] is Action.BASELINE
    assert actions(done)[-1] is Action.END
    assert scores(done)[0] == 0.0


# ── programs as agents ───────────────────────────────────────────────────────────────────────


def agents() -> dict[str, tuple[str, str]]:
    """The agents of the guide, by the program that runs them."""
    text = GUIDE.read_text(encoding="utf-8")
    found = dict(re.findall(r"^```(python|sh)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))
    return {"python3": ("agent.py", found["python"]), "sh": ("agent.sh", found["sh"])}


@pytest.mark.parametrize("program", ["python3", "sh"])
def test_the_agents_of_the_guide_are_trained(
    server: SimulatedServer, tmp_path: Path, program: str
) -> None:
    name, source = agents()[program]
    assert len(source.splitlines()) <= 30
    project = Project(tmp_path / "repo")
    judge = {"kind": "rule", "checks": [{"op": "section_present", "arg": "Key Risks"}]}
    write_all(project, {"tasks/t.jsonl": lines(judged(judge)), f"agents/{name}": source})
    config = over_http(server, path="tasks/t.jsonl")
    command = f'[target]\nprovider = "command"\ncommand = ["{program}", "agents/{name}"]\n'
    config = re.sub(r"\[target\]\n.*?(?=\[optimizer\])", command, config, flags=re.DOTALL)
    done = trained(project, config)
    assert actions(done)[-1] is Action.END
    assert scores(done)[0] == 0.0


# ── programs and trust ───────────────────────────────────────────────────────────────────────


def skillgit(project: Project, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "skillgit", *words],
        cwd=project.path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_judge_runs_only_while_it_is_what_a_person_trusted(
    server: SimulatedServer, tmp_path: Path
) -> None:
    project, ran = Project(tmp_path / "repo"), tmp_path / "ran"
    check = f"open({str(ran)!r}, 'a').close()\n{CHECK}"
    judge = {"kind": "command", "command": ["python3", "checks/check.py"]}
    files = {"tasks/t.jsonl": lines(judged(judge)), "checks/check.py": check}
    write_all(project, {**files, "skillgit.toml": over_http(server, path="tasks/t.jsonl")})
    refused = skillgit(project, "eval", "main")
    assert refused.returncode == 1
    assert "judge: run python3 checks/check.py" in refused.stderr
    assert not ran.exists()
    assert skillgit(project, "trust", "--yes").returncode == 0
    assert skillgit(project, "eval", "main").returncode == 0
    assert ran.exists()
    ran.unlink()
    project.write("checks/check.py", f"# changed by somebody\n{check}")
    assert skillgit(project, "train").returncode == 1
    assert not ran.exists()
