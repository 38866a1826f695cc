"""Runs to read and to write: commit by commit without the store, and through it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pygit2
import pytest

from skillgit.config import SkillConfig
from skillgit.history import (
    CandidateScore,
    Entry,
    Mark,
    Phase,
    RunCommit,
    RunHead,
    RunState,
    ScoresLine,
    StepNote,
)
from skillgit.history.messages import compose, compose_revert, edit_lines
from skillgit.history.trailers import STATE_HEADER, state_text
from skillgit.ports import Clock
from skillgit.records import Action, Edit, EditOp, EditOutcome, Metric, Outcome
from skillgit.store.git.git_cli import GitCli
from skillgit.store.git.refs import Refs
from skillgit.store.git.repository import open_repository
from skillgit.store.git.rewrite import commit_with
from skillgit.store.git_store import GitStore
from skillgit.store.proposals.adopt import Adopter, Adoption
from skillgit.store.proposals.proposal import propose

SKILL = "skills/brief/SKILL.md"
START = "# Brief\n\nWrite a brief.\n\n## Structure\n\n- One summary.\n\n## Style\n\n- Be short.\n"


class RunWriter:
    """Writes a run, commit by commit, and keeps its state."""

    path = SKILL
    ADD_RISKS = Edit(op=EditOp.ADD, anchor="- One summary.", content="- Name the risks.")
    SAY_HOW = Edit(op=EditOp.REPLACE, anchor="- Be short.", content="- Use 200 words.")

    def __init__(self, folder: Path, git: Callable[..., str], start: str = START) -> None:
        self.folder = folder
        self.git = git
        self.name = "train-1"
        self.run_id = "0123456789ab"
        self.ids: dict[str, str] = {}
        self.edits: dict[int, tuple[Edit, ...]] = {}
        (folder / SKILL).parent.mkdir(parents=True, exist_ok=True)
        (folder / SKILL).write_bytes(start.encode())
        (folder / "README.md").write_text("A project.\n")
        git("add", ".")
        git("commit", "-q", "-m", "Add the skill")
        self.base = git("rev-parse", "HEAD").strip()
        self.tip = self.base
        self.text = start
        self.pygit = pygit2.Repository(str(folder))

    @staticmethod
    def edited(text: str, *edits: Edit) -> str:
        """The text after edits, worked out without what is tested."""
        for edit in edits:
            new = edit.content if edit.op is EditOp.REPLACE else f"{edit.anchor}\n{edit.content}"
            text = text.replace(edit.anchor, new)
        return text

    def head(self, rev: str = "main") -> str:
        return self.git("rev-parse", rev).strip()

    def commit_file(self, path: str, text: str) -> str:
        """A person's commit on what is checked out."""
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_bytes(text.encode())
        self.git("add", path)
        self.git("commit", "-q", "-m", f"Change {path}")
        return self.head("HEAD")

    def scores(self, range_: str) -> list[str]:
        form = "--format=%(trailers:key=Skillopt-Score,valueonly,separator=)"
        return self.git("log", "--reverse", form, range_).split()

    @property
    def ref(self) -> str:
        return f"refs/heads/skillopt/run/{self.name}"

    def begin(self, score: float = 0.125, text: str | None = None, run: str = "train-1") -> None:
        self.name = run
        self.time = datetime(2026, 3, 1, tzinfo=UTC)
        self.tip = self.base
        mark = Mark(score=score, step=0, origin="initial_skill")
        self.state = RunState(
            run_id=self.run_id,
            skill="brief",
            onto="main",
            epoch=1,
            current=mark,
            best=mark,
            metric=Metric.HARD,
            target="a" * 16,
            run="b" * 16,
        )
        self.step = 0
        self.ids["0"] = self._commit(compose(self._entry(Action.BASELINE, score)), text)

    def accept(
        self, text: str, score: float, edits: Iterable[Edit] = (), force: bool = False
    ) -> str:
        self.step += 1
        mark = Mark(score=score, step=self.step, origin=f"step_{self.step:04d}")
        is_best = score > (self.state.best.score or 0)
        changes = {"current": mark, **({"best": mark} if is_best else {})}
        self.state = self.state.model_copy(update=changes)
        action = Action.ACCEPT_NEW_BEST if is_best else Action.ACCEPT
        action = Action.FORCE_ACCEPT if force else action
        self.edits[self.step] = tuple(edits)
        outcomes = [EditOutcome(edit=e, outcome=Outcome.APPLIED) for e in self.edits[self.step]]
        message = compose(self._entry(action, score, body=edit_lines(outcomes)))
        return self._keep(str(self.step), message, text)

    def reject(self, text: str, score: float) -> str:
        self.step += 1
        entry = self._entry(Action.REJECT, score)
        before = self.text
        candidate = self._keep(str(self.step), compose(entry), text)
        self._keep(f"{self.step}+", compose_revert(entry, candidate), before)
        return candidate

    def skip(self) -> str:
        self.step += 1
        return self._keep(str(self.step), compose(self._entry(Action.SKIP, None)), None)

    def epoch(self, text: str | None = None) -> str:
        if text is not None:
            origin = f"slow_update_epoch_{self.state.epoch:02d}"
            mark = Mark(score=None, step=self.step, origin=origin)
            self.state = self.state.model_copy(update={"current": mark})
        entry = self._entry(Action.EPOCH, None, phase=Phase.EPOCH)
        commit = self._keep(f"e{self.state.epoch}", compose(entry), text)
        self.state = self.state.model_copy(update={"epoch": self.state.epoch + 1})
        return commit

    def end(self) -> str:
        entry = self._entry(Action.END, self.state.current.score, phase=Phase.END)
        return self._keep("end", compose(entry), None)

    def _entry(
        self,
        action: Action,
        score: float | None,
        phase: Phase = Phase.STEP,
        body: tuple[str, ...] = (),
    ) -> Entry:
        run = RunHead(
            name=self.name,
            run_id=self.run_id,
            skill="brief",
            onto="main",
            base=self.base,
            target="a" * 16,
            run="b" * 16,
            metric=Metric.HARD,
        )
        return Entry(
            run=run,
            step=self.step,
            phase=phase,
            action=action,
            score=CandidateScore(score=score),
            state=self.state,
            body=body,
        )

    def _keep(self, key: str, message: str, text: str | None) -> str:
        self.ids[key] = self._commit(message, text)
        return self.ids[key]

    def _commit(self, message: str, text: str | None) -> str:
        self.time += timedelta(seconds=1)
        self.text = self.text if text is None else text
        blob = self.git("hash-object", "-w", "--stdin", text=self.text).strip()
        above = pygit2.Oid(hex=self.tip)
        tree = self.pygit[above].tree
        folder = self.pygit.TreeBuilder(tree["skills/brief"])
        folder.insert("SKILL.md", blob, tree[SKILL].filemode)
        skills = self.pygit.TreeBuilder(tree["skills"])
        skills.insert("brief", folder.write(), pygit2.enums.FileMode.TREE)
        root = self.pygit.TreeBuilder(tree)
        root.insert("skills", skills.write(), pygit2.enums.FileMode.TREE)
        return self.put(message, root.write(), self.tip)

    def put(self, message: str, tree: pygit2.Oid | str, parent: str) -> str:
        """A commit of the run with its state on a parent, on which its branch is then."""
        who = pygit2.Signature("Ada Tester", "ada@example.org", int(self.time.timestamp()), 0)
        headers = {STATE_HEADER: state_text(self.state)}
        ids = pygit2.Oid(hex=str(tree)), pygit2.Oid(hex=parent)
        self.tip = str(commit_with(self.pygit, who, message, *ids, headers))
        self.git("update-ref", self.ref, self.tip)
        return self.tip


