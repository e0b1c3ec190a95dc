"""Answers to exercise 19.3: right ones, and mistakes with the words that they must hear."""

import torch

ANSWERS = {
    "19.3": {
        "accepted": [[65, 75, 129], (65, 75, 129), torch.tensor([65, 75, 129])],
        "wrong": [
            ([64, 74, 128], "itself as well"),
            ([64, 74, 129], "so does token 10"),
            ([64, 75, 129], "Token 0 attends to itself"),
            ([65, 74, 128], "token 4000 attends to itself"),
            ([66, 76, 130], "One too many"),
            ([65, 75, 65], "on both sides"),
            ([65, 75, 128], "And itself?"),
            ([129, 129, 129], "before token 0"),
            ([64, 74, 127], "border is inclusive"),
            ([129, 139, 257], "whole window"),
            ([33, 43, 65], "divided once"),
            ([1, 11, 65], "That is a decoder"),
            ([1, 11, 129], "neighbors on their right"),
            ([65, 65, 129], "some tokens on its left"),
            ([1, 2, 3], "Count three groups"),
        ],
    }
}
