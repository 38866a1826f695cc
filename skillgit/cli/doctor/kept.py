"""Checks of what runs have left: notes, the ledger, the best tag, the log of moves, private data."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping

from pydantic import ValidationError

from skillgit.cli.doctor.rows import DoctorContext, Row, bad, ok, warn
from skillgit.cli.sessions.runs import Runs
from skillgit.cli.show.output import count, file_size
from skillgit.history import ScoresLine, StepNote
from skillgit.history.notes import NOTE_KINDS
from skillgit.models.journal import Journal
from skillgit.records import Action, Score
from skillgit.store.git.inspection import private_files
from skillgit.store.git.names import NIGHT_NOTES, NOTES
from skillgit.store.git.repository import Repository
from skillgit.store.git_store import GitStore
from skillgit.store.notes.ledger import parse_line
from skillgit.store.notes.note_losses import Loss, lost_lines, noted_objects
from skillgit.store.remotes.remotes import leaks
from skillgit.store.runs.best_tag import tags_of
from skillgit.store.runs.runs import read_commit

_SHORT = 12


def notes(context: DoctorContext) -> Iterator[Row]:
    """Whether every line of the notes can be read, and none that once stood there is gone."""
    if context.repository is None:
        return
    moves = list(_moves(context.repository))
    for ref in (NOTES, NIGHT_NOTES):
        name = ref.removeprefix("refs/")
        yield from _lines(context, context.repository, name, ref)
        of_ref = [move for move in moves if move.get("ref") == ref]
        lost = lost_lines(context.repository.git, ref, of_ref)
        if lost:
            yield _loss(context, name, lost)


def _lines(context: DoctorContext, repository: Repository, name: str, ref: str) -> Iterator[Row]:
    kinds: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    broken: list[str] = []
    for object_id, lines in noted_objects(repository.git, ref):
        for text in lines:
            line, kind = parse_line(text), _kind(text)
            if line is not None and _is_sound(line):
                kinds[line.kind] += 1
            elif line is None and kind is not None and kind not in NOTE_KINDS:
                unknown[kind] += 1
            else:
                broken.append(object_id)
    if broken:
        says = f"{count(len(broken), 'line')} cannot be read and count for nothing"
        shown = context.invocation.typed_git("notes", f"--ref={ref}", "show", broken[0])
        yield warn(name, f"{says}; the first is on {broken[0][:_SHORT]}", shown)
    if unknown:
        listed = ", ".join(f"{n} {kind!r}" for kind, n in sorted(unknown.items()))
        yield warn(name, f"lines of unknown kinds: {listed}", "Upgrade skillgit to read them.")
    if not broken:
        listed = ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items()))
        yield ok(name, f"{count(kinds.total(), 'line')}{f': {listed}' if listed else ''}")


def _loss(context: DoctorContext, name: str, lost: list[Loss]) -> Row:
    objects = len({loss.object_id for loss in lost})
    commit = lost[0].commit[:_SHORT]
    side = f"{name.removeprefix('notes/')}-lost"
    git = context.invocation.typed_git
    return bad(
        name,
        f"{count(len(lost), 'line')} on {count(objects, 'object')} that once stood there "
        f"{'is' if len(lost) == 1 else 'are'} gone; the last commit that had one: {commit}",
        f"{git('update-ref', f'refs/notes/{side}')} "
        f'$({git("commit-tree", "-m", "lost")} "{commit}^{{tree}}") && '
        f"{git('notes', f'--ref={name}', 'merge', '-s', 'cat_sort_uniq', side)}",
    )


def ledger(context: DoctorContext) -> Iterator[Row]:
    """Whether every step of every run has its note, and what scores there are."""
    if context.repository is None or not context.stores:
        return
    runs = Runs(context.repository, context.invocation)
    for run in runs.names():
        missing = sum(1 for _ in _without_note(context.stores[0], runs, run))
        if missing:
            yield warn(
                "ledger",
                f"{count(missing, 'step')} of {run} without a note: what was tried is not known",
                f"Notes are not fetched by default: {context.invocation.typed('sync')}",
            )
    found = noted_objects(context.repository.git, NOTES)
    lines = [parse_line(text) for _, texts in found for text in texts]
    scores = [line for line in lines if isinstance(line, ScoresLine)]
    known = sum(pair is not None for line in scores for pair in line.tasks.values())
    yield ok("ledger", f"{count(known, 'score')} in {count(len(scores), 'measurement')}")


def _without_note(store: GitStore, runs: Runs, run: str) -> Iterator[str]:
    for commit in runs.history(run):
        made = commit.action in (Action.EPOCH, Action.END, Action.REVERT, Action.BASELINE)
        if made:
            continue
        lines = store.notes_on(commit.id)
        if not any(isinstance(n, StepNote) and n.step == commit.step for n in lines):
            yield commit.id


def best(context: DoctorContext) -> Iterator[Row]:
    """Whether each skill's tags are on the version that the run branches say is best."""
    if context.repository is None or context.project is None:
        return
    for store, project in zip(context.stores, context.project.each(), strict=False):
        several, is_default = project.skill is not None, project.is_default
        for tag in tags_of(project.skill or "", several=several, is_default=is_default):
            yield _best(context, context.repository, store, tag)