@pytest.fixture
def run(repo: Path, git: Callable[..., str]) -> RunWriter:
    """A repository whose main holds a skill, and a run to be written on it."""
    return RunWriter(repo, git)


HEAD = {"skill": "brief", "onto": "main", "target": "a" * 16, "metric": Metric.HARD}


class Trainer:
    """Records moments of a run through the store, as the loop does, and keeps its state."""

    def __init__(self, store: GitStore, name: str = "train-1", **head: str) -> None:
        self.store = store
        fields = {**HEAD, "run": "b" * 16, "run_id": "0123456789ab", **head}
        base = str(store.repository.onto_commit(fields["onto"]).id)
        self.head = RunHead.model_validate({**fields, "name": name, "base": base})
        self.step = 0
        self.skill = store.committed_skill(self.head.onto)
        self.state: RunState | None = None

    def begin(self, score: float | None = 0.125, **entry: object) -> RunCommit:
        mark = Mark(score=score, step=0, origin="initial_skill")
        run = {"run_id", "skill", "onto", "target", "run", "metric"}
        head = {name: getattr(self.head, name) for name in run}
        self.state = RunState(epoch=0, current=mark, best=mark, **head)
        return self._record(Action.BASELINE, score, **entry)

    def accept(self, text: str, score: float, **entry: object) -> RunCommit:
        self.step += 1
        mark = Mark(score=score, step=self.step, origin=f"step_{self.step:04d}")
        is_best = score > (self.state.best.score or 0)
        changes = {"current": mark, **({"best": mark} if is_best else {})}
        self.state = self.state.model_copy(update=changes)
        self.skill = self.skill.with_document(self.skill.main.path, text.encode())
        action = Action.ACCEPT_NEW_BEST if is_best else Action.ACCEPT
        return self._record(action, score, candidate=self.skill, **entry)

    def reject(self, text: str, score: float, **entry: object) -> RunCommit:
        self.step += 1
        candidate = self.skill.with_document(self.skill.main.path, text.encode())
        return self._record(Action.REJECT, score, candidate=candidate, **entry)

    def skip(self, **entry: object) -> RunCommit:
        self.step += 1
        return self._record(Action.SKIP, None, **entry)

    def epoch(self, **entry: object) -> RunCommit:
        return self._record(Action.EPOCH, None, phase=Phase.EPOCH, **entry)

    def end(self, **entry: object) -> RunCommit:
        return self._record(Action.END, self.state.current.score, phase=Phase.END, **entry)

    def entry(self, action: Action, score: float | None, **fields: object) -> Entry:
        given = {"run": self.head, "step": self.step, "phase": Phase.STEP, "state": self.state}
        number = CandidateScore(score=score)
        return Entry.model_validate({**given, "action": action, "score": number, **fields})

    def _record(self, action: Action, score: float | None, **fields: object) -> RunCommit:
        return self.store.record(self.entry(action, score, **fields))

    def step_note(self, action: Action = Action.ACCEPT, **fields: object) -> StepNote:
        given = {"run": self.head.run_id, "step": self.step + 1, "action": action}
        return StepNote.model_validate({**given, "n_total": 4, "n_fail": 1, **fields})

    def scores(self, tasks: dict[str, tuple[float, float] | None], **fields: object) -> ScoresLine:
        given = {"repeat": 0, "run": self.head.run_id, "step": self.step, "tasks": tasks}
        return ScoresLine.model_validate({**given, "target": self.head.target, **fields})


