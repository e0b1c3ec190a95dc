"""Answers to exercise 9.1: right ones, and mistakes with the words that they must hear."""

import math

ANSWERS = {
    "9.1": {
        "accepted": [1.5, 1.499],
        "wrong": [
            (2, "four equal weights"),
            (1.58, "three equal weights"),
            (1.04, "in nats"),
            (-1.5, "the minus before the sum"),
            (5, "by its weight first"),
            (1, "split again"),
            (0.5, "the weight ½ alone"),
            (2**1.5, "2 to the power of the entropy"),
            (math.pi, "the three weights, and add them"),
            (math.nan, "A weight of 0 adds 0"),
        ],
    }
}
