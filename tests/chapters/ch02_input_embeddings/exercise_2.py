"""Answers to exercise 2.2: right ones, and mistakes with the words that they must hear."""

import torch

ANSWERS = {
    "2.2": {
        "accepted": [[0, 0, 2, 0, 1], (0.0, 0.0, 2.0, 0.0, 1.0), torch.tensor([[0.0], [0], [2], [0], [1]])],
        "wrong": [
            ([1, 0, 2, 0, 1], "which row is padding_idx"),
            ([0, 0, 1, 0, 1], "occurs twice in the text"),
            ([1, 0, 1, 0, 1], "Two things are missing"),
            ([1, 1, 1, 1, 1], "do not occur in this text"),
            ([0, 0, 2, 1], "five numbers"),
            ([[1], [0], [2], [0], [1]], "which row is padding_idx"),
            ([0, 0, 0.5, 0, 0.25], "gradient of a mean"),
            (2, "is written like this"),
        ],
    }
}