def _best(context: DoctorContext, repository: Repository, store: GitStore, tag: str) -> Row:
    short = tag.removeprefix("refs/tags/")
    there, belongs = store.refs.read(tag), store.best()
    git = context.invocation.typed_git
    if there is not None and read_commit(repository.git, there) is None:
        renamed = f"{git('tag', 'old-skillopt-best', tag)} && {git('tag', '-d', short)}"
        return bad("best", f"the tag {short} is on no commit of a run", renamed)
    if belongs is None:
        return ok(
            "best", "no run has measured one yet" if there is None else "no run branch is left"
        )
    if there == belongs:
        return ok("best", f"{short} is on {belongs[:_SHORT]}, where it belongs")
    is_at = "is missing" if there is None else f"is on {there[:_SHORT]}"
    says = f"{short} {is_at} and belongs on {belongs[:_SHORT]}"
    return warn("best", says, git("update-ref", tag, belongs))


def moves(context: DoctorContext) -> Iterator[Row]:
    """Whether the log of ref moves can be read: `undo` goes by it."""
    if context.repository is None:
        return
    file = context.repository.common / "skillgit" / "moves.jsonl"
    if not file.is_file():
        yield ok("moves", "no ref was moved yet")
        return
    lines = file.read_bytes().splitlines()
    read = sum(1 for _ in _moves(context.repository))
    if read < len(lines):
        says = f"{count(len(lines) - read, 'line')} of {len(lines)} cannot be read"
        yield warn("moves", f"{says} in {file}", "Nothing has to be done: they are passed over.")
    else:
        yield ok("moves", f"{count(read, 'move')} logged")


def private(context: DoctorContext) -> Iterator[Row]:
    """What lies in the private folder, which is never committed."""
    if context.repository is None:
        return
    for path, size in private_files(context.repository):
        yield ok("private", f"{path}, {file_size(size)}")
    file = context.repository.common / "skillgit" / "journal.sqlite"
    if file.is_file():
        with Journal(file, durable=False) as journal:
            yield ok("journal", f"readable; {count(len(journal.runs()), 'run')} in it")


def unfinished(context: DoctorContext) -> Iterator[Row]:
    """The runs that have not ended."""
    if context.repository is None:
        return
    runs = Runs(context.repository, context.invocation)
    names = runs.names()
    for run in names:
        tip = next(iter(runs.history(run)))
        if tip.action is not Action.END:
            do = f"{context.invocation.typed('train')} goes on with the newest"
            yield warn("runs", f"{run} has not ended: it is at step {tip.step}", do)
    yield ok("runs", f"{count(len(names), 'run')} here")


def remotes(context: DoctorContext) -> Iterator[Row]:
    """Whether a plain push would send what speaks of a person's own sessions."""
    if context.repository is None:
        return
    found = leaks(context.repository.git)
    for leak in found:
        says = f"{leak.remote} ({leak.setting}) would be sent private refs"
        do = f"Push by name, or leave nights out: git config remote.{leak.remote}.push HEAD"
        if leak.refs:
            yield bad("remotes", f"{says}: {', '.join(leak.refs)}", do)
        else:
            yield warn("remotes", f"{says}, once there are any", do)
    if not found:
        yield ok("remotes", "a plain push sends nothing private")


def _is_sound(line: object) -> bool:
    """Whether the scores in a line are scores."""
    if not isinstance(line, ScoresLine):
        return True
    try:
        for pair in line.tasks.values():
            if pair is not None:
                Score(hard=pair[0], soft=pair[1])
    except ValidationError:
        return False
    return True


def _kind(text: str) -> str | None:
    """The kind that a line says it is of; `None` for what is no line of ours."""
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError):
        return None
    kind = raw.get("kind") if isinstance(raw, dict) else None
    return kind if isinstance(kind, str) else None


def _moves(repository: Repository) -> Iterator[Mapping[str, object]]:
    file = repository.common / "skillgit" / "moves.jsonl"
    if not file.is_file():
        return
    for line in file.read_bytes().splitlines():
        try:
            move = json.loads(line)
        except ValueError:
            continue
        if isinstance(move, dict) and isinstance(move.get("ref"), str):
            yield move
