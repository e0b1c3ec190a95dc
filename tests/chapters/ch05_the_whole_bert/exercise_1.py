"""Answers to exercise 5.1: right ones, and mistakes with the words that they must hear."""

ANSWERS = {
    "5.1": {
        "accepted": [288, 288.0],
        "wrong": [
            (576, "twice as many, for twice the heads"),
            (568, "keeps the size d of a head"),
            (144, "twice as many of them"),
            (1152, "a share of one"),
            (256, "leaves out the biases"),
            (72, "That is one projection"),
            (1088, "D stays 8"),
            (300, "once for 2 heads"),
            ("the same", "is written like this"),
        ],
    }
}
