"""Which gate rules there are. A new one is a module, and a line here."""

from __future__ import annotations

from skillgit.errors import ConfigError
from skillgit.gate.betting import BETTING
from skillgit.gate.comparison import STRICT
from skillgit.gate.paired import PAIRED
from skillgit.gate.rule import GateRule

RULES: dict[str, GateRule] = {"strict": STRICT, "paired": PAIRED, "betting": BETTING}


def gate_rule(name: str) -> GateRule:
    """The rule of a name.

    Raises: ConfigError when there is none, which has no power either.
    """
    if name not in RULES:
        raise ConfigError(
            f"gate.rule: there is no rule {name!r}",
            hint=f"The rules are: {', '.join(sorted(RULES))}.",
        )
    return RULES[name]
