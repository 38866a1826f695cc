"""skillgit.toml ↔ record. Every key here changes behaviour; any other key is an error."""

from __future__ import annotations

import difflib
import posixpath
import re
import tomllib
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, Self, get_args, get_origin

from pydantic import Field, JsonValue, ValidationError, model_validator

from skillgit.errors import ConfigError
from skillgit.records import Metric, Record

CONFIG_FILE = "skillgit.toml"

Fraction = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]
Price = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]


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


class LrMode(StrEnum):
    """Who decides how many edits a step may apply."""

    FIXED = "fixed"
    AUTONOMOUS = "autonomous"
    NONE = "none"


class UpdateMode(StrEnum):
    """How proposals become a new text."""

    PATCH = "patch"
    REWRITE_FROM_SUGGESTIONS = "rewrite_from_suggestions"
    FULL_REWRITE_MINIBATCH = "full_rewrite_minibatch"


class PairPolicy(StrEnum):
    """Which pairs of a comparison are looked at."""

    MIXED = "mixed"
    CHANGED = "changed"
    UNCHANGED = "unchanged"


class Leak(StrEnum):
    """What is done with a candidate that holds what only the tasks should."""

    WARN = "warn"
    REJECT = "reject"


class AppendixSource(StrEnum):
    """Which analysts may write notes on lapses."""

    BOTH = "both"
    FAILURE_ONLY = "failure_only"


class RepoConfig(Record):
    """Where runs start and adopted versions go."""

    onto: str = "main"
    """The branch that runs start from and `adopt` goes to; what HEAD is on decides nothing."""


class SkillConfig(Record):
    """The documents being trained; each of several skills is a `[[skill]]`, the default one first."""

    path: str
    """The skill's main document, from the repository's root."""
    name: str | None = None
    """The skill's name in refs and messages; else its frontmatter's name, or its folder's."""
    files: tuple[str, ...] = ()
    """More documents of the skill, as globs seen from the main document's folder."""
    tasks: str | None = None
    """The skill's own file or folder of tasks, in place of `[tasks]` path."""
    max_tokens: Count | None = None
    """The longest that training may make the skill, all documents together; an edit that would
    go beyond it is not applied. Unit: tokens, reckoned as a quarter of the bytes."""


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

    @property
    def samples(self) -> bool:
        """Whether it may answer the same request differently another time."""
        if self.provider is Provider.SIMULATED:
            sure = self.simulation.obedience in (0.0, 1.0)
            return not sure or self.simulation.noise > 0 or self.simulation.forgetting > 0
        return self.temperature != 0

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
    """How many train tasks one batch attempts."""
    accumulation: Count = 1
    """How many batches are attempted and reflected on before one update."""
    update_mode: UpdateMode = UpdateMode.PATCH
    """How proposals become a new text: `patch` applies edits one by one;
    `rewrite_from_suggestions` has the document rewritten from the selected edits;
    `full_rewrite_minibatch` has each reflection write the whole main document, and merges those."""
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
    stop_when_perfect: bool = True
    """End the run once every val task passes: no candidate could rise above that. With `[gate]
    refresh_every`, or with `--force`, it goes on."""


class ReflectConfig(Record):
    """What an analyst is shown, and what it may write.

    Unit: `max_chars` in characters, for one trajectory.
    """

    max_chars: Annotated[int, Field(ge=200)] = 12_000
    """How much of one attempt a reflection is shown; the middle is cut. Unit: characters."""
    skill_aware: bool = False
    """Tell defects of the skill, which edits mend, from lapses in following it, which a note in
    the skill's protected appendix reminds of."""
    appendix_source: AppendixSource = AppendixSource.BOTH
    """Which reflections may write such notes: those on failures and on successes, or on failures
    alone."""
    appendix_max: Count = 12
    """The most notes the appendix has; when there would be more, they are consolidated."""


class LrConfig(Record):
    """The learning rate, in edits a step."""

    mode: LrMode = LrMode.FIXED
    """How the number of edits a step may apply is decided: by the schedule (`fixed`), by the
    optimizer (`autonomous`), or not at all (`none`: all of them)."""
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


class SlowUpdateConfig(Record):
    """The look over a whole epoch. Unit: `max_chars` in characters, for one trajectory."""

    enabled: bool = True
    """At an epoch's end, write guidance into the skill's protected region."""
    samples: Count = 20
    """How many train tasks are attempted with the skill before and after the epoch."""
    gate: bool = False
    """Judge the guidance as a step is judged; `false` has training go on from it, and measures
    it before the next step is judged."""
    pair_policy: PairPolicy = PairPolicy.MIXED
    """Which pairs are looked at: all, only those whose result changed, or only the others."""
    max_chars: Annotated[int, Field(ge=200)] = 3_000
    """How much of one attempt is shown; the middle is cut. Unit: characters."""


class MetaSkillConfig(Record):
    """The optimizer's own memory."""

    enabled: bool = True
    """At an epoch's end, write down which kinds of edit work here; the next epoch reads it."""


