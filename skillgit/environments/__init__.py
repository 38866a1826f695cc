"""Environments: where the target does tasks. They pay only through the `Paid` handed in."""

from skillgit.environments.chat import ChatEnvironment

__all__ = ["ChatEnvironment"]
