"""Answers to exercise 23.2: right ones, and mistakes with the words that they must hear."""

ANSWERS = {
    "23.2": {
        "accepted": [90, 90.0],
        "wrong": [
            (18, "in proportion"),
            (9, "How many milliseconds"),
            (100, "Waiting alone"),
            (10, "at 50 requests a second"),
            (0.09, "the unit that"),
            (45, "utilization is 0.9"),
        ],
    }
}
