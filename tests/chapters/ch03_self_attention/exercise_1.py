"""Answers to exercise 3.1: right ones, and mistakes with the words that they must hear."""

ANSWERS = {
    "3.1": {
        "accepted": [1 / 3, 0.33, 0.333],
        "wrong": [
            (0, "does not give a weight of 0"),
            (1, "Divide it by the sum"),
            (0.5, "right for two tokens"),
            (0.11, "the row of [MASK]"),
            (0.67, "lamp attends to itself"),
            (0.09, "the other direction"),
            (33, "a percentage"),
            (33.3, "a percentage"),
            (0.3, "give one decimal more"),
            (-0.33, "never negative"),
            (0.25, "compute the three scores"),
            ("a third", "written like this"),
        ],
    }
}
