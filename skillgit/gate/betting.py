"""The rule `betting`: a higher mean, and a betting test that rejects "the candidate is no better".

Task by task, in the order in which they are sent, a share of a capital of 1 is bet on the
candidate; the capital is the test's e-value. Under an equal skill its expectation stays 1, so by
Ville's inequality it reaches 1/a with a probability of at most a, however often one looks: the
test is anytime-valid. Each look of a run has a share of `alpha` for itself, and the shares of all
looks sum to less than `alpha`: with that probability at most does a whole run accept anything at
all that is no better.

Source: Waudby-Smith and Ramdas 2023, "Estimating means of bounded random variables by betting";
Ville's inequality.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from skillgit.gate.comparison import Comparison, Objection, wins_and_losses
from skillgit.gate.rule import UNLIKELY, GateRule, Sizes, discordant
from skillgit.ports import Ruling, Trial

FRACTIONS = (0.2, 0.4, 0.6, 0.8, 0.95)
"""The fractions of the capital that are bet on the candidate; the e-value is their mean."""
MOST_BETS = 80
"""Up to how many tasks the power is reckoned with; with more the rule sees more than is said."""


def betting(trial: Trial) -> Ruling:
    """Accept what has an e-value as high as this look of the run asks."""
    comparison = Comparison(trial)
    differences = comparison.differences()
    return comparison.rule(_objection(differences, threshold(trial.alpha, trial.look)))


def threshold(alpha: float, look: int) -> float:
    """The e-value that a run's n-th look asks for.

    The shares 1/√n - 1/√(n+1) of `alpha` sum to 1 over all looks there can ever be.
    """
    share = 1 / math.sqrt(look) - 1 / math.sqrt(look + 1)
    return 1 / (alpha * share)


def highest_e_value(differences: Sequence[float]) -> float:
    """The highest e-value over bets on each difference in turn.

    Shape: differences between -1 and 1, in the order in which tasks are sent.
    """
    capitals = [1.0] * len(FRACTIONS)
    highest = 1.0
    for difference in differences:
        if difference == 0.0:
            continue
        capitals = [
            capital * (1 + fraction * difference)
            for capital, fraction in zip(capitals, FRACTIONS, strict=True)
        ]
        highest = max(highest, sum(capitals) / len(capitals))
    return highest


def _objection(differences: Sequence[float], asked: float) -> Objection | None:
    e_value = highest_e_value(differences)
    if e_value >= asked:
        return None
    wins, losses = wins_and_losses(differences)
    needed = _wins_needed(differences, asked)
    return Objection(
        reason=f"not enough tasks: {wins} tasks better and {losses} worse; the e-value is "
        f"{e_value:.1f} of the {asked:.0f} that this look asks; {needed} more to be won",
        needed=needed,
    )


def _wins_needed(differences: Sequence[float], asked: float) -> int:
    capitals = [math.prod(1 + fraction * d for d in differences) for fraction in FRACTIONS]
    more = 0
    while sum(capitals) / len(capitals) < asked:
        capitals = [c * (1 + fraction) for c, fraction in zip(capitals, FRACTIONS, strict=True)]
        more += 1
    return more


def accept_chance(sizes: Sizes, current: float, candidate: float) -> float:
    """The chance that the e-value reaches what is asked before val is through."""
    win, lose = discordant(sizes.repeats, current, candidate)
    asked = threshold(sizes.alpha, sizes.look)
    alive = {(0, 0): 1.0}
    reached = 0.0
    for _ in range(min(sizes.tasks, MOST_BETS)):
        after: dict[tuple[int, int], float] = {}
        for (won, lost), p in alive.items():
            for state, chance in (((won, lost), 1 - win - lose), ((won, lost + 1), lose)):
                after[state] = after.get(state, 0.0) + p * chance
            if _e_value(won + 1, lost) >= asked:
                reached += p * win
            else:
                after[won + 1, lost] = after.get((won + 1, lost), 0.0) + p * win
        alive = {state: p for state, p in after.items() if p > UNLIKELY / 100}
    return reached


@lru_cache(maxsize=8192)
def _e_value(wins: int, losses: int) -> float:
    capitals = [(1 + fraction) ** wins * (1 - fraction) ** losses for fraction in FRACTIONS]
    return sum(capitals) / len(capitals)


BETTING = GateRule(
    decide=betting,
    accept_chance=accept_chance,
    summary="`betting` for an e-value besides that is high enough, safe over a whole run",
    explanation=(
        "`betting` bets on the candidate, task by task, and accepts when the capital, an e-value, has "
        "grown enough; each look of a run has its share of `alpha`, and all shares together stay below "
        "it, so the promise holds for the whole run, however many candidates are tried."
    ),
)
