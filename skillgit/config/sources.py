"""What is trained, on which tasks, with which models."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, JsonValue, field_validator, model_validator

from skillgit.config.budget import Count, Fraction
from skillgit.config.providers import PROVIDERS, ProviderKind
from skillgit.records import Record


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


class Style(StrEnum):
    """How much is asked of an optimizer."""

    FULL = "full"
    PLAIN = "plain"


class ModelConfig(Record):
    """One model role. `api_key_env` is the name of a variable, never a key.

    Unit: `timeout` in seconds, for one request.
    """

    provider: str = "openai"
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
    style: Style = Style.FULL
    """For the optimizer: what it is asked for. `full` edits any line of the skill, and merges, ranks
    and looks back in calls of its own; `plain` asks for one rule against each fault, leaves
    merging and ranking to the program, and looks back on nothing: for models of a few billion
    parameters."""
    environment: str | None = None
    """What the target does its tasks in, by name; without it, a `chat` with the model, or the
    program (`command`)."""
    simulation: SimulationConfig = SimulationConfig()

    @property
    def kind(self) -> ProviderKind:
        """What there is to know of its provider."""
        return PROVIDERS[self.provider]

    @property
    def key_variable(self) -> str | None:
        """The variable whose key is sent; `None` where none is."""
        return (self.api_key_env or None) if self.kind.needs_key else None

    @property
    def address(self) -> str | None:
        """Where requests go, if they go anywhere."""
        return (self.base_url or self.kind.default_url) if self.kind.sends_away else None

    @property
    def never_waits(self) -> bool:
        """Whether it answers by computing alone."""
        return not self.kind.leaves_process and not self.simulation.latency_ms

    @property
    def samples(self) -> bool:
        """Whether it may answer the same request differently another time."""
        if self.kind.reads_simulation:
            sure = self.simulation.obedience in (0.0, 1.0)
            return not sure or self.simulation.noise > 0 or self.simulation.forgetting > 0
        return self.temperature != 0

    @field_validator("provider")
    @classmethod
    def _is_known(cls, provider: str) -> str:
        if provider not in PROVIDERS:
            raise ValueError(f"there is no provider {provider!r}, known are {', '.join(PROVIDERS)}")
        return provider

    @model_validator(mode="after")
    def _has_what_its_provider_needs(self) -> Self:
        if self.kind.runs_program:
            if not self.command or not self.command[0]:
                raise ValueError(f'provider "{self.provider}" needs `command`, a list of words')
        elif self.command or self.env:
            raise ValueError('`command` and `env` go with provider = "command"')
        elif not self.model:
            raise ValueError("'model' is missing")
        return self


def without_user_info(url: str) -> str:
    """The URL as it may be shown and stored: without a name and a password before its host."""
    return re.sub(r"^([^/?#]*//)?[^/?#]*@", r"\1", url)
