"""The rule `pace`: a higher mean, and a bet on the candidate that pays off.

Task by task, in the order in which they are sent, a stake is put on the candidate; under an
equal skill the game is fair, so the stake rarely grows by much, however often one looks. Each
look of a run has a share of `alpha` for itself, and the shares of all looks, however many, sum
to less than `alpha`: with that probability at most does a whole run accept anything at all that
is no better.

Source: testing by betting (Shafer 2021; Waudby-Smith and Ramdas 2024), Ville's inequality.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from skillgit.gate.comparison import Comparison, Objection, wins_and_losses
from skillgit.ports import Ruling, Trial

STAKES = (0.2, 0.4, 0.6, 0.8, 0.95)
"""The shares of the wealth that are put on the candidate, in games played side by side."""


def pace(trial: Trial) -> Ruling:
    """Accept what made the bets pay off as this look of the run asks."""
    comparison = Comparison(trial)
    differences = comparison.differences()
    return comparison.rule(_objection(differences, payoff_asked(trial.alpha, trial.look)))


def payoff_asked(alpha: float, look: int) -> float:
    """What a stake of 1 has to grow to at a run's n-th look, from 1.

    The shares 1/√n - 1/√(n+1) of `alpha` sum to 1 over all looks there can ever be.
    """
    share = 1 / math.sqrt(look) - 1 / math.sqrt(look + 1)
    return 1 / (alpha * share)


def highest_wealth(differences: Sequence[float]) -> float:
    """What a stake of 1 grew to at its highest, over bets on each difference in turn.

    Shape: differences between -1 and 1, in the order of play.
    """
    games = [1.0] * len(STAKES)
    highest = 1.0
    for difference in differences:
        if difference == 0.0:
            continue
        games = [w * (1 + stake * difference) for w, stake in zip(games, STAKES, strict=True)]
        highest = max(highest, sum(games) / len(games))
    return highest


def _objection(differences: Sequence[float], asked: float) -> Objection | None:
    wealth = highest_wealth(differences)
    if wealth >= asked:
        return None
    wins, losses = wins_and_losses(differences)
    tally = f"{wins} tasks better and {losses} worse"
    needed = _wins_needed(differences, asked)
    return Objection(
        reason=f"not enough tasks: {tally}; the bet paid {wealth:.1f} of the {asked:.0f} that "
        f"this look asks; {needed} more to be won",
        needed=needed,
    )


def _wins_needed(differences: Sequence[float], asked: float) -> int:
    games = [math.prod(1 + stake * d for d in differences) for stake in STAKES]
    more = 0
    while sum(games) / len(games) < asked:
        games = [wealth * (1 + stake) for wealth, stake in zip(games, STAKES, strict=True)]
        more += 1
    return more
