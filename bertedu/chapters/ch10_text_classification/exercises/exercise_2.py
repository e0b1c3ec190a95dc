"""Exercise 10.2: Three ways to one vector."""

import torch

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "10.2",
    "Three ways to one vector",
    difficulty=2,
    minutes=12,
    hints=(
        "attention_mask[:, :, None] is [B, T, 1]. With vectors [B, T, D] it broadcasts over the D dimensions.",
        "real = attention_mask[:, :, None].bool() is True at the real tokens. masked_fill(~real, 0) before the sum, "
        "and divide by the number of real tokens; masked_fill(~real, -torch.inf) before the maximum.",
    ),
)
def pooling(case: Case) -> None:
    case.causes = {
        "must match the size": "Has the mask one axis more, [B, T, 1], so that it fits vectors [B, T, D]? "
        "And the numbers of tokens, [B, 1], so that they fit sums [B, D]?",
        "boolean masks": "The mask has the numbers 1 and 0, and masked_fill takes True and False: "
        "`attention_mask == 0` is True at the padding.",
    }
    vectors = case.randn(2, 5, 4) - 3  # all values negative: a padding of 0 would win the maximum
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0]])
    vectors[1, 2:] = 9.0
    tried = "2 texts of 5 and 2 tokens, the second padded to 5"
    parts = [vectors[0], vectors[1, :2]]

    def pooled(how: str) -> torch.Tensor:
        result = case.call(vectors, mask, how, tried=f"{tried}, how = {how!r}")
        if isinstance(result, tuple):
            case.fail(
                f"But {how} is a tuple. `max(dim=1)` returns values and positions: take its `.values`, or `amax`."
            )
        case.same_shape(how, result, [2, 4], "Return one vector for each text.")
        return result

    case.close("cls", pooled("cls"), vectors[:, 0], "[CLS] is the first token of each text.")
    zeroed = vectors * mask[:, :, None]
    case.close(
        "mean",
        pooled("mean"),
        torch.stack([part.mean(dim=0) for part in parts]),
        "Take the mean over the real tokens of each text.",
        mistakes={
            "The padding is averaged in: it is part of the sum and of the count.": vectors.mean(dim=1),
            "The padding is not in the sum, but it is still counted. By how many tokens do you divide each sum?": (
                zeroed.mean(dim=1)
            ),
            "You divided the sum of each text by the number of real tokens of the whole batch.": zeroed.sum(dim=1)
            / mask.sum(),
            "The real tokens were removed and the padding stayed: the mask is used the wrong way round.": (
                (vectors - zeroed).sum(dim=1) / mask.sum(dim=1, keepdim=True)
            ),
        },
    )
    case.close(
        "max",
        pooled("max"),
        torch.stack([part.amax(dim=0) for part in parts]),
        "Take the maximum over the real tokens of each text, for each dimension.",
        mistakes={
            "The padding wins the maximum: it must never be the largest.": vectors.amax(dim=1),
            "The padding became 0, and 0 wins where all real values are negative. What is below any number?": (
                zeroed.amax(dim=1)
            ),
            "The real tokens were filled in place of the padding: the mask is used the wrong way round.": (
                vectors.masked_fill(mask[:, :, None] == 1, -torch.inf).amax(dim=1)
            ),
        },
    )
    pooling_of_one_token_and_of_low_values(case)


def pooling_of_one_token_and_of_low_values(case: Case) -> None:
    """A text of a single token; and a maximum far below zero, where padding must not win."""
    one = case.randn(1, 1, 3)
    for how in ("cls", "mean", "max"):
        result = case.call(one, torch.ones(1, 1, dtype=torch.long), how, tried=f"a single token, how = {how!r}")
        case.close(how, result, one[:, 0], "A single token is its own mean and its own maximum.")
    low = torch.tensor([[[-6e4, -5e4], [-4e4, -6e4], [0.0, 0.0]]])  # half precision reaches 65,504
    result = case.call(low, torch.tensor([[1, 1, 0]]), "max", tried="values far below zero, how = 'max'")
    case.close(
        "max",
        result,
        torch.tensor([[-4e4, -5e4]]),
        "The padding was set to a number that is not low enough: here the real values are lower, so the padding wins.",
        "Which value is below every number?",
    )
