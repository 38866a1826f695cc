"""A repository whose person corrected their agents, for nights over the simulated model."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from conftest import FixedClock
from projects import Project
from transcripts import jsonl

from skillgit.config import Config, parse_config
from skillgit.evaluation.wiring import Runtime
from skillgit.models import build_model
from skillgit.models.journal import Journal
from skillgit.ports import Model
from skillgit.prompting.prompts import load_prompts
from skillgit.records import JudgeSpec, ModelReply, ModelRequest, Role, Split, Task
from skillgit.runtime.progress import Progress
from skillgit.sleep.memory.state import SleepState, parse_state
from skillgit.sleep.night.cycle import CycleOutcome, run_sleep_cycle
from skillgit.sleep.night.inputs import Gathered, Parts
from skillgit.sleep.night.plan import PlanFile
from skillgit.store.git.repository import open_repository
from skillgit.store.git_store import GitStore
from skillgit.store.runs.sleep_ref import read_sleep

START = datetime(2026, 2, 2, 9, 0, tzinfo=UTC)

REQUESTS = (
    "Write the release notes for the parser in the QUARTZ-17 milestone",
    "Draft a short summary of the open bugs in the tokenizer module",
    "Prepare an overview of the caching layer for the new colleague Nightjar",
    "Write a changelog entry about the retry logic in the uploader",
    "Summarise the discussion on the storage format for the team",
)
CORRECTION = 'No, you forgot it again. Always end with the line "Checked: yes".'


def at(week: int, minute: float) -> str:
    """A time in one of three weeks, as agents write it."""
    time = START + timedelta(weeks=week, minutes=minute)
    return time.isoformat().replace("+00:00", "Z")


def claude_session(
    folder: Path, repo: Path, name: str, week: int, request: str, correction: str
) -> None:
    """A session of Claude Code in which a person corrects the answer."""
    turns = [
        ("user", request),
        ("assistant", "Here it is. It is done."),
        ("user", correction),
        ("assistant", "Mended."),
    ]
    records = []
    for number, (kind, text) in enumerate(turns, start=1):
        content: object = text if kind == "user" else [{"type": "text", "text": text}]
        record = {
            "parentUuid": records[-1]["uuid"] if records else None,
            "isSidechain": False,
            "userType": "external",
            "cwd": str(repo),
            "sessionId": name,
            "version": "2.1.197",
            "gitBranch": "main",
            "entrypoint": "cli",
            "type": kind,
            "uuid": f"{name}-record-{number:04d}",
            "timestamp": at(week, number),
            "message": {"role": kind, "content": content},
        }
        if kind == "user":
            record |= {"promptSource": "typed", "origin": {"kind": "human"}}
        records.append(record)
    place = folder / str(repo).replace("/", "-")
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{name}.jsonl").write_bytes(jsonl(*records))


def codex_session(
    folder: Path, repo: Path, name: str, week: int, request: str, correction: str
) -> None:
    """A session of Codex in which a person corrects the answer."""

    def message(minute: float, text: str, role: str) -> dict[str, object]:
        kind = "output_text" if role == "assistant" else "input_text"
        payload = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
        return {"timestamp": at(week, minute), "type": "response_item", "payload": payload}

    def event(minute: float, text: str) -> dict[str, object]:
        payload = {"type": "user_message", "message": text}
        return {"timestamp": at(week, minute), "type": "event_msg", "payload": payload}

    meta = {"id": name, "cwd": str(repo), "originator": "codex_cli_rs", "source": "cli"}
    records = [
        {"timestamp": at(week, 0), "type": "session_meta", "payload": meta},
        message(1, request, "user"),
        event(1, request),
        message(2, "Here it is.", "assistant"),
        message(3, correction, "user"),
        event(3, correction),
        message(4, "Mended.", "assistant"),
    ]
    place = folder / "2026" / "02" / "02"
    place.mkdir(parents=True, exist_ok=True)
    (place / f"rollout-2026-02-02T09-00-00-{name}.jsonl").write_bytes(jsonl(*records))


def write_sessions(home: Path, repo: Path, correction: str = CORRECTION) -> None:
    """Three weeks, one project, the same correction in five different requests."""
    for number, request in enumerate(REQUESTS):
        writer = codex_session if number % 2 else claude_session
        root = home / (".codex/sessions" if number % 2 else ".claude/projects")
        writer(root, repo, f"0199c0de-0000-7000-8000-00000000000{number}", number % 3, request,
               correction)  # fmt: skip


CONFIG = """
[skill]
path = "skills/notes/SKILL.md"
[tasks]
path = "tasks.jsonl"
[target]
provider = "simulated"
model = "sim-target"
[target.simulation]
obedience = 1.0
[optimizer]
provider = "simulated"
model = "sim-optimizer"
"""

SKILL = """---
name: notes
description: Writes notes. Use for notes, summaries and changelogs.
---
# Notes

