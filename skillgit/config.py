"""skillgit.toml ↔ record. Every key here changes behaviour; any other key is an error."""

from __future__ import annotations

import difflib
import re
import tomllib
from enum import StrEnum
from typing import Annotated, Literal, Self, get_args, get_origin

from pydantic import Field, JsonValue, ValidationError, model_validator

from skillgit.errors import ConfigError
from skillgit.records import Metric, Record

CONFIG_FILE = "skillgit.toml"

Fraction = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]


class Provider(StrEnum):
    """Where a model's answers come from."""

    OPENAI = "openai"
    SIMULATED = "simulated"
    COMMAND = "command"


class Scheduler(StrEnum):
    """The curve of the learning rate over a run."""

    CONSTANT = "constant"
    LINEAR = "linear"
    COSINE = "cosine"


class RepoConfig(Record):
    """Where runs start and adopted versions go."""

    onto: str = "main"
    """The branch that runs start from and `adopt` goes to; what HEAD is on decides nothing."""


class SkillConfig(Record):
    """The documents being trained; `files` are globs relative to the main document's folder."""

    path: str
    """The skill's main document, from the repository's root."""
    name: str | None = None
    """The skill's name in refs and messages; else its frontmatter's name, or its folder's."""
    files: tuple[str, ...] = ()
    """More documents of the skill, as globs seen from the main document's folder."""


class ColumnsConfig(Record):
    """The names that a task's fields have in the files, where they are not the usual ones."""

    id: str | None = None
    """What tells tasks apart."""
    prompt: str | None = None
    """What the target is asked."""
    context: str | None = None
    """What it is told before."""
    system: str | None = None
    """What is added to the skill for this task."""
    reference: str | None = None
    """The answer, or the list of answers, to compare with."""
    choices: str | None = None
    """The options of a multiple choice."""
    split: str | None = None
    """`train`, `val` or `test`."""
    tags: str | None = None
    """Words to tell tasks apart by."""


class TasksConfig(Record):
    """Where the tasks are, and how they are split when a task names no split."""

    path: str
    """A file or a folder of tasks, from the repository's root."""
    ratio: tuple[float, float, float] = (0.5, 0.25, 0.25)
    """The shares of train, val and test, for tasks that name no split."""
    columns: ColumnsConfig = ColumnsConfig()
    judge: dict[str, JsonValue] | None = None
    """The judge of tasks that name none; without it, `exact` against their reference."""

    @model_validator(mode="after")
    def _sums_to_one(self) -> Self:
        if min(self.ratio) < 0 or abs(sum(self.ratio) - 1.0) > 1e-6:
            raise ValueError("ratio: three shares of train, val and test that sum to 1")
        return self


class SimulationConfig(Record):
    """Settings of the simulated model.

    Unit: `latency_ms` in milliseconds; the others are probabilities.
    """

    obedience: Fraction = 0.95
    """How likely the simulated target follows a rule that its skill states."""
    noise: Fraction = 0.0
    """How likely a rule is ignored all the same, drawn anew for every request."""
    forgetting: Fraction = 0.0
    """How much likelier a rule is forgotten the longer the skill gets."""
    latency_ms: Annotated[float, Field(ge=0)] = 0.0
    """How long an answer takes. Unit: milliseconds."""


class ModelConfig(Record):
    """One model role. `api_key_env` is the name of a variable, never a key.

    Unit: `timeout` in seconds, for one request.
    """

    provider: Provider = Provider.OPENAI
    """Where answers come from: any OpenAI-compatible server, the built-in simulated model, or a
    program of yours (`command`; for the target only)."""
    model: str = ""
    """The model's name, as the server knows it; only a program needs none."""
    base_url: str | None = None
    """The server's address, up to and with `/v1`; without it, OpenAI's own."""
    api_key_env: str | None = "OPENAI_API_KEY"
    """The name of the variable that holds the key; `""` sends none."""
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    """How freely the model words its answers; without it, the server's default."""
    max_tokens: Count | None = None
    """The longest answer, in tokens; without it, the server's default."""
    timeout: Annotated[float, Field(gt=0)] = 120.0
    """How long one request may take. Unit: seconds."""
    retries: Annotated[int, Field(ge=0)] = 4
    """How often a request that failed for a passing reason is sent again."""
    command: tuple[str, ...] = ()
    """With `provider = "command"`: the program and its arguments; no shell reads them."""
    env: tuple[str, ...] = ()
    """With `provider = "command"`: the names of the variables that the program sees, with PATH."""
    simulation: SimulationConfig = SimulationConfig()

    @model_validator(mode="after")
    def _has_what_its_provider_needs(self) -> Self:
        if self.provider is Provider.COMMAND:
            if not self.command or not self.command[0]:
                raise ValueError('provider "command" needs `command`, a list of words')
        elif self.command or self.env:
            raise ValueError('`command` and `env` go with provider = "command"')
        elif not self.model:
            raise ValueError("'model' is missing")
        return self


