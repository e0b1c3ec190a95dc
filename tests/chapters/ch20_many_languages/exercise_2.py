"""Answers to exercise 20.2: right ones, and mistakes with the words that they must hear."""

import torch

ANSWERS = {
    "20.2": {
        "accepted": [[1.25, 0.7], (1.25, 0.7), torch.tensor([1.25, 0.7])],
        "wrong": [
            ([1.25, 0.0], "knows every Russian word"),
            ([1.25, 0], "knows every Russian word"),
            ([1.25, 0.875], "share of the words"),
            ([1.25, 1.0], "so their pieces are known"),
            ([1.25, 0.3], "the names' pieces"),
            ([1.25, 70], "in percent"),
            ([1.25, 350], "how many pieces are [UNK]"),
            ([500, 0.7], "number of pieces"),
            ([0.7, 1.25], "in the other order"),
            ([0.8, 0.7], "number of words for each piece"),
            ([1.0, 0.875], "three pieces each"),
            ([1.0, 1.0], "cut into known pieces"),
            ([3.0, 0.0], "What becomes of the Cyrillic words"),
            ([3.0, 0.7], "over all 400 words"),
            ([0.375, 0.0], "[UNK] is a piece, too"),
            ([0.375, 0.7], "[UNK] is a piece, too"),
            ([2.0, 0.5], "what WordPiece makes of each of the 350"),
            (1.25, "written like this"),
        ],
    }
}
