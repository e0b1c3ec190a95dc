"""Answers to exercise 7.1: right ones, and mistakes with the words that they must hear."""

ANSWERS = {
    "7.1": {
        "accepted": [1, 1.0],
        "wrong": [
            (3, "in no pair yet"),
            (0, "it is used up"),
            (2, "would be lost"),
            (4, "in the pair?"),
            ("1", "is written like"),
        ],
    }
}