class TrainConfig(Record):
    """The loop's sizes."""

    epochs: Count = 4
    """How many times the train tasks are gone through."""
    batch_size: Count = 40
    """How many train tasks one step attempts."""
    minibatch_size: Count = 8
    """How many attempts one reflection looks at together."""
    merge_batch_size: Annotated[int, Field(ge=2)] = 8
    """How many patches are merged in one call."""
    failure_only: bool = False
    """Learn from failures alone, not from what went well."""
    seed: int = 42
    """What the order of tasks, and the seeds of requests, are drawn from."""
    workers: Count = 16
    """How many calls are in flight at once, at most."""


class ReflectConfig(Record):
    """What an analyst is shown. Unit: `max_chars` in characters, for one trajectory."""

    max_chars: Annotated[int, Field(ge=200)] = 12_000
    """How much of one attempt a reflection is shown; the middle is cut. Unit: characters."""


class LrConfig(Record):
    """The learning rate, in edits a step."""

    mode: Literal["fixed"] = "fixed"
    """How the number of edits a step may apply is decided: by the schedule."""
    scheduler: Scheduler = Scheduler.COSINE
    """The curve that falls from `max` at the first step to `min` at the last."""
    max: Count = 4
    """The most edits a step may apply, and the most one reflection may propose."""
    min: Count = 2
    """The fewest edits that the schedule comes down to."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.min > self.max:
            raise ValueError(f"min {self.min} is above max {self.max}")
        return self


class GateConfig(Record):
    """When a candidate is kept."""

    enabled: bool = True
    """Keep a candidate only if it measures better; `false` keeps every one."""
    metric: Metric = Metric.HARD
    """Which score is compared: all checks pass, the share that passes, or a mix of both."""
    mixed_weight: Fraction = 0.5
    """The weight of the soft score in `mixed`."""
    rule: str = "strict"
    """The rule that decides; `strict` asks for a higher mean, a tie is a rejection."""
    max_unscored: Fraction = 0.2
    """The share of val tasks that may go unscored before a step counts as blocked."""


class BudgetConfig(Record):
    """What a command may spend."""

    calls: Count | None = None
    """The most paid calls one command makes; finished work stays committed."""


class Config(Record):
    """The whole of skillgit.toml."""

    repo: RepoConfig = RepoConfig()
    skill: SkillConfig
    tasks: TasksConfig
    target: ModelConfig
    optimizer: ModelConfig
    judge: ModelConfig | None = None
    """The model that judges by rubrics; without it, the optimizer's."""
    train: TrainConfig = TrainConfig()
    reflect: ReflectConfig = ReflectConfig()
    lr: LrConfig = LrConfig()
    gate: GateConfig = GateConfig()
    budget: BudgetConfig = BudgetConfig()

    @model_validator(mode="after")
    def _programs_only_do_tasks(self) -> Self:
        for role, model in (("optimizer", self.optimizer), ("judge", self.judge)):
            if model is not None and model.provider is Provider.COMMAND:
                raise ValueError(f'{role}: provider "command" is for the target')
        return self


def without_user_info(url: str) -> str:
    """The URL as it may be shown and stored: without a name and a password before its host."""
    return re.sub(r"^([^/?#]*//)?[^/?#]*@", r"\1", url)


def parse_config(text: str, *, source: str = CONFIG_FILE) -> Config:
    """The configuration in a TOML text.

    Raises: ConfigError naming every wrong key, with the nearest known name for an unknown one.
    """
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{source} is not valid TOML: {error}") from error
    try:
        return Config.model_validate(raw)
    except ValidationError as error:
        lines = [_describe(e["type"], e["loc"], e["msg"]) for e in error.errors()]
        raise ConfigError(f"{source}: " + "; ".join(lines)) from error


def _describe(kind: str, loc: tuple[int | str, ...], message: str) -> str:
    key = ".".join(str(part) for part in loc)
    if kind == "extra_forbidden":
        near = difflib.get_close_matches(str(loc[-1]), _known_names(loc[:-1]), n=1)
        suggestion = f", did you mean {near[0]!r}?" if near else ""
        return f"unknown key {key!r}{suggestion}"
    if kind == "missing":
        return f"{key!r} is missing"
    text = message.removeprefix("Value error, ")
    return f"{key}: {text}" if key else text


def _known_names(loc: tuple[int | str, ...]) -> list[str]:
    model: type[Record] = Config
    for part in loc:
        field = model.model_fields.get(str(part))
        if field is None:
            continue
        options = [field.annotation, *get_args(field.annotation)]
        for option in options:
            if (
                get_origin(option) is None
                and isinstance(option, type)
                and issubclass(option, Record)
            ):
                model = option
    return list(model.model_fields)
