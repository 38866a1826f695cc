"""skillgit.toml ↔ record. Every key here changes behaviour; any other key is an error."""

from __future__ import annotations

from skillgit.config.budget import BudgetConfig, Count, Fraction, Price, PriceConfig, PricesConfig
from skillgit.config.file import CONFIG_FILE, Config, parse_config, parse_configs
from skillgit.config.nights import Miner, NightGateConfig, NightOptimizer, SleepConfig
from skillgit.config.providers import PROVIDERS, ProviderKind
from skillgit.config.sources import (
    ColumnsConfig,
    ModelConfig,
    RepoConfig,
    SimulationConfig,
    SkillConfig,
    Style,
    TasksConfig,
    without_user_info,
)
from skillgit.config.training import (
    RULE_ALIASES,
    AppendixSource,
    GateConfig,
    LeakAction,
    LrConfig,
    LrMode,
    MetaSkillConfig,
    PairPolicy,
    ReflectConfig,
    Scheduler,
    SlowUpdateConfig,
    TrainConfig,
    UpdateMode,
)

__all__ = [
    "CONFIG_FILE",
    "PROVIDERS",
    "RULE_ALIASES",
    "AppendixSource",
    "BudgetConfig",
    "ColumnsConfig",
    "Config",
    "Count",
    "Fraction",
    "GateConfig",
    "LeakAction",
    "LrConfig",
    "LrMode",
    "MetaSkillConfig",
    "Miner",
    "ModelConfig",
    "NightGateConfig",
    "NightOptimizer",
    "PairPolicy",
    "Price",
    "PriceConfig",
    "PricesConfig",
    "ProviderKind",
    "ReflectConfig",
    "RepoConfig",
    "Scheduler",
    "SimulationConfig",
    "SkillConfig",
    "SleepConfig",
    "SlowUpdateConfig",
    "Style",
    "TasksConfig",
    "TrainConfig",
    "UpdateMode",
    "parse_config",
    "parse_configs",
    "without_user_info",
]