- Write in full sentences.
"""

MEMORY = "# How we work here\n\nBe brief.\n"


def task(name: str, prompt: str, split: str, text: str = "Checked: yes") -> dict[str, object]:
    """A task that asks for one line."""
    check = {"op": "contains", "arg": text, "hint": f'end with the line "{text}"'}
    judge = {"kind": "rule", "checks": [check]}
    return {"id": name, "prompt": prompt, "split": split, "judge": judge}


def as_lines(tasks: list[dict[str, object]]) -> str:
    """The tasks as a file has them."""
    return "".join(json.dumps(item) + "\n" for item in tasks)


Wrap = Callable[[Model], Model]


def nothing_gathered(_since: datetime | None) -> Gathered:
    return Gathered()


class House(Project):
    """A repository in which nights are slept."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.clock = FixedClock()
        self.config_text = CONFIG

    def config(self, more: str = "") -> Config:
        return parse_config(f"{self.config_text}\n{more}")

    @contextmanager
    def parts(
        self,
        config: Config,
        *,
        gather: Callable[[datetime | None], Gathered] = nothing_gathered,
        wrap: Wrap | None = None,
        stand_ins: dict[Role, Model] | None = None,
    ) -> Iterator[Parts]:
        repository = open_repository(self.path)
        store = GitStore(
            repository,
            config.skill,
            skill_name="notes",
            clock=self.clock,
            command="sleep",
            private=True,
            memory=True,
        )
        store.prepare()
        models = dict(stand_ins or {})
        if wrap is not None:
            for role in (Role.TARGET, Role.OPTIMIZER):
                settings = getattr(config, role.value)
                models[role] = wrap(
                    build_model(settings, api_key=None, clock=self.clock, workers=4)
                )
        with Journal(repository.private.journal, durable=False) as journal:
            yield Parts(
                store=store,
                journal=journal,
                runtime=Runtime(
                    key_of=lambda _role, _model: None,
                    clock=self.clock,
                    prompts=load_prompts(),
                    progress=Progress(),
                    stand_ins=models,
                ),
                plans=PlanFile(repository.private.nights),
                project="/home/ada/notes",
                gather=gather,
            )

    def sleep(
        self,
        tasks: list[Task] | None = None,
        *,
        sleep: str = "",
        dry_run: bool = False,
        gather: Callable[[datetime | None], Gathered] = nothing_gathered,
        wrap: Wrap | None = None,
        stand_ins: dict[Role, Model] | None = None,
    ) -> CycleOutcome:
        config = self.config(f"[sleep]\n{sleep}" if sleep else "")
        with self.parts(config, gather=gather, wrap=wrap, stand_ins=stand_ins) as parts:
            return run_sleep_cycle(config, parts=parts, seed_tasks=tasks, dry_run=dry_run)

    @property
    def state(self) -> SleepState:
        repository = open_repository(self.path)
        with self.parts(self.config()) as parts:
            return parse_state(read_sleep(repository, parts.store.refs))


def make_house(path: Path, files: dict[str, str] | None = None) -> House:
    made = House(path)
    path.mkdir(parents=True)
    made.git("init", "--quiet", "--initial-branch=main")
    made.git("config", "user.name", "Ada Tester")
    made.git("config", "user.email", "ada@example.org")
    default = {"skills/notes/SKILL.md": SKILL, "AGENTS.md": MEMORY, "skillgit.toml": CONFIG}
    for name, text in (default if files is None else files).items():
        made.write(name, text)
    made.commit("Add the skill")
    return made


def ask(name: str, prompt: str, split: str, *texts: str) -> Task:
    """A task whose answer has to hold some texts."""
    wanted = texts or ("Checked: yes",)
    checks = [
        {"op": "contains", "arg": text, "hint": f'end with the line "{text}"'} for text in wanted
    ]
    judge = JudgeSpec(kind="rule", settings={"checks": list(checks)})
    return Task(id=name, prompt=prompt, judge=judge, split=Split(split))


TOPICS = (
    "the parser", "open bugs", "the caching layer", "retry logic", "the storage format",
    "release plans", "the test suite", "new colleagues", "the build farm", "our pricing",
)  # fmt: skip


def asks(train: int = 4, val: int = 3, *texts: str) -> list[Task]:
    """Tasks that all want the same line."""
    splits = ["train"] * train + ["val"] * val
    return [
        ask(f"t{i}", f"Write a note about {TOPICS[i]} for week {i}", split, *texts)
        for i, split in enumerate(splits)
    ]


class Proposing:
    """An optimizer that proposes the same rules whenever it is shown failures, and remembers."""

    def __init__(self, *rules: str, why: str = "It comes up again and again.") -> None:
        self.rules = rules
        self.why = why
        self.prompts: list[str] = []

    def complete(self, request: ModelRequest) -> ModelReply:
        self.prompts.append(request.messages[0].content)
        title = (request.answer_schema or {}).get("title")
        answers: dict[object, object] = {
            "FailureAnalysis": {
                "reasoning": "",
                "failure_summary": [],
                "edits": [
                    {"op": "add", "content": rule, "rationale": self.why, "task_ids": []}
                    for rule in self.rules
                ],
            },
            "SuccessAnalysis": {"reasoning": "", "edits": []},
            "SlowMemory": {"reasoning": "", "memory": f"Rules such as {self.rules[0]!r} came up."},
            "DreamAnswer": {"requests": ["Write a note about whales and their songs"]},
        }
        return ModelReply(text=json.dumps(answers.get(title, {})))

    @property
    def as_optimizer(self) -> dict[Role, Model]:
        """It in the optimizer's place."""
        return {Role.OPTIMIZER: self}


class OnlyMemory(Proposing):
    """An optimizer that has an idea for the memory file alone."""

    def complete(self, request: ModelRequest) -> ModelReply:
        first = request.messages[0].content.partition("## The documents")[2]
        at_skill = first.find("SKILL.md`") < first.find("```") if "SKILL.md`" in first else False
        if at_skill and (request.answer_schema or {}).get("title") == "FailureAnalysis":
            return ModelReply(text='{"reasoning": "", "failure_summary": [], "edits": []}')
        return super().complete(request)


CHECKED = 'Close with a line "Checked: yes".'
OWNER = 'Close with a line "Owner: me".'
HARMFUL = "Keep every answer under five words."
