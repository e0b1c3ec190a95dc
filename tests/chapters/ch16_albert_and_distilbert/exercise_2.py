"""Answers to exercise 16.2: right ones, and mistakes with the words that they must hear."""

from fractions import Fraction

ANSWERS = {
    "16.2": {
        "accepted": [[2 / 3, 8], (0.67, 8.0), [0.666, 8], [Fraction(2, 3), 8]],
        "wrong": [
            ([8, 2 / 3], "in the other order"),
            ([1.5, 0.125], "divided by ALBERT-xxlarge"),
            ([2 / 3, 2 / 3], "twelve run"),
            ([8, 8], "How many of them are stored"),
            ([0.67, 16], "runs 12 of them"),
            ([16, 8], "one layer against one"),
            ([1 / 6, 2], "16 times the weights"),
            ([2 / 3, 1], "if the width were the same"),
            ([2 / 3, 2], "D² counts, not D"),
            ([0.7, 8], "235 / 334, of the whole models"),
            ([2 / 3, 0.125], "The first is right"),
            ([4, 4], "the ratio of the widths"),
            ([1 / 24, 0.5], "You counted layers"),
            ([2 / 3, 3], "measured in training"),
            ([2 / 3], "needs a second one"),
            ([0.66, 8], "cut off"),
            ([66.7, 8], "in percent"),
            ([1.5, 8], "The second is right"),
            ([2 / 3, 12], "in BERT-large 24 do"),
            ([0.5, 8], "24 layers of width 1024"),
            (["2/3", 8], "Without quotation marks"),
            ([1, 1], "A layer with four times the width"),
            (8, "is written like this"),
        ],
    }
}
