"""Answers to exercise 15.1: right ones, and mistakes with the words that they must hear."""

ANSWERS = {
    "15.1": {
        "accepted": [["Ġ", "st", "ea", "m"], ("Ġ", "st", "ea", "m")],
        "wrong": [
            (["Ġs", "t", "ea", "m"], "longest match"),
            (["Ġ", "s", "t", "ea", "m"], "stopped after the first merge"),
            (["Ġ", "st", "e", "a", "m"], "e a has a merge as well"),
            (["Ġst", "ea", "m"], "were never merged"),
            (["st", "ea", "m"], "The Ġ is missing"),
            ([" ", "st", "ea", "m"], "a space is written Ġ"),
            (["G", "st", "ea", "m"], "with a dot"),
            (["Ġsteam"], "not in the vocabulary"),
            (["Ġ", "st", "ea"], "each character belongs to exactly one piece"),
            (["Ġ", "s", "tea", "m"], "Merge the pair that was learned first"),
            ("Ġ st ea m", "is written like this"),
        ],
    }
}
