"""`skillgit hooks`: install git hooks beside what is there, take them away, say how they stand."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping

import click

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.app.worktree import worktree_at
from skillgit.cli.hooks.agents import (
    AGENTS,
    Agent,
    install_agent,
    is_installed,
    prepare,
    sessions_ended,
    uninstall_agent,
)
from skillgit.cli.hooks.installing import InstalledHook, Way, install, installed_hooks, uninstall
from skillgit.cli.hooks.place import HookPlace, lines_for, place_of
from skillgit.cli.hooks.scripts import Copy
from skillgit.cli.sessions.harvest import read_until
from skillgit.cli.show.output import count, json_option, print_json, print_table
from skillgit.errors import UserError

agent_option = click.option(
    "--agent",
    "agent_name",
    type=click.Choice(list(AGENTS)),
    help="The session-end hook of this agent instead.",
)


@click.group(no_args_is_help=True)
def command() -> None:
    """Install git hooks, take them away, or say how they stand.

    All are optional. pre-commit looks at the staged documents of the skills,
    pre-push says what a push leaves behind or takes along, post-merge says
    what an adopted night brought. A hook that is there is never overwritten
    and never called by ours; without skillgit on PATH they do nothing.
    """


@command.command("install")
@agent_option
@click.option("--yes", is_flag=True, help="With --agent: write without being asked.")
@json_option
@click.pass_obj
def install_command(
    invocation: Invocation, *, agent_name: str | None, yes: bool, as_json: bool
) -> None:
    """Install the hooks, or bring older ones of ours up to date.

    Where a hook of somebody else stands, or husky, lefthook or the pre-commit
    framework looks after hooks, git 2.54 and newer run ours beside it through
    .git/config; with an older git the lines to add by hand are shown.

    With --agent, shows what goes into the agent's own settings, and writes it
    when you agree. It notes that a session has ended, for the next harvest.
    """
    place = _place(invocation)
    if agent_name is not None:
        _install_agent(invocation, place, AGENTS[agent_name], yes=yes, as_json=as_json)
        return
    if yes:
        raise click.UsageError("--yes goes with --agent")
    found = install(place)
    missing = _print(place, found, as_json=as_json)
    if missing:
        raise UserError(
            f"{', '.join(missing)} could not be installed without touching what is there",
            hint=f"Add the lines above; {invocation.typed('hooks', 'status')} says whether they work.",
        )


@command.command("uninstall")
@agent_option
@json_option
@click.pass_obj
def uninstall_command(invocation: Invocation, *, agent_name: str | None, as_json: bool) -> None:
    """Take away what install put there, and nothing else."""
    place = _place(invocation)
    if agent_name is not None:
        agent = AGENTS[agent_name]
        settings = agent.settings(invocation.environ)
        changed = uninstall_agent(agent, place, invocation.environ)
        if as_json:
            print_json("agent", {"agent": agent.name, "file": str(settings), "changed": changed})
        else:
            print(f"{settings}: {'removed' if changed else 'nothing of ours was there'}")
        return
    found = uninstall(place)
    if as_json:
        _print_json(place, found)
        return
    _print_table(found)
    for installed in found:
        if installed.way is Way.LINE:
            print(f"\n{place.asked(installed.hook)} calls it; take that line out by hand.")
        elif installed.copy is Copy.EDITED:
            print(f"\n{installed.path} has changes that are not ours; remove it by hand.")


@command.command("status")
@json_option
@click.pass_obj
def status_command(invocation: Invocation, *, as_json: bool) -> None:
    """Say how each hook stands, and what to add by hand where one cannot be put."""
    place = _place(invocation)
    found = installed_hooks(place)
    if as_json:
        _print_json(place, found)
    else:
        _print_table(found)
        _print_place(place)
        if any(installed.way is Way.NONE for installed in found):
            print(f"\n{invocation.typed('hooks', 'install')} installs what is not there.")
    _agents_status(invocation, place, as_json=as_json)


def _place(invocation: Invocation) -> HookPlace:
    return place_of(worktree_at(invocation.directory, invocation.environ))


def _install_agent(
    invocation: Invocation, place: HookPlace, agent: Agent, *, yes: bool, as_json: bool
) -> None:
    settings = agent.settings(invocation.environ)
    fields = {"agent": agent.name, "file": str(settings), "snippet": agent.snippet()}
    if not as_json:
        print(f"{agent.title} reads its hooks from {settings}. What goes there:\n")
        print(json.dumps(agent.snippet(), indent=2))
        print()
    if is_installed(agent, invocation.environ) and not yes:
        prepare(place)
        _done(fields, "It is there already.", changed=False, as_json=as_json)
    elif yes or (not as_json and sys.stdin.isatty() and click.confirm("Write it?")):
        changed = install_agent(agent, place, invocation.environ)
        words = f"Written. {agent.remark}" if changed else "It is there already."
        _done(fields, words.rstrip(), changed=changed, as_json=as_json)
    else:
        prepare(place)
        again = invocation.typed("hooks", "install", "--agent", agent.name, "--yes")
        _done(fields, f"Nothing was written there; {again} does.", changed=False, as_json=as_json)


def _done(fields: Mapping[str, object], words: str, *, changed: bool, as_json: bool) -> None:
    if as_json:
        print_json("agent", {**fields, "changed": changed})
    else:
        print(words)


def _agents_status(invocation: Invocation, place: HookPlace, *, as_json: bool) -> None:
    folder = place.private_folder.parent / "harvest"
    since = read_until(folder)
    ended = sessions_ended(folder, since)
    for agent in AGENTS.values():
        there = is_installed(agent, invocation.environ)
        if as_json:
            file = str(agent.settings(invocation.environ))
            print_json("agent", {"agent": agent.name, "file": file, "installed": there})
        elif there:
            print(
                f"\n{agent.title} notes when a session ends ({agent.settings(invocation.environ)})"
            )
    if ended and not as_json:
        harvest = invocation.typed("harvest")
        print(f"{count(ended, 'session')} ended since the last harvest; {harvest} reads them.")


def _print(place: HookPlace, found: list[InstalledHook], *, as_json: bool) -> tuple[str, ...]:
    """Print how the hooks stand; those for which a line has to be added."""
    missing = tuple(installed.hook for installed in found if installed.way is Way.NONE)
    if as_json:
        _print_json(place, found)
        return missing
    _print_table(found)
    _print_place(place)
    for file, lines in lines_for(place, missing):
        print(f"\nTo add to {file}:\n{lines}")
    return missing


def _print_table(found: list[InstalledHook]) -> None:
    print_table(("hook", ""), [(installed.hook, installed.words) for installed in found])


def _print_place(place: HookPlace) -> None:
    where = f", where core.hooksPath points ({place.hooks_path})" if place.hooks_path else ""
    manager = f"; {place.manager.value} looks after them" if place.manager else ""
    print(f"\nHooks stand in {place.folder}{where}{manager}.")


def _print_json(place: HookPlace, found: list[InstalledHook]) -> None:
    for installed in found:
        missing = (installed.hook,) if installed.way is Way.NONE else ()
        print_json(
            "hook",
            {
                "hook": installed.hook,
                "way": installed.way.value,
                "there": installed.copy.value,
                "change": installed.change.value,
                "at_work": installed.at_work,
                "path": str(installed.path),
                "manager": place.manager.value if place.manager else None,
                "hooks_path": place.hooks_path,
                "add": [{"file": f, "lines": text} for f, text in lines_for(place, missing)],
            },
        )
