"""What makes two runs the same run: the two fingerprints, and the words for what differs."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from skillgit.config import RULE_ALIASES, Config, Style
from skillgit.records.canonical import JsonLike, canonical_json, fingerprint

Identity = dict[str, JsonValue]


def run_identity(
    config: Config, *, target: Mapping[str, JsonValue], start_object: str, task_set_id: str
) -> Identity:
    """Everything a run's fingerprint is made of, by the name a person knows it under.

    Workers, budgets, base URLs, keys, and when a run ends, are not in it.
    """
    train = config.train.model_dump(mode="json", exclude={"epochs", "workers", "stop_when_perfect"})
    # A rule keeps the name it was first hashed under, so that runs begun before it changed go on.
    first_names = {name: before for before, name in RULE_ALIASES.items()}
    gate = config.gate.model_dump(mode="json")
    gate["rule"] = first_names.get(config.gate.rule, config.gate.rule)
    return {
        "target": dict(target),
        "skill": start_object,
        "max_tokens": config.skill.max_tokens,
        "tasks": task_set_id,
        "train": train,
        "reflect": config.reflect.model_dump(mode="json"),
        "lr": config.lr.model_dump(mode="json"),
        "slow_update": config.slow_update.model_dump(mode="json"),
        "meta_skill": config.meta_skill.model_dump(mode="json"),
        "gate": gate,
        "optimizer": config.optimizer.model_dump(mode="json", exclude=_not_of_a_run(config)),
    }


def _not_of_a_run(config: Config) -> set[str]:
    """What of the optimizer's configuration may change under a run.

    The full style is not written down, as it was not when there was no other.
    """
    free = {"base_url", "api_key_env", "timeout", "retries", "environment"}
    return free | ({"style"} if config.optimizer.style is Style.FULL else set())


def identity_fingerprint(identity: Identity) -> str:
    """16 hex of a run's identity."""
    return fingerprint(identity)


def differences(before: Mapping[str, JsonLike], now: Mapping[str, JsonLike]) -> list[str]:
    """What differs between two identities, one line each: `gate.metric: "hard" → "soft"`."""
    old, new = _flat(before), _flat(now)
    return [
        f"{key}: {_shown(old, key)} → {_shown(new, key)}"
        for key in sorted(old.keys() | new.keys())
        if old.get(key) != new.get(key)
    ]


def _flat(value: JsonLike, prefix: str = "") -> dict[str, JsonLike]:
    if not isinstance(value, Mapping):
        return {prefix: value}
    found: dict[str, JsonLike] = {}
    for key, part in value.items():
        found |= _flat(part, f"{prefix}.{key}" if prefix else key)
    return found


def _shown(flat: Mapping[str, JsonLike], key: str) -> str:
    return canonical_json(flat[key]) if key in flat else "(none)"
