"""Answers to exercise 24.1: right ones, and mistakes with the words that they must hear."""

ANSWERS = {
    "24.1": {
        "accepted": [4, 4.0],
        "wrong": [
            (6, "number of calls"),
            (5, "shapes that were there before"),
            (3, "One kind is missing"),
            (2, "The length is not all"),
            (1, "made for one shape"),
            (0, "different pairs"),
        ],
    }
}
