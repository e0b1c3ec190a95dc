"""Exercise 25.5: GPUs for the reranker."""

import math

from bertedu.chapters.ch25_the_interview.exercises.shared import number
from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "25.5",
    "GPUs for the reranker",
    difficulty=3,
    minutes=8,
    hints=(
        "Operations a second: 2 for each weight and token, times tokens, times candidates, times queries.",
        "Divide by what one GPU reaches, and round up: math.ceil, or -(-a // b).",
    ),
)
def gpus(case: Case) -> None:
    """A number that is not whole, one that is, and a very small one."""
    tries = (
        (  # so many that each forgotten factor gives a number of its own
            (1_300, 1_000, 512, 340e6, 100e12),
            "1,300 queries a second, 1,000 candidates, 512 tokens, 340 M weights, 100 TFLOP/s",
        ),
        ((100, 10, 100, 1e6, 1e11), "a load that 2 GPUs carry exactly"),
        ((1, 1, 10, 1e6, 100e12), "a very small load"),
    )
    for sizes, tried in tries:
        queries, candidates, tokens, weights, flops = sizes
        exact = 2 * weights * tokens * candidates * queries / flops
        right = math.ceil(exact)
        result = case.call(*sizes, tried=tried)
        got = number(case, result)
        mistakes = [
            (exact, "You can only rent whole GPUs: round up."),
            (
                math.floor(exact),
                "You rounded down or to the nearest. These GPUs are too few, and the queue grows: round up.",
            ),
            (
                math.ceil(exact / 2),
                "That is half as many: each weight takes 2 operations, a multiplication and an addition.",
            ),
            (math.ceil(3 * exact), "That is three times as many, as in training. There is no backward pass here."),
            (math.ceil(exact / tokens), "The tokens are missing: every token passes through all weights."),
            (math.ceil(exact / candidates), "The candidates are missing: each query is read with every one of them."),
            (math.ceil(exact / queries), "The queries are missing: how many are there in a second?"),
            (math.ceil(exact * tokens), "The tokens count once: the rule is 2 operations for each weight and token."),
            (math.floor(exact) + 1, "That is one too many if the division has no remainder. Use math.ceil."),
        ]
        if got != right:
            known = [sentence for wrong, sentence in mistakes if math.isclose(got, wrong, rel_tol=1e-9)]
            case.fail(
                f"But it returned {got:g}.",
                *(
                    known[:1]
                    or ["Divide the operations that are needed in a second by those of one GPU, and round up."]
                ),
            )
    case.close_with("When the load grows, rerank fewer candidates first: that needs no hardware.")
