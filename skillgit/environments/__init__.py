"""Environments: where the target does tasks. They pay only through the `Paid` handed in."""

from skillgit.environments.chat import ChatEnvironment
from skillgit.environments.command import CommandEnvironment
from skillgit.environments.registry import ENVIRONMENTS, EnvironmentResources, build_environment

__all__ = [
    "ENVIRONMENTS",
    "ChatEnvironment",
    "CommandEnvironment",
    "EnvironmentResources",
    "build_environment",
]