class GateConfig(Record):
    """When a candidate is kept."""

    enabled: bool = True
    """Keep a candidate only if it measures better; `false` keeps every one."""
    metric: Metric = Metric.HARD
    """Which score is compared: all checks pass, the share that passes, or a mix of both."""
    mixed_weight: Fraction = 0.5
    """The weight of the soft score in `mixed`."""
    rule: str = "strict"
    """The rule that decides: `strict` asks for a higher mean, and a tie is a rejection; `paired`
    asks for an exact sign test besides; `pace` for a bet that pays off, safe over a whole run."""
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """How often luck may pass for a gain: of an equal candidate with `paired`, in a whole run
    with `pace`."""
    min_delta: Fraction = 0.0
    """What a candidate's score has to be above current's by more than."""
    no_regression: bool | Fraction = False
    """Reject a candidate under which any task falls: `true` by however little, a number by more
    than that."""
    repeats: Count = 1
    """How often each val task is attempted; its score is the mean."""
    curtail: bool = True
    """Stop measuring a candidate once it can no longer be accepted; the verdict is the same."""
    refresh_every: Annotated[int, Field(ge=0)] = 0
    """Measure current again before judging at every n-th step, if the target samples, and pool
    its scores; 0 never does."""
    max_unscored: Fraction = 0.2
    """The share of val tasks that may go unscored before a step counts as blocked."""
    leak: Leak = Leak.WARN
    """What to do with a candidate that holds a `regex` check, a task's reference, or a task's
    own words: mark it in its note (`warn`), or reject it unmeasured (`reject`)."""

    @property
    def tolerance(self) -> float | None:
        """How far a task may fall; `None` for however far."""
        if self.no_regression is False:
            return None
        return float(self.no_regression) if self.no_regression is not True else 0.0


class PriceConfig(Record):
    """What tokens cost. Unit: US dollars per million tokens."""

    prompt: Price = 0.0
    """What is sent. Unit: US dollars per million tokens."""
    completion: Price = 0.0
    """What comes back. Unit: US dollars per million tokens."""


class PricesConfig(Record):
    """The prices of each role's model."""

    target: PriceConfig | None = None
    """The target's."""
    optimizer: PriceConfig | None = None
    """The optimizer's."""
    judge: PriceConfig | None = None
    """The judge's; without it, the optimizer's."""


class BudgetConfig(Record):
    """What a run may spend, checked before each call; finished work stays committed.

    A run that is gone on with has spent what it spent; only `minutes` begin anew.
    """

    calls: Count | None = None
    """The most paid calls that a run makes."""
    tokens: Count | None = None
    """The most tokens, sent and received; what is in flight when they are reached is over it."""
    usd: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """The most money, by `prices`; what is in flight when it is reached is over it. Unit: US
    dollars."""
    minutes: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """The longest that one command works before it makes no further call. Unit: minutes."""
    prices: PricesConfig = PricesConfig()

    @model_validator(mode="after")
    def _money_needs_prices(self) -> Self:
        if self.usd is not None and (self.prices.target is None or self.prices.optimizer is None):
            raise ValueError(
                "usd needs what tokens cost: prices.target and prices.optimizer, each with "
                "prompt and completion in dollars per million tokens"
            )
        return self


class Miner(StrEnum):
    """What turns sessions into tasks."""

    HEURISTIC = "heuristic"
    LLM = "llm"


class NightOptimizer(StrEnum):
    """Who writes a night's edits."""

    MODEL = "model"
    HANDOFF = "handoff"


class SleepConfig(GateConfig):
    """What is learned from a person's own agent sessions, and when it is kept."""

    metric: Metric = Metric.MIXED
    """Which score is compared: all checks pass, the share that passes, or a mix of both."""

    projects: tuple[str, ...] = ()
    """The folders whose sessions are looked at, seen from the repository's root; without any, the
    work trees of this repository; `"*"` is all."""
    sources: tuple[str, ...] = ("claude-code", "codex")
    """Whose transcripts are read: `claude-code`, `codex`, `atif`, `neutral`; `name:FOLDER` reads
    them from there."""
    miner: Miner = Miner.HEURISTIC
    """What turns sessions into tasks: `heuristic` asks no model, `llm` asks the optimizer."""
    max_tasks: Count = 40
    """The most tasks that a file of mined tasks has, and that a night goes by."""
    optimizer: NightOptimizer = NightOptimizer.MODEL
    """Who writes a night's edits: the optimizer (`model`), or whoever answers the questions that
    are written to a private folder (`handoff`), for example your own coding agent."""
    dream_rollouts: Count = 1
    """How often a night attempts each train task; from 2 on, good and bad attempts are compared."""
    dream_factor: Annotated[int, Field(ge=0)] = 0
    """How many made-up variants of each train task a night adds to it."""
    recall_k: Annotated[int, Field(ge=0)] = 0
    """How many similar train tasks of earlier nights a night brings back for each of its own."""
    stack: bool = False
    """Build a night on the last proposal that you have not decided on, in place of `onto`."""


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

    @model_validator(mode="after")
    def _programs_only_do_tasks(self) -> Self:
        for role, model in (("optimizer", self.optimizer), ("judge", self.judge)):
            if model is not None and model.provider is Provider.COMMAND:
                raise ValueError(f'{role}: provider "command" is for the target')
        return self

    @model_validator(mode="after")
    def _notes_go_with_edits(self) -> Self:
        if self.reflect.skill_aware and self.train.update_mode is UpdateMode.FULL_REWRITE_MINIBATCH:
            raise ValueError(
                f'reflect.skill_aware: with train.update_mode = "{self.train.update_mode}" no '
                "reflection writes notes"
            )
        return self


def without_user_info(url: str) -> str:
    """The URL as it may be shown and stored: without a name and a password before its host."""
    return re.sub(r"^([^/?#]*//)?[^/?#]*@", r"\1", url)


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
            wrong += [_wrong(which, e["type"], e["loc"], e["msg"]) for e in error.errors()]
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


def _wrong(which: str, kind: str, loc: tuple[int | str, ...], message: str) -> str:
    """What is wrong, and with which of several skills if it is a skill's own fault."""
    return f"{which if loc[:1] == ('skill',) else ''}{_describe(kind, loc, message)}"


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
