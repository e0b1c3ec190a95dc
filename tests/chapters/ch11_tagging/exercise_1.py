"""Answers to exercise 11.1: right ones, and mistakes with the words that they must hear."""

import torch

ANSWERS = {
    "11.1": {
        "accepted": [0.5, torch.tensor(0.5)],
        "wrong": [
            (0.9, "accuracy over words"),
            (0.75, "no half point"),
            (6 / 7, "F1 over the words of names"),
            (0.25, "precision times recall"),
            (2 / 3, "Precision counts too"),
            (1 / 3, "F1 is 2 P R / (P + R)"),
            (50, "as a share between 0 and 1"),
            (0.3, "Count whole entities"),
            ("half", "is written like this"),
        ],
    }
}
