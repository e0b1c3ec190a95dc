"""Answers to exercise 17.1: right ones, and mistakes with the words that they must hear."""

ANSWERS = {
    "17.1": {
        "accepted": [6, 6.0],
        "wrong": [
            (9, "9 tokens are chosen"),
            (3, "number of lucky guesses"),
            (5.1, "masked tokens only"),
            (7.65, "7.65 tokens are masked"),
            (5.8, "of all 60 tokens"),
            (8, "the masked tokens, rounded"),
            (54, "original tokens"),
            (40, "15 % are chosen first"),
            (0.1, "share of the text"),
            (10, "10 percent"),
            (12, "how many tokens are chosen"),
            ("six", "written like this"),
        ],
    }
}
