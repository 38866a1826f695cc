"""Which providers there are, and what the rest of the program has to know of each.

A new one is a module in `skillgit.models`, and an entry here. What an entry does not say of keys,
addresses and programs is refused, so that nothing is trusted by default.
"""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from skillgit.records import Record


class ProviderKind(Record):
    """A provider: how its models are built, and what of it needs a person's trust.

    `build` names a function, as `module:function`, from a configuration and a `Wiring` to a model;
    it is imported when a model is built. A provider whose programs are the target has none.
    """

    needs_key: bool
    """Whether it sends the key that `api_key_env` names."""
    sends_away: bool
    """Whether requests go to an address, in place of being answered in this process."""
    runs_program: bool
    """Whether it runs the program that `command` names."""
    build: str | None = None
    default_url: str | None = None
    """Where requests go without `base_url`."""
    default_key_variable: str | None = None
    """The variable whose key may go to `default_url` without anyone's word."""
    default_models: tuple[str, str] = ("", "")
    """The target's and the optimizer's model that `init` writes, if none is named."""
    environment: str = "chat"
    """The environment of a target that names none."""
    reads_simulation: bool = False
    """Whether the settings under `simulation` are its own."""

    @model_validator(mode="after")
    def _says_where_keys_go(self) -> Self:
        if self.needs_key and not self.sends_away:
            raise ValueError("a provider that needs a key sends it away")
        if self.build is None and not self.runs_program:
            raise ValueError("a provider builds models or runs a program")
        return self

    @property
    def leaves_process(self) -> bool:
        """Whether a call is answered by anything but this process itself."""
        return self.sends_away or self.runs_program


PROVIDERS: dict[str, ProviderKind] = {
    "openai": ProviderKind(
        needs_key=True,
        sends_away=True,
        runs_program=False,
        build="skillgit.models:build_openai",
        default_url="https://api.openai.com/v1",
        default_key_variable="OPENAI_API_KEY",
        default_models=("gpt-5.4-nano", "gpt-5.5"),
    ),
    "simulated": ProviderKind(
        needs_key=False,
        sends_away=False,
        runs_program=False,
        build="skillgit.models:build_simulated",
        default_models=("sim-target", "sim-optimizer"),
        reads_simulation=True,
    ),
    "command": ProviderKind(
        needs_key=False, sends_away=False, runs_program=True, environment="command"
    ),
}
