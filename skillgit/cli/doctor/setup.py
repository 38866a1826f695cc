"""Checks of what is set up: configuration, trust, keys, models, skill, tasks, transcripts."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from skillgit.cli.app.keys import find_key, is_loopback
from skillgit.cli.doctor.rows import DoctorContext, DoctorRow, bad, ok, warn
from skillgit.cli.sessions.harvest import damage_lines, open_harvest_context
from skillgit.cli.sessions.project import Project, open_project
from skillgit.cli.sessions.training import runtime_of
from skillgit.cli.show.output import count, say
from skillgit.config import CONFIG_FILE, Config, ModelConfig, Style, without_user_info
from skillgit.errors import BlockedError, CallError, UserError
from skillgit.evaluation.wiring import judge_config, role_model
from skillgit.judges import Asks, read_judge
from skillgit.records import Message, ModelRequest, Role, Speaker, Task
from skillgit.sleep.harvest import transcript_damage
from skillgit.stages.update import check_skill
from skillgit.store.skills.skills import committed_skill
from skillgit.tasks import TaskSet

_TIMEOUT = 30.0  # Unit: seconds. A server that is up answers a word in less.
_FEW_TOKENS = 16


def config(context: DoctorContext) -> Iterator[DoctorRow]:
    """The configuration; reads it."""
    project = open_project(context.invocation)
    context.opened_project = project
    for model in (project.config.target, project.config.optimizer, project.config.judge):
        key = context.invocation.environ.get(model.api_key_env or "") if model else None
        context.invocation.secrets |= {key} if key else set()
    skills = f", {count(len(project.skills), 'skill')}" if project.skills else ""
    yield ok("config", f"{CONFIG_FILE} is valid{skills}")


def tasks(context: DoctorContext) -> Iterator[DoctorRow]:
    """The tasks of each skill; reads them."""
    every: dict[str, Task] = {}
    for project in context.project.each():
        if project.is_for_nights:
            path = project.config.tasks.path
            yield ok("tasks", f"none in {path}: nights make tasks of their own")
            continue
        found = project.tasks()
        every |= {task.id: task for task in found.tasks}
        sizes = f"{len(found.train)} train, {len(found.val)} val, {len(found.test)} test"
        says = f"{count(len(found.tasks), 'task')} ({sizes}) in {project.config.tasks.path}"
        yield ok("tasks", f"{project.skill}: {says}" if project.skill else says)
    context.tasks = TaskSet(tasks=tuple(every.values()))


def skill(context: DoctorContext) -> Iterator[DoctorRow]:
    """Each skill as it is committed where runs start; opens its store."""
    for project in context.project.each():
        yield _skill(context, project)


def _skill(context: DoctorContext, project: Project) -> DoctorRow:
    repository = context.repository
    onto = project.config.repo.onto
    found = committed_skill(repository, project.config.skill, onto)
    store = project.open_store(repository, found.name, private=True)
    context.stores.append(store)
    check_skill(found)
    paths = [document.path for document in found.documents]
    says = f"{found.name}: {', '.join(paths)}, committed on {onto}"
    changed = repository.uncommitted(tuple(paths))
    if not changed:
        return ok("skill", says)
    do = f"Runs go by {onto}; to have the changes in: git add {' '.join(changed)} && git commit"
    return warn("skill", f"{says}; {', '.join(changed)} has changes that are not", do)


def trust(context: DoctorContext) -> Iterator[DoctorRow]:
    """Whether a person has agreed to what the committed files ask for."""
    missing = context.project.untrusted(context.tasks)
    context.trusted = not missing
    for demand in missing:
        yield bad("trust", f"not agreed to: {demand.line}", context.invocation.typed("trust"))
    if not missing:
        yield ok("trust", "nothing waits for your word")


def keys(context: DoctorContext) -> Iterator[DoctorRow]:
    """Whether there is a key for each role; only its variable's name is ever shown."""
    for role, model in _asked(context):
        name = f"key {role.value}"
        if model.key_variable is None:
            yield ok(name, "none is needed")
            continue
        try:
            found = find_key(model, role.value, context.invocation, context.project.tree)
        except UserError as error:
            yield bad(name, error.message, error.hint)
            continue
        yield ok(name, f"{model.key_variable} is {'set' if found else 'not set, and not needed'}")


