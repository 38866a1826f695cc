"""`skillgit harvest`: what a person's agent sessions can teach, as a file of tasks to look through."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import click

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.sessions.harvest import (
    TASKS,
    HarvestContext,
    damage_lines,
    given_time,
    open_harvest_context,
    read_until,
    write_until,
)
from skillgit.cli.show.output import (
    count,
    json_option,
    one_line,
    print_commands,
    print_json,
    print_table,
    say,
)
from skillgit.config import Miner
from skillgit.errors import UsageError, UserError
from skillgit.records import Split
from skillgit.sleep.harvest import Harvest, SessionStatus, gather
from skillgit.sleep.mine import Mined, update
from skillgit.sleep.mine.mined import SHAPE_ONLY
from skillgit.sleep.mine.task_file import Updated

MINERS = click.Choice([miner.value for miner in Miner])


@dataclass(frozen=True)
class Result:
    """What one harvest came to."""

    harvest: Harvest
    mined: Mined
    updated: Updated
    output: Path
    since: datetime | None
    private: bool


@click.command()
@click.option("-o", "--output", metavar="FILE", help="Where the tasks go.  [default: .git]")
@click.option("--source", "sources", multiple=True, metavar="NAME[:DIR]", help="Read these only.")
@click.option("--since", metavar="TIME", help="Only what is newer.  [default: the last harvest]")
@click.option("--all", "everything", is_flag=True, help="All there is, as if for the first time.")
@click.option("--miner", type=MINERS, help="What finds the tasks; llm asks the optimizer.")
@click.option("--list", "listed", is_flag=True, help="Name every session and what became of it.")
@json_option
@click.pass_obj
def command(
    invocation: Invocation,
    *,
    output: str | None,
    sources: tuple[str, ...],
    since: str | None,
    everything: bool,
    miner: str | None,
    listed: bool,
    as_json: bool,
) -> None:
    """Find tasks in what you told your agents, and corrected.

    Reads the transcripts of this repository's sessions, takes secrets out, and
    adds what it finds to a file of tasks for you to read, edit and mark
    "reviewed". Nothing is committed. A session is read again only if it has
    changed.
    """
    if everything and since:
        raise UsageError("--all and --since exclude each other")
    context = open_harvest_context(invocation)
    target = invocation.path(output) if output else context.folder / TASKS
    places = context.places(sources)
    named = context.named(target, places)
    started = given_time(since) if since else None
    if not since and not everything and target.exists():
        started = read_until(context.folder, named)
    _warn_of(context, target, output)
    harvest = gather(places, context.wanted(started), context.digests())
    text, max_tasks = _text_of(target), context.config.max_tasks
    most = 2 * max_tasks + text.count("\n")
    chosen = Miner(miner) if miner else context.config.miner
    mined = context.mine(harvest.sessions, chosen, most=most)
    updated = update(text, mined.tasks, ratio=context.ratio, max_tasks=max_tasks)
    _write(target, updated.text)
    ended = [session.ended for session in harvest.sessions if session.ended is not None]
    write_until(context.folder, named, max(ended, default=None))
    result = Result(harvest, mined, updated, target, started, private=output is None)
    if as_json:
        _print_json(result)
    else:
        _print(invocation, result, listed=listed)


def _warn_of(context: HarvestContext, target: Path, output: str | None) -> None:
    """Say so when the tasks would stand where git takes them along."""
    if output is None:
        return
    inside = Path(os.path.realpath(target)).is_relative_to(context.tree.root)
    private = Path(os.path.realpath(target)).is_relative_to(context.tree.private.path)
    if not inside or private or context.tree.bare:
        return
    if context.tree.ask("check-ignore", "--quiet", "--", str(target)) is None:
        say(
            f"warning: {output} is in the work tree and git does not ignore it; the tasks hold "
            "your own words, so look through them before you commit them"
        )


def _text_of(target: Path) -> str:
    try:
        return target.read_text("utf-8-sig")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{target} cannot be read: {error}") from error


def _write(target: Path, text: str) -> None:
    new = target.with_name(f".{target.name}.new")
    try:
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(text)
        new.replace(target)
    except OSError as error:
        raise UserError(f"{target} cannot be written: {error.strerror or error}") from error


def _print(invocation: Invocation, result: Result, *, listed: bool) -> None:
    harvest = result.harvest
    since = f", newer than {result.since:%Y-%m-%d %H:%M} UTC" if result.since else ""
    print(
        f"Found {count(len(harvest.looked_at), 'session')} in {count(harvest.files, 'file')}{since}"
    )
    if harvest.status_counts:
        rows = [(status.value, str(n)) for status, n in harvest.status_counts.items()]
        print_table(("", "sessions"), rows, right=frozenset((1,)), indent="  ")
    if listed:
        print()
        print_table(
            ("source", "what became of it", "file"),
            [
                (s.source, _status_words(s.status, s.why), one_line(s.path))
                for s in harvest.looked_at
            ],
        )
    for source, damage in harvest.damage.items():
        for line in damage_lines(source, damage):
            print(line)
    _print_tasks(result)
    _print_next(invocation, result)


def _print_tasks(result: Result) -> None:
    updated = result.updated
    shape = sum(SHAPE_ONLY in task.tags for task, _ in updated.new)
    splits = ", ".join(f"{sum(s is split for _, s in updated.new)} {split}" for split in Split)
    print(f"\nMined {count(len(updated.new), 'new task')} ({splits}), {updated.tasks} in all")
    if shape:
        print(f"  {count(shape, 'task')} can be passed by form alone, marked {SHAPE_ONLY}")
    if updated.dropped:
        print(f"  {len(updated.dropped)} left out: they would join two splits")
    if updated.over_limit:
        print("  more could be mined: sleep.max_tasks is reached")
    for reason in result.mined.dropped[:5]:
        print(f"  not used: {one_line(reason)}")
    print(f"Wrote {result.output}")


def _print_next(invocation: Invocation, result: Result) -> None:
    if not result.harvest.sessions and result.since is not None:
        print_commands([invocation.typed("harvest", "--all")], title="To look at everything again:")
    elif result.updated.tasks:
        print('\nRead the tasks, delete or mend what is wrong, and set "reviewed" to true.')
        if result.private:
            again = invocation.typed("harvest", "--all", "-o", "tasks/mined.jsonl")
            print_commands([again], title="To have them where training can find them:")


def _status_words(status: SessionStatus, why: str) -> str:
    return f"{status.value} ({one_line(why)})" if why else status.value


def _print_json(result: Result) -> None:
    harvest, updated = result.harvest, result.updated
    for session in harvest.looked_at:
        names = {"source": session.source, "path": session.path}
        fields = {**names, "fate": session.status.value, "why": session.why}
        print_json("session", fields)
    for source, damage in harvest.damage.items():
        print_json("source", {"source": source, **damage.model_dump(mode="json")})
    for task, split in updated.new:
        fields = {"id": task.id, "split": split.value, "judge": task.judge.kind}
        print_json("task", {**fields, "tags": list(task.tags)})
    print_json(
        "harvest",
        {
            "files": harvest.files,
            "read_anew": harvest.read_anew,
            "since": result.since.isoformat() if result.since else None,
            "fates": {status.value: n for status, n in harvest.status_counts.items()},
            "tasks": updated.tasks,
            "new": len(updated.new),
            "over_limit": updated.over_limit,
            "joined_two_splits": len(updated.dropped),
            "calls": result.mined.calls,
            "not_used": list(result.mined.dropped),
            "output": str(result.output),
        },
    )
