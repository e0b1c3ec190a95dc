"""Answers to exercise 6.1: right ones, and mistakes with the words that they must hear."""

ANSWERS = {
    "6.1": {
        "accepted": [7.2, 0.15 * 0.8 * 60],
        "wrong": [
            (9, "what happens to the others"),
            (48, "80 % of what"),
            (8.1, "Count only [MASK]"),
            (0.9, "How many become [MASK]"),
            (6.96, "never chosen, but they count"),
            (7, "what becomes of a chosen token is drawn"),
            (60, "First compute the number of chosen tokens"),
        ],
    }
}
