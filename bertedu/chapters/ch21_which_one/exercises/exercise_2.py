"""Exercise 21.2: By chance."""

import math
from collections.abc import Mapping
from statistics import NormalDist

from bertedu.course.case import Case, plain
from bertedu.course.comparing import said
from bertedu.course.exercise import exercise

CHANCE = 2 * (1 - NormalDist().cdf(2))  # 0.0455: beyond two errors, up or down


COMPARISONS = 90


BONFERRONI = CHANCE / COMPARISONS


inverse = NormalDist().inv_cdf


PARTS = ("the number of marks", "the probability of at least one mark", "the number of standard errors")


RIGHT = (
    (COMPARISONS * CHANCE, 0.15),  # and how far a guess may be off
    (1 - (1 - CHANCE) ** COMPARISONS, 0.0065),
    (inverse(1 - BONFERRONI / 2), 0.06),
)


POWER = "90 times in a row is a power of 0.9545, not a product with 90."


ORDER = "The order is: marks, probability of at least one, standard errors."


GUESSES: tuple[Mapping[float, str], ...] = (
    {
        0: "All members are equal, but their scores are not: chance alone exceeds two errors in one of 22 comparisons.",
        1: "Each of the 90 comparisons has its own chance of 0.0455. What do 90 such chances add up to?",
        CHANCE: "That is the chance in one comparison. There are 90 of them.",
        45: "Half of the differences are positive. Only few are larger than two errors.",
        90: "That would be all of them.",
        COMPARISONS * CHANCE / 2: "You counted one direction. 0.0455 is for both directions together.",
        COMPARISONS * CHANCE * 2: "You counted both directions twice. 0.0455 is for both directions together.",
        COMPARISONS * (1 - CHANCE): "Those are the differences without a mark. How many have one?",
        100 * COMPARISONS * CHANCE: "0.0455 is a probability, not a percentage: multiply it by 90 as it is.",
        100 * CHANCE: "That is for 100 comparisons. There are 90.",
        RIGHT[1][0]: ORDER,
        RIGHT[2][0]: ORDER,
        4.5: "5 % belongs to 1.96 errors; for 2 it is 4.55 %. (Or did you count eleven members? There are ten.)",
        10 * CHANCE: "That is for one task. There are nine.",
        9 * CHANCE: "That is for one member. There are ten.",
    },
    {
        1: "Very near, but not certain. Give two decimals. (1 - 0.0455 ** 90 is the chance that not *all* are marked.)",
        CHANCE: "That is the chance in one comparison. In 90 there are 90 chances.",
        (1 - CHANCE) ** COMPARISONS: "That is the chance that there is no mark at all.",
        COMPARISONS * CHANCE * (1 - CHANCE) ** (COMPARISONS - 1): "That is exactly one mark. Here it is one or more.",
        CHANCE**COMPARISONS: "That is nearly 0. Is it the chance that *all* 90 are marked? At least one is asked for.",
        COMPARISONS * CHANCE: "That is the expected number. A probability is at most 1.",
        1 - (1 - CHANCE) * COMPARISONS: POWER,
        (1 - CHANCE) * COMPARISONS: POWER,
        RIGHT[2][0]: ORDER,
        98.5: "Is that in percent? Write the probability as a number from 0 to 1.",
        99: "Is that in percent? Write the probability as a number from 0 to 1.",
        98: "Is that in percent? Write the probability as a number from 0 to 1.",
        0.5: "No mark at all would need that all 90 comparisons stay below two errors: 0.9545 multiplied 90 times.",
    },
    {
        2: "At two errors each comparison has a probability of 0.0455, not a 90th of it.",
        inverse(1 - BONFERRONI): "That counts one direction. Halve the probability: up or down.",
        inverse(BONFERRONI): "That counts one direction. Halve the probability, and take the upper end: 1 − …",
        inverse(1 - CHANCE): "That is for one comparison, and for one direction. Divide 0.0455 by 90 and by 2.",
        inverse(CHANCE): "That is for one comparison, and for one direction. Divide 0.0455 by 90 and by 2.",
        inverse(1 - CHANCE / 2 / 9): "That is corrected for nine comparisons. There are 90.",
        inverse(1 - CHANCE / 2 / 10): "That is corrected for ten comparisons. There are 90.",
        inverse((1 - CHANCE) / 90): "Divide 0.0455 by 90 before you subtract it from 1.",
        inverse(1 - BONFERRONI / 2) ** 2: "Don't square it: inv_cdf gives the number of standard errors.",
        0.5002: "That is a probability. cdf goes from errors to a share, and inv_cdf goes back.",
        NormalDist().cdf(1): "That is a probability. cdf goes from errors to a share, and inv_cdf goes back.",
        180: "You multiplied the errors by 90. Divide the probability by 90.",
        2 * math.sqrt(COMPARISONS): "You multiplied the errors by √90. Divide the probability by 90.",
        1 - BONFERRONI / 2: "Is that a share q? inv_cdf(q) is the number of standard errors that belongs to it.",
        BONFERRONI: "That is the probability for each comparison. Beyond how many errors is it reached?",
        BONFERRONI / 2: "That is a probability. Beyond how many errors is it reached? Ask inv_cdf(1 − …).",
        -inverse(1 - BONFERRONI / 2): "Give it without the sign: up or down.",
    },
)


OTHERWISE = (
    "Expected numbers can be added: 90 comparisons with a chance of 0.0455 each.",
    "First the probability that one comparison gets no mark, then that all 90 get none.",
    "The chance of each comparison is 0.0455 / 90, half of it above and half below. Ask NormalDist().inv_cdf.",
)


@exercise(
    "21.2",
    "By chance",
    difficulty=2,
    minutes=8,
    kind="value",
    hints=(
        "The expected number is a sum: each comparison adds its probability. At least one mark is the opposite of no "
        "mark at all, 90 times in a row below two errors. Bonferroni: each comparison gets a 90th of 0.0455, up and "
        "down together.",
        "90 * 0.0455; then 1 - 0.9545 ** 90; then NormalDist().inv_cdf(1 - p / 2) with p = 0.0455 / 90.",
    ),
)
def by_chance(case: Case) -> None:
    guess = plain(case.answer)
    case.doing = f"You answered {said(guess)}."
    numbers = isinstance(guess, list) and all(type(one) in (int, float) for one in guess)
    if not numbers or len(guess) != len(PARTS):
        case.fail("An answer here is a list of three numbers: marks, probability, errors. For example [1, 0.5, 2.5]")
    for name, one, (right, within), known, advice in zip(PARTS, guess, RIGHT, GUESSES, OTHERWISE, strict=True):
        if not abs(one - right) <= within:
            sentences = [sentence for wrong, sentence in known.items() if is_near(one, wrong)]
            case.fail(f"But {name} is not right.", *(sentences[:1] or [advice]))
    case.close_with("Only the second number needs independent comparisons. The other two are right without that.")


def is_near(guess: float, wrong: float) -> bool:
    """Whether a guess is that known mistake, rounded to two digits or more. Small ones lie close together."""
    return abs(guess - wrong) <= min(0.0075 * max(1.0, abs(wrong)), 0.3 * abs(wrong) or 0.0075)
