"""A command that pays for measurements: it says what that can cost, and shows how far it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.show.output import amount, say
from skillgit.cli.show.progress import Snapshot, shown
from skillgit.models.paid import Meter
from skillgit.ports import Ledger
from skillgit.runtime.progress import Progress


@contextmanager
def paying(
    invocation: Invocation,
    store: Ledger,
    progress: Progress,
    meter: Meter,
    *,
    scope: str,
    most: int,
    again: str,
) -> Iterator[None]:
    """Say that the block makes so many calls at most, hold its scope, and show what it does.

    `again` is what to type to go on after an interruption. Nothing is said of no calls.
    Raises: ConflictError when another process is at it.
    """
    if not most:
        yield
        return
    say(f"at most {amount(most)} calls; answers that are in the journal are not asked for again")
    for line in meter.limits():
        say(line)
    invocation.resume = again
    with store.hold(scope), shown(lambda: Snapshot.of(progress, meter)):
        yield
    invocation.resume = None
