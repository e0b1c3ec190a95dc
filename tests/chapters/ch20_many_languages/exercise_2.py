"""Answers to exercise 20.2: right ones, and mistakes with the words that they must hear."""

ANSWERS = {
    "20.2": {
        "accepted": [1.0, 1],
        "wrong": [
            (0, "not seen a single Cyrillic letter"),
            (400, "number of pieces"),
            (100, "in percent"),
            (0.5, "Half of them"),
            (0.125, "one word of eight"),
            (0.25, "What does WordPiece make of it"),
        ],
    }
}