@pytest.fixture
def open_store(clock: Clock, tmp_path: Path) -> Callable[..., GitStore]:
    """Opens a store on a repository, by default on the one at `tmp_path/repo`."""

    def opened(folder: Path | None = None, path: str = SKILL, **settings: object) -> GitStore:
        found = open_repository(folder or tmp_path / "repo", durable=False)
        files = settings.pop("files", ())
        config = SkillConfig.model_validate({"path": path, "files": files})
        given = {"skill_name": "brief", "clock": clock, "command": "skillgit train"}
        return GitStore(found, config, **{**given, **settings})

    return opened


@pytest.fixture
def skill_repo(repo: Path, git: Callable[..., str]) -> Path:
    """A repository whose main holds a skill and something else."""
    (repo / SKILL).parent.mkdir(parents=True)
    (repo / SKILL).write_bytes(START.encode())
    (repo / "README.md").write_text("A project.\n")
    git("add", ".")
    git("commit", "-q", "-m", "Add the skill")
    return repo


@pytest.fixture
def store(skill_repo: Path, open_store: Callable[..., GitStore]) -> GitStore:
    """The store of that repository."""
    return open_store()


@pytest.fixture
def train(store: GitStore) -> Callable[..., Trainer]:
    """Makes trainers of that repository, or of another store."""

    def make(name: str = "train-1", on: GitStore = store, **head: str) -> Trainer:
        return Trainer(on, name, **head)

    return make


@pytest.fixture
def proposal(run: RunWriter, clock: Clock) -> str:
    """Two accepted versions with an epoch between them; the id of the proposal's tip."""
    run.begin()
    run.reject("worse\n", 0.0)
    run.accept(run.edited(run.text, run.ADD_RISKS), 0.5, [run.ADD_RISKS])
    run.epoch()
    run.accept(run.edited(run.text, run.SAY_HOW), 0.75, [run.SAY_HOW])
    run.end()
    refs = Refs(run.pygit, run.folder / ".git", clock=clock)
    made = propose(run.pygit, refs, "train-1").commit
    assert made is not None
    return made


@pytest.fixture
def adopt(run: RunWriter, clock: Clock) -> Callable[..., Adoption]:
    def adopted(commit: str, onto: str = "main", *, at: Path | None = None, **options: Any) -> Any:
        repository = open_repository(at or run.folder, durable=False)
        folder = repository.workdir or repository.git_dir
        refs = Refs(repository.git, repository.common, clock=clock, command="adopt")
        cli = GitCli(folder, os.environ)
        documents = options.pop("documents", ())
        by_step = options.pop("edits_of", lambda trailers: run.edits.get(trailers.step))
        return Adopter(repository, refs, cli, documents, by_step).adopt(
            commit, onto=onto, **options
        )

    return adopted