def models(context: DoctorContext) -> Iterator[DoctorRow]:
    """Whether each model answers, with one tiny call; a program is only looked for."""
    project = context.project
    asked = _asked(context)
    called = [role.value for role, model in asked if model.kind.sends_away]
    if called and context.trusted and not context.offline:
        say(f"asking for one word, one call each: {', '.join(called)}")
    for role, model in asked:
        if model.kind.runs_program:
            yield _program(project, model)
        elif context.offline:
            yield ok(f"model {role.value}", f"{model.model}: not asked (--offline)")
        elif not context.trusted:
            do = f"{context.invocation.typed('trust')}, then this again"
            yield warn(f"model {role.value}", f"{model.model}: not asked before you trust it", do)
        else:
            yield _answer(project, role, model)


def style(context: DoctorContext) -> Iterator[DoctorRow]:
    """Whether the optimizer is asked for as much as it can probably give."""
    model = context.project.config.optimizer
    if model.style is Style.PLAIN:
        yield ok("style", "plain: one rule against each fault is asked for, and nothing else")
    elif model.base_url is not None and is_loopback(model.base_url):
        says = f"full, for {model.model} on this machine"
        yield warn("style", says, 'If it is a small model, [optimizer] style = "plain" suits it.')
    else:
        yield ok("style", "full")


def _asked(context: DoctorContext) -> list[tuple[Role, ModelConfig]]:
    """The roles that a training asks, each with its model; the judge's if it is one of its own."""
    config = context.project.config
    found = [(Role.TARGET, config.target), (Role.OPTIMIZER, config.optimizer)]
    is_asked = any(read_judge(task).asks is Asks.MODEL for task in context.tasks.tasks)
    if config.judge is not None and is_asked:
        found.append((Role.JUDGE, judge_config(config)))
    return found


def _program(project: Project, model: ModelConfig) -> DoctorRow:
    program = model.command[0]
    path = project.invocation.environ.get("PATH")
    if (project.tree.root / program).is_file() or shutil.which(program, path=path):
        return ok("model target", f"the program {program} is there; it was not run")
    return bad("model target", f"there is no program {program}", f"Put {program} on PATH.")


def _answer(project: Project, role: Role, model: ModelConfig) -> DoctorRow:
    name = f"model {role.value}"
    where = without_user_info(model.base_url) if model.base_url else "its provider"
    what = f"{model.model} at {where}"
    if not model.kind.sends_away:
        what = f"{model.model}, {model.provider}"
    try:
        found = role_model(
            _for_one_call(project.config), role, runtime_of(project, TaskSet(tasks=()))
        )
        reply = found.complete(
            ModelRequest(
                model=model.model,
                messages=(Message(role=Speaker.USER, content="Answer with the word OK."),),
                max_tokens=_FEW_TOKENS,
            )
        )
    except CallError as error:
        return bad(name, f"{what}: {error}", "Look at [target] and [optimizer] base_url and model.")
    except BlockedError as error:
        return bad(name, f"{what}: {error.message}", error.hint)
    return ok(name, f"{what} answers, {reply.usage.total} tokens")


def _for_one_call(config: Config) -> Config:
    """The config for one call: not retried, and not waited for as long as for a real answer."""

    def once(model: ModelConfig) -> ModelConfig:
        return model.model_copy(update={"retries": 0, "timeout": min(model.timeout, _TIMEOUT)})

    judge = None if config.judge is None else once(config.judge)
    update = {"target": once(config.target), "optimizer": once(config.optimizer), "judge": judge}
    return config.model_copy(update=update)


def transcripts(context: DoctorContext) -> Iterator[DoctorRow]:
    """Damaged lines and record types that no reader knows, by source; only if asked for."""
    if not context.transcripts:
        return
    harvest = open_harvest_context(context.invocation)
    found = transcript_damage(harvest.places(), harvest.wanted(None), harvest.digests())
    for source, damage in found.items():
        lines = damage_lines(source, damage)
        for line in lines:
            yield warn("transcripts", line, "They are passed over; a newer skillgit may read them.")
        if not lines:
            yield ok("transcripts", f"{source}: {count(damage.lines, 'line')}, all read")
