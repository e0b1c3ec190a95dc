"""Answers to exercise 1b.1: right ones, and mistakes with the words that they must hear."""

ANSWERS = {
    "1b.1": {
        "accepted": [[[8], [8, 2], [8], [8, 4]], ((8,), (8, 2), (8,), (8, 4))],
        "wrong": [
            ([[8, 1], [8, 2], [8], [8, 4]], "takes its axis away"),
            ([[8], [8, 3], [8], [8, 4]], "put columns side by side"),
            ([[8], [8, 2], [2], [8, 4]], "axis that you name disappears"),
            ([[8], [8, 2], [8, 1], [8, 4]], "without keepdim=True"),
            ([[8], [8, 2], [8], [4, 8]], "written flush right"),
            ([[8], [8, 2], [8], [8, 1]], "here 1 meets 4"),
            ([[2], [8, 1], [2], [4]], "of each the first number"),
            ([[8], [16], [2], [4]], "the 8 meets an 8"),
            ([[8], [8, 2]], "Four shapes are"),
            ([8, 16, 8, 32], "list of four lists"),
            ("[8]", "is written like this"),
        ],
    }
}
