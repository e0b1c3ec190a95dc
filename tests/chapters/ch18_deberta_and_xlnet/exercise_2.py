"""Answers to exercise 18.2: right ones, and mistakes with the words that they must hear."""

import torch

ANSWERS = {
    "18.2": {
        "accepted": [[4, -5, 6, 7], (4, -5, 6, 7), torch.tensor([4, -5, 6, 7])],
        "wrong": [
            ([4, 5, 6, 7], "the sign of −7"),
            ([4, -4, 5, 6], "You rounded down"),
            ([4, -5, 5, 6], "which becomes 2"),
            ([4, -4, 6, 7], "rounded with its sign"),
            ([4, -7, 6, 7], "the distance 7 is beyond it"),
            ([4, -5, 6, 6], "rounded to the nearest"),
            ([5, -5, 6, 7], "its own bucket"),
            ([4, -7, 7, 7], "by their logarithm"),
            ([4, -7, 15, 20], "several distances share"),
            ([12, 3, 14, 15], "rows in the table"),
            ([4, -1, 2, 3], "left out the m"),
            ([4, -6, 6, 7], "one by one"),
            (7, "is written like this"),
        ],
    }
}
