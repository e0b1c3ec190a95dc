"""Answers to exercise 13.1: right ones, and mistakes with the words that they must hear."""

ANSWERS = {
    "13.1": {
        "accepted": [1 / 3, 0.333, 0.33],
        "wrong": [
            (0.5, "How many labels"),
            (33, "in percent"),
            (1, "three times"),
            (0, "one of the three"),
            (2 / 3, "not for two"),
        ],
    }
}
