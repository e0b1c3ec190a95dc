"""Answers to exercise 14.1: right ones, and mistakes with the words that they must hear."""

ANSWERS = {
    "14.1": {
        "accepted": [18, 18.0],
        "wrong": [
            (9, "gives two pairs"),
            (24, "both ends of the sentence"),
            (10, "window of 1"),
            (30, "all pairs of the sentence"),
            (17, "Go through the six centers"),
        ],
    }
}
