"""What is said before money is spent: what the gate can tell apart with these val tasks."""

from __future__ import annotations

from skillgit.cli.show.output import count
from skillgit.gate.power import Power, power_of
from skillgit.gate.rule import Sizes
from skillgit.training.state import Training, TrainingState
from skillgit.training.validate import look_at


def odds_lines(setup: Training, state: TrainingState | None) -> list[str]:
    """A sentence on what the gate can tell apart, and a warning where that is little."""
    gate, tasks = setup.config.gate, len(setup.tasks.val)
    if not gate.enabled:
        return ["the gate is off: every candidate is accepted, better or not"]
    if not setup.config.target.samples:
        return [
            (
                f"gate {gate.rule} on {count(tasks, 'val task')}: the target does not sample, so an "
                f"equal skill measures equal, and the smallest gain it can see is {1 / tasks:.3f}"
            )
        ]
    power, score = gate_power(setup, state)
    gain = power.smallest_gain
    sees = (
        f"the smallest gain it sees 4 times in 5 is {gain:.2f}"
        if gain is not None
        else "no gain is sure to be seen 4 times in 5"
    )
    lines = [
        (
            f"gate {gate.rule} on {count(tasks, 'val task')}: it accepts an equal skill in "
            f"{power.false_accept:.0%} of tries, and {sees} (at a score of {score:.2f})"
        )
    ]
    if power.is_poor or gain is None:
        lines.append(
            "warning: that is poor: more val tasks, or [gate] repeats, refresh_every or another "
            "rule would help; docs/how-to/choose-a-gate.md says which"
        )
    return lines


def gate_power(setup: Training, state: TrainingState | None) -> tuple[Power, float]:
    """What the gate can tell apart, and at which score that was reckoned."""
    gate = setup.config.gate
    score = state.current.score if state else None
    at = 0.5 if score is None else score
    step = state.step + 1 if state else 1
    sizes = Sizes(
        rule=gate.rule,
        tasks=len(setup.tasks.val),
        repeats=gate.repeats,
        min_delta=gate.min_delta,
        alpha=gate.alpha,
        look=look_at(setup, setup.position(step)),
    )
    return power_of(sizes, at), at
