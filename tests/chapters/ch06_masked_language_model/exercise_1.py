"""Answers to exercise 6.1: right ones, and mistakes with the words that they must hear."""

ANSWERS = {
    "6.1": {
        "accepted": [7.2, 0.15 * 0.8 * 60],
        "wrong": [
            (9, "what happens to the others"),
            (48, "80 % of what"),
            (8.1, "Count only [MASK]"),
            (0.9, "How many become [MASK]"),
            (7, "need not be a whole number"),
            (60, "First compute the number of chosen tokens"),
        ],
    }
}
