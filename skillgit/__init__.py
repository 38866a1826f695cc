"""skillgit trains an agent's skill document and keeps the whole training in git."""

__version__ = "0.1.0"
