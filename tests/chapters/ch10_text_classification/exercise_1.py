"""Answers to exercise 10.1: right ones, and mistakes with the words that they must hear."""

ANSWERS = {
    "10.1": {
        "accepted": [1.1, 1.0986],
        "wrong": [
            (0.33, "One third is the probability"),
            (0, "the probability 1"),
            (0.69, "ln 2"),
            (1.58, "in bits"),
            (0.48, "base 10"),
            (3, "three equal probabilities"),
        ],
    }
}
