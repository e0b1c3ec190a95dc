"""Answers to exercise 1.3: right ones, and mistakes with the words that they must hear."""

ANSWERS = {
    "1.3": {
        "accepted": [["ax", 1.0], ("ax", 1)],
        "wrong": [
            (["lo", 0.056], "first merge by frequency"),
            (["##st", 0.1], "Its parts never occur apart"),
            (["wi", 0.143], "7 / (7 · 7)"),
            (["##xe", 0.025], "makes the denominator large"),
            (["##ax", 1.0], "the beginning of a word has no ##"),
            (["axe", 1.0], "joins two pieces"),
            (["a ##x", 1.0], "the right pair"),
            (["zz", 1.0], "two single characters"),
            (["##er", 0.025], "11 / (40 · 11) = 0.025"),
            (["ne", 0.025], "15 / (15 · 40) = 0.025"),
            (["st", 0.1], "so its new piece is written ##st"),
            (["a x", 1.0], "without a space"),
            (["ax", 0.5], "The piece is right"),
            (("a", "##x", 1.0), "the new piece and its score"),
        ],
    }
}
