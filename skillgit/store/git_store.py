"""The store that the loop writes to: runs as branches, records as notes, the best as a tag.

A step is built, noted, and then moved to: the one move of the run's branch is what makes it so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import datetime

import pygit2

from skillgit.config import SkillConfig
from skillgit.errors import RepositoryError
from skillgit.history import Entry, NoteLine, RejectedLine, RunCommit, RunHead, RunPosition
from skillgit.history.run_names import RunName, next_run
from skillgit.ports import Clock
from skillgit.records import Measurements, Metric, Skill
from skillgit.redaction import refuse_secrets
from skillgit.store.git import locks
from skillgit.store.git.names import NIGHT_NOTES, NOTES, notes_ref, run_ref
from skillgit.store.git.obstacles import refuse_checked_out, refuse_taken_names
from skillgit.store.git.refs import RefMovedError
from skillgit.store.git.repository import Repository
from skillgit.store.git.signing import Signer
from skillgit.store.git.trees import commit_at, tree_of
from skillgit.store.notes.ledger import parse_lines, pooled, rejected
from skillgit.store.notes.notes import Notes
from skillgit.store.notes.union import fetched_notes, take_in
from skillgit.store.proposals.proposal import propose
from skillgit.store.runs import runs
from skillgit.store.runs.best_tag import BestTag, tags_of
from skillgit.store.skills.memory_file import memory_file_for, with_memory
from skillgit.store.skills.skills import committed_skill, read_skill, skill_in_commit, skill_object


class GitStore:
    """Everything of one skill's runs in one repository.

    `private` lets it read the notes of nights, too; what trainings write never comes from there.
    `memory` takes the repository's memory file for a document of the skill, as nights do.
    `command` is what the log of ref moves says made a move. `sign` signs proposals. `best_name` is the tag on the skill's
    best version, as a person types it.
    """

    def __init__(
        self,
        repository: Repository,
        skill: SkillConfig,
        *,
        skill_name: str,
        clock: Clock,
        command: str = "skillgit",
        private: bool = False,
        memory: bool = False,
        sign: Signer | None = None,
        several: bool = False,
        is_default: bool = True,
    ) -> None:
        self.repository = repository
        self.refs = repository.refs(clock, command)
        self._git = repository.git
        self._skill = skill
        self._skill_name = skill_name
        self._clock = clock
        self._command = command
        self._sign = sign
        self._memory = memory
        self._notes = {ref: Notes(repository.git, self.refs, ref) for ref in (NOTES, NIGHT_NOTES)}
        self._read_from = (NOTES, NIGHT_NOTES) if private else (NOTES,)
        self._seen: dict[str, str | None] = {}
        tags = tags_of(skill_name, several=several, is_default=is_default)
        self.tags = tags
        self.best_name = tags[-1].removeprefix("refs/tags/")
        self._best = BestTag(
            repository,
            self.refs,
            skill=skill_name,
            tags=tags,
            object_of=lambda commit: self.object_id(self.skill_at(commit)),
            lines_on=self.notes_on,
        )

    # ── before a run ─────────────────────────────────────────────────────────────────────────

    def prepare(self) -> None:
        """Check that skillgit can write here, take in what a fetch brought, put the tag right.

        Raises: RepositoryError for a name that is taken, when nobody is configured, or when there
        is no key to sign with.
        """
        refuse_taken_names(self.repository, skill=self._skill_name)
        self.repository.identity()
        if self._sign is not None:
            self._sign.check()
        self._take_in_fetched()
        self._best.repair()

    def hold(self, run_name: str) -> AbstractContextManager[None]:
        """Hold a run against any other trainer for as long as the block runs.

        Raises: RepositoryError when its branch is checked out; ConflictError when it is held.
        """
        refuse_checked_out(self.repository, run_name)
        return locks.held(
            self.repository.private, run_name, clock=self._clock, command=self._command
        )

    def naming(self) -> AbstractContextManager[None]:
        """Keep other trainers from choosing a run while the block chooses one.

        Raises: ConflictError when one of them takes too long.
        """
        return locks.waited_for(self.repository.private, "naming")

    def next_name(self, kind: str, used: Iterable[RunName] = ()) -> RunName:
        """The name of the next run of a kind; `used` are names that stand in no ref or note."""
        return next_run(kind, runs.used_names(self.repository, used))

    def run_names(self) -> Sequence[str]:
        """The runs that have a branch here, oldest first by number."""
        return runs.run_names(self.repository)

    def has_run(self, run_name: str) -> bool:
        """Whether a run has a branch here."""
        return self.refs.read(run_ref(run_name)) is not None

    def new_run(
        self,
        name: RunName,
        *,
        skill: str,
        onto: str,
        target: str,
        run_fingerprint: str,
        metric: Metric,
        started: datetime,
        base: str | None = None,
    ) -> RunHead:
        """The head of a run that begins now, on `base` or on the commit that `onto` is at.

        Raises: RepositoryError when there is no such branch, or nobody to commit as.
        """
        return runs.new_run(
            self.repository,
            name,
            skill=skill,
            onto=onto,
            target=target,
            run_fingerprint=run_fingerprint,
            metric=metric,
            started=started,
            base=base,
        )

    def committed_skill(self, onto: str) -> Skill:
        """The skill that a run starts from: as it is committed on `onto`.

        Raises: RepositoryError, with what to type, when it is not committed.
        """
        skill = committed_skill(self.repository, self._skill, onto)
        return self._with_memory(skill, tree_of(self.repository.onto_commit(onto)))

    def memory_file(self, commit_id: str, wish: str) -> str | None:
        """The path of a commit's memory file, or the wish where there is none and it can be made.

        `None` when the skill itself is the memory file, or when something else has its name.
        """
        tree = tree_of(commit_at(self._git, commit_id))
        skill = skill_in_commit(self._git, commit_id, self._skill)
        return memory_file_for(self._git, tree, skill, wish)

    def skill_in_tree(self, tree_id: str) -> Skill:
        """The skill's documents in a tree that is no commit's yet.

        Raises: RepositoryError when the skill is not there.
        """
        tree = self._git[tree_id].peel(pygit2.Tree)
        try:
            return self._with_memory(read_skill(self._git, tree, self._skill), tree)
        except FileNotFoundError as error:
            raise RepositoryError(f"there is no {self._skill.path} in what it would be") from error

    # ── ports.Store ──────────────────────────────────────────────────────────────────────────

    def object_id(self, skill: Skill) -> str:
        """The git object evaluated: the blob of one document, or a tree of several."""
        return skill_object(self._git, skill)

    def history(self, run_name: str) -> Iterator[RunCommit]:
        """The run's commits, newest first, down to its own step 0; nothing for no such run."""
        ref = run_ref(run_name)
        tip = self.refs.read(ref)
        self._seen[ref] = tip
        return iter(()) if tip is None else runs.walk(self._git, tip)

    def skill_at(self, commit_id: str) -> Skill:
        """The skill's documents as they stand in a commit."""
        skill = skill_in_commit(self._git, commit_id, self._skill)
        return self._with_memory(skill, tree_of(commit_at(self._git, commit_id)))

    def notes_on(self, object_id: str) -> Sequence[NoteLine]:
        """The note lines on an object whose kind is known, in canonical order."""
        texts = (text for ref in self._read_from for text in self._notes[ref].lines(object_id))
        return parse_lines(texts)

    def measurements(
        self, object_id: str, target: str, *, repeats: int | None, before: RunPosition | None
    ) -> Sequence[Measurements]:
        """What the ledger knows of a skill object under a target fingerprint.

        Shape: `repeats` items (`None`: as many as there are), the k-th from the k-th measurement
        of each task.
        """
        lines = self.notes_on(object_id)
        return pooled(object_id, lines, target, repeats=repeats, before=before)

    def rejections(
        self, object_id: str, target: str, *, before: RunPosition | None
    ) -> Sequence[RejectedLine]:
        """The sets of edits that the notes of a skill object say were rejected."""
        return rejected(self.notes_on(object_id), target, before=before)

    def record(self, entry: Entry) -> RunCommit:
        """Build the commits, write the notes, move the run's branch once, follow with the tag.

        Killed before the move, it leaves objects that nothing refers to, and notes that the same
        entry writes again without a change.

        Raises: ConflictError when another writer moved the branch; RepositoryError when someone
        has checked it out by now.
        """
        refuse_checked_out(self.repository, entry.run.name)
        ref = run_ref(entry.run.name)
        tip = self._tip(ref)
        runs.refuse_out_of_turn(self._git, entry, tip)
        self._refuse_secrets(entry, tip or entry.run.base)
        built = runs.build(self.repository, entry, tip or entry.run.base)
        self._write_notes(entry, built)
        self.refs.move(ref, old=tip, new=built.tip.id, message=built.tip.subject)
        self._seen[ref] = built.tip.id
        self._best.after(built.tip)
        return built.tip

    def finish(self, run: RunHead) -> str | None:
        """Make the proposal of an ended run; its branch's name, or `None` if nothing was accepted."""
        return propose(self._git, self.refs, run.name, sign=self._sign).branch

    # ── more lines ───────────────────────────────────────────────────────────────────────────

    def add_lines(
        self, run_name: str, lines: Iterable[tuple[str, NoteLine]], *, message: str
    ) -> None:
        """Add note lines, by object, outside of a step: a report, a person's reasons, scores."""
        who = self.repository.signature(int(self._clock.now().timestamp()))
        self._notes[notes_ref(run_name)].add(_by_object(lines), who=who, message=message)

    def writer(self) -> str:
        """The e-mail address of whoever writes here."""
        _, email = self.repository.identity()
        return email

    def best(self) -> str | None:
        """The commit that the tag belongs on, whatever it is on."""
        return self._best.derive()

    def _with_memory(self, skill: Skill, tree: pygit2.Tree) -> Skill:
        return with_memory(self._git, tree, skill) if self._memory else skill

    def _tip(self, ref: str) -> str | None:
        """The branch's tip, which has to be the one last seen here."""
        tip = self.refs.read(ref)
        if self._seen.get(ref, tip) != tip:
            raise RefMovedError(
                f"another writer moved {ref}",
                hint="Run the same command again; it goes on from where the branch is.",
            )
        return tip

    def _take_in_fetched(self) -> None:
        """Add the lines of notes that a plain `git fetch` has put beside ours.

        In a partial clone it puts them there without their text; then only `sync` gets that.
        """
        for ref in fetched_notes(self.repository):
            theirs = self.refs.read(ref)
            if theirs is not None:
                who = self.repository.signature(int(self._clock.now().timestamp()))
                with suppress(RepositoryError):
                    take_in(self._git, self.refs, NOTES, theirs, who=who)

    def _refuse_secrets(self, entry: Entry, parent: str) -> None:
        """The last look before a document is committed; what stands there already is let be.

        Raises: UserError naming the document, the line and the kind of secret.
        """
        if entry.candidate is None:
            return
        before = {d.path: d.data for d in self.skill_at(parent).documents}
        for document in entry.candidate.documents:
            refuse_secrets(document.path, document.data, before=before.get(document.path, b""))

    def _write_notes(self, entry: Entry, built: runs.BuiltEntry) -> None:
        lines = [*((built.candidate, line) for line in entry.lines), *entry.object_lines]
        message = f"{entry.run.name} {entry.phase.value} {entry.step}"
        who = self.repository.signature(built.time)
        self._notes[notes_ref(entry.run.name)].add(_by_object(lines), who=who, message=message)


def _by_object(lines: Iterable[tuple[str, NoteLine]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for object_id, line in lines:
        found.setdefault(object_id, []).append(line.to_line())
    return found
