"""Answers to exercise 13.2: right ones, and mistakes with the words that they must hear."""

ANSWERS = {
    "13.2": {
        "accepted": [[499_500, 1000], (499_500, 1000)],
        "wrong": [
            ([1_000_000, 1000], "itself included"),
            ([999_000, 1000], "each pair twice: (a, b)"),
            ([499_500, 999_000], "keeps its vector for all"),
            ([1000, 499_500], "which single sentences"),
            ([499_500, 2000], "one vector: read it once"),
            ([500_500, 1000], "pair each sentence with itself"),
            ([499_500], "needs a second one"),
            ([7, 7], "4 sentences on paper"),
        ],
    }
}
