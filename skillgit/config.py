"""skillgit.toml ↔ record. Every key here changes behaviour; any other key is an error."""

from __future__ import annotations

import difflib
import tomllib
from enum import StrEnum
from typing import Annotated, Literal, Self, get_args, get_origin

from pydantic import Field, ValidationError, model_validator

from skillgit.errors import ConfigError
from skillgit.records import Metric, Record

CONFIG_FILE = "skillgit.toml"

Fraction = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]


class Provider(StrEnum):
    """Where a model's answers come from."""

    OPENAI = "openai"
    SIMULATED = "simulated"


class Scheduler(StrEnum):
    """The curve of the learning rate over a run."""

    CONSTANT = "constant"
    LINEAR = "linear"
    COSINE = "cosine"


class RepoConfig(Record):
    """Where runs start and adopted versions go."""

    onto: str = "main"


class SkillConfig(Record):
    """The documents being trained; `files` are globs relative to the main document's folder."""

    path: str
    name: str | None = None
    files: tuple[str, ...] = ()


class TasksConfig(Record):
    """Where the tasks are, and how they are split when a task names no split."""

    path: str
    ratio: tuple[float, float, float] = (0.5, 0.25, 0.25)

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
    noise: Fraction = 0.0
    forgetting: Fraction = 0.0
    latency_ms: Annotated[float, Field(ge=0)] = 0.0


class ModelConfig(Record):
    """One model role. `api_key_env` is the name of a variable, never a key.

    Unit: `timeout` in seconds, for one request.
    """

    provider: Provider = Provider.OPENAI
    model: str
    base_url: str | None = None
    api_key_env: str | None = "OPENAI_API_KEY"
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    max_tokens: Count | None = None
    timeout: Annotated[float, Field(gt=0)] = 120.0
    retries: Annotated[int, Field(ge=0)] = 4
    simulation: SimulationConfig = SimulationConfig()


class TrainConfig(Record):
    """The loop's sizes."""

    epochs: Count = 4
    batch_size: Count = 40
    minibatch_size: Count = 8
    merge_batch_size: Annotated[int, Field(ge=2)] = 8
    failure_only: bool = False
    seed: int = 42
    workers: Count = 16


class ReflectConfig(Record):
    """What an analyst is shown. Unit: `max_chars` in characters, for one trajectory."""

    max_chars: Annotated[int, Field(ge=200)] = 12_000


class LrConfig(Record):
    """The learning rate, in edits a step."""

    mode: Literal["fixed"] = "fixed"
    scheduler: Scheduler = Scheduler.COSINE
    max: Count = 4
    min: Count = 2

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.min > self.max:
            raise ValueError(f"min {self.min} is above max {self.max}")
        return self


class GateConfig(Record):
    """When a candidate is kept."""

    enabled: bool = True
    metric: Metric = Metric.HARD
    mixed_weight: Fraction = 0.5
    rule: str = "strict"
    max_unscored: Fraction = 0.2


class BudgetConfig(Record):
    """What a command may spend."""

    calls: Count | None = None


class Config(Record):
    """The whole of skillgit.toml."""

    repo: RepoConfig = RepoConfig()
    skill: SkillConfig
    tasks: TasksConfig
    target: ModelConfig
    optimizer: ModelConfig
    train: TrainConfig = TrainConfig()
    reflect: ReflectConfig = ReflectConfig()
    lr: LrConfig = LrConfig()
    gate: GateConfig = GateConfig()
    budget: BudgetConfig = BudgetConfig()


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
    return f"{key}: {message.removeprefix('Value error, ')}" if key else message


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
