"""Exercise 25.4: Repair the perplexity."""

import math

from bertedu.chapters.ch25_the_interview.exercises.shared import number, wrong_number
from bertedu.course.case import Case
from bertedu.course.exercise import exercise

LOSSES = [[2.0, 2.5], [2.2] * 20, [6.0], [], [2.1] * 15]


@exercise(
    "25.4",
    "Repair the perplexity",
    difficulty=2,
    minutes=6,
    nan=True,
    hints=(
        "A mean of means weights a batch with one token like a batch with twenty. What do you have to add up instead?",
        "Sum all losses and count all tokens over the batches. Divide once, after the loop, and take exp of it.",
    ),
)
def perplexity(case: Case) -> None:
    """Several batch sizes, a text without a masked token, a corpus without any."""
    case.causes = {
        "division by zero": "A batch or the corpus has no masked token: divide once, at the end, or return nan.",
    }
    every = [loss for text in LOSSES for loss in text]
    right = math.exp(sum(every) / len(every))
    by_text = [sum(text) / len(text) for text in LOSSES if text]
    batches = [LOSSES[:2], LOSSES[2:4], LOSSES[4:]]
    by_batch = [sum(map(sum, batch)) / sum(map(len, batch)) for batch in batches]
    mistakes = [
        (math.exp(sum(by_batch) / 3), "That is still the mean of the batches' means. Divide once, after the loop."),
        (
            math.exp(sum(by_text) / len(by_text)),
            "That is the mean of the texts' means: a text with one token counts like one with 20.",
        ),
        (sum(every) / len(every), "That is the mean loss. The perplexity is exp of it."),
        (
            sum(map(math.exp, every)) / len(every),
            "You took exp of each loss. Take the mean of the losses first, then exp.",
        ),
        (sum(map(math.exp, by_batch)) / 3, "That is the mean of the batches' perplexities. Take exp once, at the end."),
        (1 / right, "The sign is wrong: each loss is −log p already, so take exp of the mean, without a minus."),
        (2 ** (sum(every) / len(every)), "The losses are natural logarithms: use exp, and not 2 to the power of it."),
        (
            math.exp(sum(every) / len(LOSSES)),
            "You divided by the number of texts. Divide by the number of masked tokens.",
        ),
    ]
    for batch_size in (2, 1, 5, 3):
        got = number(case, case.call(LOSSES, batch_size, tried=f"five texts in batches of {batch_size}"))
        otherwise = f"The mean of all {len(every)} losses, whatever the batch size, then exp."
        wrong_number(case, got, right, mistakes, otherwise)
    got = number(case, case.call([[], []], 1, tried="two texts without a masked token"))
    case.expect(math.isnan(got), f"But it returned {got:g}. Without any token there is nothing to average: return nan.")
    case.close_with("To find a bug, first look for what should not change and does.")
