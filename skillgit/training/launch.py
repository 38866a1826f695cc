"""Which run a `train` means: go on with the newest, begin the next, or nothing to do. Pure."""

from __future__ import annotations

from enum import StrEnum

from skillgit.errors import UserError
from skillgit.records import Record
from skillgit.training.identity import Identity, differences

MAX_SHOWN = 6


class Launch(StrEnum):
    """What a `train` comes to."""

    BEGIN = "begin"
    RESUME = "resume"
    ENDED = "ended"


class KnownRun(Record):
    """The newest run, as its branch and its step 0 tell it."""

    name: str
    base: str
    ended: bool
    identity: Identity
    epochs: int


def choose_run(
    newest: KnownRun | None, *, base: str, identity: Identity, epochs: int, new: bool
) -> Launch:
    """Resume an unfinished run of the same identity; an ended one of the same base is done.

    Raises: UserError when the newest run is unfinished and something differs: it names what.
    """
    if newest is None or new:
        return Launch.BEGIN
    changed = differences(newest.identity, identity)
    if epochs < newest.epochs:
        changed.append(f"epochs: {newest.epochs} → {epochs} (only more epochs can be resumed)")
    if newest.ended:
        same = not changed and newest.base == base
        return Launch.ENDED if same else Launch.BEGIN
    if changed:
        listed = "; ".join(changed[:MAX_SHOWN])
        more = len(changed) - MAX_SHOWN
        raise UserError(
            f"{newest.name} is not finished, and it was begun with something else: {listed}"
            + (f"; and {more} more" if more > 0 else ""),
            hint="Put it back as it was to go on, or begin the next run: skillgit train --new",
        )
    return Launch.RESUME
