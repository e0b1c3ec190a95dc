"""Answers to exercise 0.1: right ones, and mistakes with the words that they must hear."""

ANSWERS = {
    "0.1": {
        "accepted": [324, 324.0],
        "wrong": [
            (36, "for each token and head"),
            (81, "table of one head"),
            (162, "half of it"),
            (288, "attends to itself"),
            (196, "leaves out two tokens"),
            (484, "two tokens too many"),
            (18, "for each token and layer"),
            (9, "number of tokens"),
            (100, "How many heads are there"),
            ("324", "is written like this"),
        ],
    }
}
