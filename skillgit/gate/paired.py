"""The rule `paired`: a higher mean, and an exact sign test on the tasks where the sides differ."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import comb

from skillgit.gate.comparison import Comparison, Objection, wins_and_losses
from skillgit.ports import Ruling, Trial


def paired(trial: Trial) -> Ruling:
    """Accept what wins so many tasks more than it loses that luck alone seldom does.

    Seldom means in at most `alpha` of all tries with an equal skill. Too few tasks to tell is a
    verdict of its own, with the number that is still needed.

    Source: the sign test; McNemar's exact test when scores are 0 and 1.
    """
    comparison = Comparison(trial)
    wins, losses = wins_and_losses(comparison.matched_differences())
    return comparison.rule(_objection(wins, losses, trial.alpha))


@lru_cache(maxsize=4096)
def sign_test(wins: int, losses: int) -> Fraction:
    """How likely a fair coin wins at least so often in so many throws."""
    n = wins + losses
    return Fraction(sum(comb(n, k) for k in range(wins, n + 1)), 2**n)


def wins_needed(wins: int, losses: int, alpha: float) -> int:
    """How many more tasks have to be won, with none lost, before the test is passed."""
    more = 0
    while sign_test(wins + more, losses) > alpha:
        more += 1
    return more


def _objection(wins: int, losses: int, alpha: float) -> Objection | None:
    p = sign_test(wins, losses)
    if p <= alpha:
        return None
    tally = f"{wins} tasks better and {losses} worse"
    if wins <= losses:
        return Objection(reason=f"{tally}: no sign of a gain")
    needed = wins_needed(wins, losses, alpha)
    return Objection(
        reason=f"not enough tasks: {tally}, which luck alone does in {float(p):.1%} of tries; "
        f"{needed} more to be won",
        needed=needed,
    )
