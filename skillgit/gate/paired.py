"""The rule `paired`: a higher mean, and an exact sign test on the tasks where the sides differ."""

from __future__ import annotations

from functools import lru_cache

from skillgit.gate.comparison import Comparison, Objection, wins_and_losses
from skillgit.gate.rule import UNLIKELY, GateRule, Sizes, discordant
from skillgit.gate.scores import TIE
from skillgit.gate.statistics import at_least, binomial, sign_test
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


def accept_chance(sizes: Sizes, current: float, candidate: float) -> float:
    """The chance that the sign test is passed, over how many tasks differ and are won."""
    win, lose = discordant(sizes.repeats, current, candidate)
    total = 0.0
    for n, p in enumerate(binomial(sizes.tasks, win + lose)):
        if n == 0 or p < UNLIKELY:
            continue
        won = at_least(binomial(n, win / (win + lose)))
        total += p * won[_wins_that_pass(n, sizes.alpha)]
    return total


@lru_cache(maxsize=4096)
def _wins_that_pass(n: int, alpha: float) -> int:
    """How many of n discordant tasks have to be won; n + 1 when not even all would do."""
    by_luck = at_least(binomial(n, 0.5))
    return next(wins for wins, chance in enumerate(by_luck) if chance <= alpha + TIE)


PAIRED = GateRule(
    decide=paired,
    accept_chance=accept_chance,
    summary="`paired` for an exact sign test besides",
    explanation=(
        "`paired` asks besides for an exact sign test on the tasks where the two sides differ, at "
        "`alpha`; when luck could have done it, its verdict is *not enough tasks*, with the number of "
        "wins that are missing."
    ),
)
