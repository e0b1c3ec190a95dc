"""Answers to exercise 4.1: right ones, and mistakes with the words that they must hear."""

ANSWERS = {
    "4.1": {
        "accepted": [[0.125, 3.375], (1 / 8, 27 / 8)],
        "wrong": [
            ([3.375, 0.125], "in the other order"),
            ([1.5, 3.375], "3.375 is right"),
            ([1.5, 4.5], "chain rule multiplies"),
            ([0.5, 1.5], "derivative of one layer"),
            ([0.125, 1.125], "around all three layers"),
            ([0.125, 2.5], "added three halves"),
            ([0.2, 3.0], "Three layers in a row"),
            (3.375, "is written like this"),
        ],
    }
}
