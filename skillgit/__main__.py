"""`python -m skillgit` is the command line."""

from __future__ import annotations

from skillgit.cli import main

main()
