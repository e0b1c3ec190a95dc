"""Answers to exercise 7.3: right ones, and mistakes with the words that they must hear."""

ANSWERS = {
    "7.3": {
        "accepted": [2 / 3, 0.67, 0.66],
        "wrong": [
            (0.5, "the coin alone"),
            (0.75, "exists only after tails"),
            (1 / 3, "share of IsNext"),
            (1, "used up"),
            (0.6, "Take 1000 documents"),
            (0.61, "share in our text"),
            (66.7, "between 0 and 1"),
            (67, "between 0 and 1"),
            ("2/3", "written like this"),
        ],
    }
}
