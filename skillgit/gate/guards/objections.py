"""What a guard has to say."""

from __future__ import annotations

from skillgit.records import Record


class Objections(Record):
    """What is wrong with a text: `refusals` reject it unmeasured, `warnings` mark it."""

    refusals: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
