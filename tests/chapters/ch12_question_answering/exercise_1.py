"""Answers to exercise 12.1: right ones, and mistakes with the words that they must hear."""

import torch

ANSWERS = {
    "12.1": {
        "accepted": [5.5, torch.tensor(5.5)],
        "wrong": [
            (9, "a word of the question"),
            (6.5, "ends before it starts"),
            (7.5, "starts at Who"),
            (8, "ends at Who"),
            (5, "second best"),
            (2, "Fox alone, or [CLS]"),
            (4, "One of the six"),
            (3, "six valid spans"),
        ],
    }
}
