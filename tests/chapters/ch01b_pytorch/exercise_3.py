"""Answers to exercise 1b.3: right ones, and mistakes with the words that they must hear."""

import math

ANSWERS = {
    "1b.3": {
        "accepted": [2.3026, 2.3, math.log(10)],
        "wrong": [
            (-2.30, "never negative"),
            (1.0, "to the base 10"),
            (3.32, "in bits"),
            (0.1, "probability of the right word"),
            (1.39, "among 4 words"),
            (0, "has the probability 1"),
            (2.0, "Ten equal logits"),
            ("ln 10", "is written like this"),
        ],
    }
}
