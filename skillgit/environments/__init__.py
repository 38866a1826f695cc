"""Environments: where the target does tasks. They pay only through the `Paid` handed in."""
