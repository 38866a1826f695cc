"""`skillgit verify`: for CI on a proposal: do the commits keep what they claim?"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.app.keys import find_key
from skillgit.cli.app.worktree import worktree_at
from skillgit.cli.show.output import (
    count,
    json_option,
    number,
    one_line,
    print_json,
    print_table,
    say,
)
from skillgit.config import Config, ModelConfig
from skillgit.config.trust import TrustFile, untrusted
from skillgit.errors import UserError
from skillgit.evaluation.wiring import Runtime
from skillgit.judges import judge_commands, judge_programs
from skillgit.models.journal import Journal
from skillgit.records import Role
from skillgit.review.verify.base_revision import BaseRevision, SkillAtBase, read_base_revision
from skillgit.review.verify.findings import Rerun, Severity, Verdict
from skillgit.review.verify.rerun import Remeasuring
from skillgit.review.verify.summary import summary
from skillgit.review.verify.verify import Verifier, with_reruns
from skillgit.runtime.processes import command_digest
from skillgit.runtime.progress import Progress
from skillgit.store.git.refs import Refs
from skillgit.store.git.repository import Repository, open_repository
from skillgit.store.git_store import GitStore
from skillgit.store.ranges import Range, read_range, snapshot
from skillgit.store.skills.skills import skill_in_commit
from skillgit.tasks import TaskSet
from skillgit.training.wiring import is_simulated

FAILED = 1


@click.command()
@click.argument("range_", metavar="RANGE")
@click.option(
    "--body", metavar="FILE", help="The pull request's text, to be looked at; - is stdin."
)
@click.option("--rerun", is_flag=True, help="Measure base and proposal again; this costs.")
@click.option("--strict", is_flag=True, help="Let warnings fail it, too.")
@click.option("--summary", "page", metavar="FILE", help="Append the result to FILE, as Markdown.")
@json_option
@click.pass_obj
def command(
    invocation: Invocation,
    *,
    range_: str,
    body: str | None,
    rerun: bool,
    strict: bool,
    page: str | None,
    as_json: bool,
) -> None:
    """Check that the commits of RANGE keep what they claim, and no more.

    RANGE is main...BRANCH; skillgit.toml, tasks, judges and prompts are
    those of its left side, never the proposal's. Nothing of the proposal is
    checked out or run, and without --rerun nothing is paid for. Ends with 1
    if something is found.
    """
    repository = open_repository(invocation.directory)
    found = _range(repository, range_, invocation)
    ground = read_base_revision(repository, found.base)
    refs = Refs(
        repository.git,
        repository.common,
        clock=invocation.clock,
        command=invocation.typed("verify", range_),
    )
    with _root(ground) as root:
        verifier = Verifier(repository, refs, invocation.clock, root=root)
        verdict = verifier.verify(range_, found, body=_read(invocation, body))
        if rerun:
            again = _Rerun(invocation, repository, ground, root).run(found)
            verdict = with_reruns(verdict, tuple(again))
    if page is not None:
        _append(invocation.path(page), summary(verdict))
    _print_json(verdict) if as_json else _print(verdict)
    if not verdict.ok or (strict and verdict.findings):
        raise click.exceptions.Exit(FAILED)


def _range(repository: Repository, typed: str, invocation: Invocation) -> Range:
    """The range, its left side `[repo] onto` of HEAD's own configuration where none is named."""
    onto = "HEAD"
    if typed.startswith(".") or ".." not in typed:
        onto = read_base_revision(repository, _head(repository, invocation)).onto
    found = read_range(repository.git, typed, onto=onto)
    if not found.commits:
        say(f"note: {found.head[:12]} has nothing that {found.base[:12]} has not")
    return found


def _head(repository: Repository, invocation: Invocation) -> str:
    if repository.git.head_is_unborn:
        raise UserError(
            "there is no commit here to take a configuration from",
            hint=f"{invocation.typed('verify', 'main...BRANCH')} names both sides.",
        )
    return str(repository.git.head.target)


@contextmanager
def _root(ground: BaseRevision) -> Iterator[str | None]:
    """The base's files in a folder, where what measures is programs among them."""
    try:
        needed = any(ground.runs_programs(skill) for skill in ground.skills.values())
    except UserError:
        needed = False  # the claims say what is wrong with the tasks
    if not needed:
        yield None
        return
    with snapshot(ground.repository.git, ground.base) as folder:
        yield str(folder)


