"""The whole file: a TOML text ↔ record. Any key that is not known is an error."""

from __future__ import annotations

import posixpath
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self, get_args, get_origin

from pydantic import ValidationError, model_validator

from skillgit.config.budget import BudgetConfig
from skillgit.config.nights import NightGateConfig, SleepConfig
from skillgit.config.sources import ModelConfig, RepoConfig, SkillConfig, Style, TasksConfig
from skillgit.config.training import (
    GateConfig,
    LrConfig,
    LrMode,
    MetaSkillConfig,
    ReflectConfig,
    SlowUpdateConfig,
    TrainConfig,
    UpdateMode,
)
from skillgit.errors import ConfigError, did_you_mean
from skillgit.records import Record

CONFIG_FILE = "skillgit.toml"


class LooksBack(NamedTuple):
    """The memories that an epoch's end renews."""

    slow_update: bool
    meta_skill: bool


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
    slow_update: SlowUpdateConfig = SlowUpdateConfig()
    meta_skill: MetaSkillConfig = MetaSkillConfig()
    gate: GateConfig = GateConfig()
    budget: BudgetConfig = BudgetConfig()
    sleep: SleepConfig = SleepConfig()

    @property
    def leaves_process(self) -> bool:
        """Whether a call of this configuration leaves the process: then its answers cost something."""
        return any(model.kind.leaves_process for model in (self.target, self.optimizer))

    @model_validator(mode="after")
    def _programs_only_do_tasks(self) -> Self:
        for role, model in (("target", self.target), ("judge", self.judge)):
            if model is not None and model.style is not Style.FULL:
                raise ValueError(f"{role}: a style is for the optimizer")
        for role, model in (("optimizer", self.optimizer), ("judge", self.judge)):
            if model is not None and model.kind.runs_program:
                raise ValueError(f'{role}: provider "{model.provider}" is for the target')
            if model is not None and model.environment is not None:
                raise ValueError(f"{role}: an environment is for the target")
        return self

    @property
    def looks_back(self) -> LooksBack:
        """Which memories an epoch's end renews; the plain style asks for none."""
        asks = self.optimizer.style is Style.FULL
        return LooksBack(
            slow_update=asks and self.slow_update.enabled,
            meta_skill=asks and self.meta_skill.enabled,
        )

    @model_validator(mode="after")
    def _a_plain_optimizer_only_writes_rules(self) -> Self:
        if self.optimizer.style is not Style.PLAIN:
            return self
        for key, asked in (
            ("train.update_mode", self.train.update_mode is not UpdateMode.PATCH),
            ("reflect.skill_aware", self.reflect.skill_aware),
            ("lr.mode", self.lr.mode is LrMode.AUTONOMOUS),
        ):
            if asked:
                raise ValueError(f'{key}: optimizer.style = "plain" asks for rules alone')
        return self

    @model_validator(mode="after")
    def _notes_go_with_edits(self) -> Self:
        if self.reflect.skill_aware and self.train.update_mode is UpdateMode.FULL_REWRITE_MINIBATCH:
            raise ValueError(
                f'reflect.skill_aware: with train.update_mode = "{self.train.update_mode}" no '
                "reflection writes notes"
            )
        return self


def parse_config(text: str, *, source: str = CONFIG_FILE) -> Config:
    """The configuration in a TOML text, as it is for its default skill.

    Raises: ConfigError naming every wrong key, with the nearest known name for an unknown one.
    """
    return parse_configs(text, source=source)[0]


def parse_configs(text: str, *, source: str = CONFIG_FILE) -> tuple[Config, ...]:
    """The configurations in a TOML text, one for each skill; they differ in skill and tasks alone.

    Shape: in the order of the text, so the default skill's first; one, if there is `[skill]`.
    Raises: ConfigError naming every wrong key, with the nearest known name for an unknown one.
    """
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{source} is not valid TOML: {error}") from error
    skills = raw.get("skill")
    if not isinstance(skills, list):
        skills = [skills] if "skill" in raw else []
    found: list[Config] = []
    wrong: list[str] = []
    for number, skill in enumerate(skills or [None], start=1):
        try:
            found.append(Config.model_validate(_with_skill(raw, skill)))
        except ValidationError as error:
            which = f"[[skill]] {number}: " if len(skills) > 1 else ""
            wrong += [
                _wrong(which, e["type"], _as_written(e["loc"]), e["msg"]) for e in error.errors()
            ]
    wrong += _repeated([config.skill.path for config in found])
    if wrong:
        raise ConfigError(f"{source}: " + "; ".join(dict.fromkeys(wrong)))
    return tuple(found)


def _with_skill(raw: Mapping[str, Any], skill: object) -> dict[str, Any]:
    """The text's tables with one skill as the skill, and its own tasks as the tasks."""
    tables = {name: table for name, table in raw.items() if name != "skill"}
    if skill is None:
        return tables
    own = skill.get("tasks") if isinstance(skill, dict) else None
    tasks = raw.get("tasks", {})
    if isinstance(own, str) and isinstance(tasks, dict):
        tables["tasks"] = {**tasks, "path": own}
    return {**tables, "skill": skill}


def _repeated(paths: Sequence[str]) -> list[str]:
    clean = [posixpath.normpath(path) for path in paths]
    twice = sorted({path for path in clean if clean.count(path) > 1})
    return [f"two [[skill]] have the path {path!r}" for path in twice]


def _as_written(loc: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """Where a key stands in the file: those of a night's gate are directly under `sleep`."""
    return ("sleep", *loc[2:]) if loc[:2] == ("sleep", "gate") else loc


def _wrong(which: str, kind: str, loc: tuple[int | str, ...], message: str) -> str:
    """What is wrong, and with which of several skills if it is a skill's own fault."""
    return f"{which if loc[:1] == ('skill',) else ''}{_describe(kind, loc, message)}"


def _describe(kind: str, loc: tuple[int | str, ...], message: str) -> str:
    key = ".".join(str(part) for part in loc)
    if kind == "extra_forbidden":
        return f"unknown key {key!r}{did_you_mean(loc[-1], _known_names(loc[:-1]))}"
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
    if model is SleepConfig:
        return [
            *NightGateConfig.model_fields,
            *(n for n in SleepConfig.model_fields if n != "gate"),
        ]
    return list(model.model_fields)
