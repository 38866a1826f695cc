"""One command from its words to its exit code: the only place where an error becomes a number."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from skillgit.cli.app.completion import VARIABLE, answer
from skillgit.cli.app.group import root
from skillgit.cli.app.invocation import Invocation
from skillgit.errors import ExitCode, SkillgitError

BROKEN_PIPE = 141


def run(arguments: Sequence[str], environ: Mapping[str, str], *, name: str = "skillgit") -> int:
    """The exit code of one command; what went wrong stands on stderr."""
    invocation = Invocation(environ=environ, directory=Path.cwd(), name=name)
    if environ.get(VARIABLE):
        return answer(root, invocation, environ[VARIABLE])
    try:
        code = _invoke(invocation, list(arguments))
        sys.stdout.flush()
    except SkillgitError as error:
        complain(error.message, error.hint)
        return error.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message(), file=sys.stderr)
        return ExitCode.USAGE
    except click.ClickException as error:
        complain(_as_ours(error.format_message()), _usage_hint(error, invocation))
        return ExitCode.USAGE
    except (KeyboardInterrupt, click.Abort):
        return _interrupted(invocation)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except Exception as error:  # noqa: BLE001 - the outermost place: a bug becomes a report
        return _interrupted(invocation) if _came_of_ctrl_c(error) else _bug(error, invocation)
    return code


def complain(message: str, hint: str = "") -> None:
    """Say on stderr what is wrong, and what to do about it."""
    print(f"error: {message}", file=sys.stderr)
    for line in hint.splitlines():
        print(f"hint: {line}", file=sys.stderr)


def _invoke(invocation: Invocation, arguments: list[str]) -> int:
    try:
        with root.make_context(invocation.name, arguments, obj=invocation) as context:
            root.invoke(context)
    except click.exceptions.Exit as done:
        return done.exit_code
    return ExitCode.DONE


def _as_ours(message: str) -> str:
    return message[:1].lower() + message[1:].removesuffix(".")


def _usage_hint(error: click.ClickException, invocation: Invocation) -> str:
    if not isinstance(error, click.UsageError) or error.ctx is None:
        return ""
    command = error.ctx.command_path.removeprefix(invocation.name).split()
    return f"{invocation.typed(*command, '--help')} shows what there is."


def _interrupted(invocation: Invocation) -> int:
    print(file=sys.stderr)
    if invocation.resume is None:
        complain("interrupted")
    else:
        complain(
            "interrupted; every finished step is committed, every answer is kept",
            f"{invocation.resume} goes on from there.",
        )
    return ExitCode.INTERRUPTED


def _came_of_ctrl_c(error: BaseException | None) -> bool:
    """Whether a Ctrl-C stands behind an error: it may have met Python's own code half done."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def _bug(error: Exception, invocation: Invocation) -> int:
    from skillgit.cli.app.crash import write_trace

    path = write_trace(error, invocation)
    kept = "; every finished step is committed" if invocation.resume else ""
    complain(
        f"skillgit met a bug ({type(error).__name__}){kept}",
        f"The trace is in {path}; it holds no key. Please add it to a bug report.",
    )
    return ExitCode.BUG