def _read(invocation: Invocation, body: str | None) -> str | None:
    if body is None:
        return None
    if body == "-":
        return sys.stdin.read()
    try:
        return invocation.path(body).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UserError(f"cannot read {body}: {error.strerror}") from error


def _append(file: Path, text: str) -> None:
    try:
        with file.open("a", encoding="utf-8") as page:
            page.write(text)
    except OSError as error:
        raise UserError(f"cannot write {file}: {error.strerror}") from error


class _Rerun:
    """Measures base and proposal again, as the base says, once a person has trusted that."""

    def __init__(
        self, invocation: Invocation, repository: Repository, ground: BaseRevision, root: str | None
    ) -> None:
        self._invocation = invocation
        self._repository = repository
        self._ground = ground
        self._root = root
        self._tree = worktree_at(invocation.directory, invocation.environ)

    def run(self, found: Range) -> Iterator[Rerun]:
        """What each skill that the range touches came to."""
        for skill in self._ground.skills.values():
            if any(skill.declares(change.path) for change in found.changes):
                yield self._one(skill, found)

    def _one(self, skill: SkillAtBase, found: Range) -> Rerun:
        config, git = skill.config, self._repository.git
        tasks = self._ground.tasks(skill)
        commands = judge_commands(tasks.tasks)
        self._require_trust(config, tasks)
        before, after = (skill_in_commit(git, c, config.skill) for c in (found.base, found.head))
        store = GitStore(
            self._repository,
            config.skill,
            skill_name=skill.name,
            clock=self._invocation.clock,
            command=self._invocation.typed("verify", "--rerun"),
        )
        runtime = Runtime(
            key_of=self._key_of,
            clock=self._invocation.clock,
            prompts=self._ground.prompts(),
            progress=Progress(),
            variables=self._invocation.environ,
            root=self._root,
            may_run=lambda command: tuple(command) in commands,
        )
        path, durable = self._repository.private.journal, not is_simulated(config)
        with Journal(path, durable=durable) as journal:
            return Remeasuring(skill, tasks, store, journal, runtime).compare(before, after)

    def _key_of(self, role: Role, model: ModelConfig) -> str | None:
        return find_key(model, role.value, self._invocation, self._tree)

    def _require_trust(self, config: Config, tasks: TaskSet) -> None:
        missing = untrusted(
            config,
            TrustFile(self._repository.private.trust).read(),
            judge_programs(tasks.tasks),
            digest_of=lambda command: command_digest(command, self._root),
        )
        if missing:
            asked = "; ".join(demand.line for demand in missing)
            raise UserError(
                f"measuring again asks for something that you have not allowed yet: {asked}",
                hint=f"On the base's branch, {self._invocation.typed('trust')} shows it and asks.",
            )


def _print(verdict: Verdict) -> None:
    for finding in verdict.findings:
        where, message = one_line(finding.where), one_line(finding.message)
        print(f"{finding.severity.value}: {finding.check}: {where}: {message}")
    claimed = [claim for claim in verdict.claims if claim.claimed is not None]
    if claimed:
        print()
        rows = [
            (c.commit[:12], f"{c.run}@{c.step}", number(c.claimed), number(c.known))
            for c in claimed
        ]
        print_table(("commit", "version", "claims", "ledger"), rows)
    for again in verdict.reruns:
        print(f"{again.skill}, measured again: {number(again.before)} -> {number(again.after)}")
    problems = len(verdict.problems)
    warned = sum(f.severity is Severity.WARNING for f in verdict.findings)
    warnings = f", {count(warned, 'warning')}" if warned else ""
    came = count(problems, "problem") if problems else "all is as it says"
    print(f"{count(verdict.commits, 'commit')}: {came}{warnings}")


def _print_json(verdict: Verdict) -> None:
    for finding in verdict.findings:
        print_json("finding", finding.model_dump(mode="json"))
    for claim in verdict.claims:
        print_json("claim", claim.model_dump(mode="json"))
    for again in verdict.reruns:
        print_json("rerun", again.model_dump(mode="json"))
    fields = verdict.model_dump(mode="json", include={"range", "base", "head", "commits"})
    problems = len(verdict.problems)
    warnings = len(verdict.findings) - problems
    print_json("verdict", {**fields, "ok": verdict.ok, "problems": problems, "warnings": warnings})
