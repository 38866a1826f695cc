"""`skillgit blame`: line → step, edit, score, and the failing tasks behind it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from itertools import groupby

import click

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.app.options import skill_option
from skillgit.cli.sessions.project import Project, open_project
from skillgit.cli.sessions.runs import Runs
from skillgit.cli.show.output import (
    count,
    json_option,
    number,
    one_line,
    print_commands,
    print_json,
    print_table,
    printable,
)
from skillgit.cli.show.version import edit_words, task_words
from skillgit.errors import UsageError
from skillgit.records import SourceType
from skillgit.review.blame import Origin, TracedLine, Tracer
from skillgit.store.git.refs import Refs
from skillgit.store.git.repository import Repository, open_repository
from skillgit.store.runs.version_notes import NotedVersions
from skillgit.store.skills.blame import blame
from skillgit.store.skills.skills import committed_skill

HEAD = ("line", "version", "score", "asked for by", "text")
_SHORT = 9
_NAME = 16
_RANGE = re.compile(r"([1-9][0-9]*)(?:,([1-9][0-9]*))?")


@click.command()
@click.argument("path", required=False)
@click.option("-L", "lines", metavar="N[,M]", help="Only these lines, with the whole story.")
@click.option("--rev", metavar="REV", help="A version instead of the files as they are.")
@skill_option
@json_option
@click.pass_obj
def command(
    invocation: Invocation,
    *,
    path: str | None,
    lines: str | None,
    rev: str | None,
    skill: str | None,
    as_json: bool,
) -> None:
    """Show for each line of PATH which step brought it, and what asked for it.

    PATH is the skill's main document where none is named; REV is best,
    train-1@12, or anything that git understands. With -L, the edit, its
    reason and the failing tasks behind it are shown, too.

    A line that a person wrote has the commit and the author, as in git blame.
    """
    wanted = _range(lines)
    project = open_project(invocation, skill)
    repository = open_repository(invocation.directory)
    main = committed_skill(repository, project.config.skill, project.config.repo.onto).main.path
    file = main if path is None else _from_root(path, project)
    commit = _commit(rev, project, repository)
    blamed = blame(project.git_in(repository), file, commit=commit, lines=wanted)
    refs = Refs(
        repository.git, repository.common, clock=invocation.clock, command=project.typed("blame")
    )
    noted = NotedVersions(repository.git, refs)
    tracer = Tracer(repository, noted, file, is_main=file == main)
    traced = [tracer.trace(line) for line in blamed]
    if as_json:
        for line in traced:
            print_json("line", {"path": file, **line.model_dump(mode="json")})
    elif wanted is not None:
        _print_stories(traced)
    else:
        _print_table(traced, file, project, path)


def _range(given: str | None) -> tuple[int, int] | None:
    """The first and the last line that are meant.

    Raises: UsageError.
    """
    if given is None:
        return None
    matched = _RANGE.fullmatch(given.strip())
    first, last = (int(matched[1]), int(matched[2] or matched[1])) if matched else (1, 0)
    if last < first:
        raise UsageError(f"-L: {given!r} is no range of lines", hint="-L 12, or -L 12,20")
    return first, last


def _from_root(path: str, project: Project) -> str:
    """A path as it is named from the root of the work tree; in a bare repository, as it is."""
    if project.root is None:
        return path
    return os.path.relpath(project.invocation.path(path), project.root)


def _commit(rev: str | None, project: Project, repository: Repository) -> str | None:
    """The commit that is meant; `None` is the work tree."""
    if rev is not None:
        return Runs(repository, project.invocation, skill=project.skill).commit_of(rev)
    if project.root is not None:
        return None
    return str(repository.onto_commit(project.config.repo.onto).id)


def _print_table(
    lines: Sequence[TracedLine], file: str, project: Project, path: str | None
) -> None:
    print_table(HEAD, [_row(line) for line in lines], right=frozenset((0, 2)))
    trained = [line for line in lines if line.origin is not None]
    print(f"\n{printable(file)}: {len(trained)} of {count(len(lines), 'line')} came of a run")
    if any(line.origin is not None and not line.origin.noted for line in trained):
        print(f"Of some, the run's notes are not here; {project.typed('sync')} fetches them.")
    told = next((line for line in trained if line.origin and line.origin.tasks), None)
    if told is not None:
        words = [*([path] if path is not None else []), "-L", str(told.number)]
        print_commands([project.typed("blame", *words)], title="The story of a line:")


def _row(line: TracedLine) -> tuple[str, ...]:
    if line.origin is None:
        version = "-" if line.commit is None else line.commit[:_SHORT]
        author = one_line(line.author) if line.commit else "not committed"
        return (str(line.number), version, "", author[:_NAME], printable(line.text))
    origin = line.origin
    cells = (origin.version, number(origin.score), _asked(origin), printable(line.text))
    return (str(line.number), *cells)


def _asked(origin: Origin) -> str:
    """What asked for a line, in a few words."""
    if origin.edit is not None:
        return count(origin.edit.support_count, _kind(origin))
    if origin.lapse:
        return count(len(origin.tasks), "lapse")
    if origin.pairs:
        return "looking back"
    return "-"


def _kind(origin: Origin) -> str:
    is_failure = origin.edit is None or origin.edit.source_type is SourceType.FAILURE
    return "failing task" if is_failure else "passing task"


def _print_stories(lines: Sequence[TracedLine]) -> None:
    """Each line, and once for neighbours of one origin what stands behind them."""
    first = True
    for (commit, origin), group in groupby(lines, key=lambda line: (line.commit, line.origin)):
        together = list(group)
        if not first:
            print()
        first = False
        for line in together:
            print(f"{line.number}: {printable(line.text)}")
        for told in _story(together[0], commit, origin):
            print(f"  {told}")


def _story(line: TracedLine, commit: str | None, origin: Origin | None) -> Iterator[str]:
    if commit is None:
        yield "not committed yet"
        return
    where = f"{commit[:_SHORT]}, {line.time:%Y-%m-%d}"
    if origin is None:
        yield f"{where}, {one_line(line.author)}: {one_line(line.subject)}"
        return
    moved = ""
    if origin.before is not None and origin.after is not None:
        moved = f", score {number(origin.before)} -> {number(origin.after)}"
    yield f"{origin.version}, {origin.action.value}{moved}  ({where})"
    if origin.score is None and origin.after is not None:
        yield "applied again to a text that had changed; not measured there"
    if not origin.noted:
        yield "the run's notes are not here"
    if origin.edit is not None:
        yield edit_words(origin.edit)
        if origin.edit.rationale:
            yield f"why: {one_line(origin.edit.rationale)}"
        yield f"asked for by {_asked(origin)}{_named(origin.tasks)}"
    elif origin.lapse:
        yield f"a note on {_asked(origin)}: the skill said it, and it was not done"
        if origin.tasks:
            yield f"seen in {task_words(origin.tasks)}"
    elif origin.pairs:
        yield "guidance, written from what the same tasks came to an epoch before and after"
    for pattern in origin.patterns:
        yield f"failed: {one_line(str(pattern))} (x{pattern.count}: {task_words(pattern.task_ids)})"
    for pair in origin.pairs:
        scores = f"{pair.before.hard:.2f} -> {pair.after.hard:.2f}"
        yield f"{pair.kind.value.replace('_', ' ')}: {printable(pair.task_id)} {scores}"


def _named(tasks: tuple[str, ...]) -> str:
    return f": {task_words(tasks)}" if tasks else ""
