"""Exercise 14.5: Repair the mask."""

import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.comparing import is_close
from bertedu.course.exercise import exercise


@exercise(
    "14.5",
    "Repair the mask",
    difficulty=3,
    minutes=12,
    hints=(
        "Entry [b, 0, i, j] belongs to query i and key j. For which j must query i get a very negative number?",
        "torch.ones(T, T).triu(diagonal=1).bool() marks j > i. A key is hidden if it is later or if it is padding.",
    ),
)
def repair_the_mask(case: Case) -> None:
    for lengths, left in (([4], False), ([5, 3], False), ([1], False), ([2, 6, 6], False), ([5, 3], True)):
        longest = max(lengths)
        mask = (torch.arange(longest) < torch.tensor(lengths)[:, None]).long()  # [B, T]
        mask = mask.flip(1) if left else mask
        counted = ", ".join(map(str, lengths))
        side = ", padded on the left" if left else ""
        got = case.call(mask, tried=f"texts whose lengths are {counted}{side}")
        case.same_shape("the bias", got, [len(lengths), 1, longest, longest], "[B, 1, T, T]: queries, then keys.")
        case.expect(
            got.is_floating_point(),
            f"But the bias has the type {str(got.dtype).removeprefix('torch.')}, and it is added to the scores.",
            "Give 0.0 where a token may attend, and a very negative number where it may not.",
        )
        case.expect(
            not got.isnan().any(),
            "But the bias itself holds nan: 0 times minus infinity is nan.",
            "Choose with masked_fill or torch.where instead of multiplying.",
        )
        scores = 3 * case.randn(len(lengths), 1, longest, longest)
        weights = (scores + got).softmax(dim=-1)
        text = mask.bool()[:, None, :, None].expand_as(weights)  # queries that are no padding
        later = torch.ones(longest, longest, dtype=torch.bool).triu(diagonal=1)
        padding = ~mask.bool()[:, None, None, :].expand_as(weights)
        may = text & ~later & ~padding
        text_attends(case, got, weights, text, left)
        of_padding = (later | padding) & ~text & ~torch.eye(longest, dtype=torch.bool)  # padding may attend to itself
        weights = weights.masked_fill(~text, 0.0)
        nothing_hidden_is_seen(case, got, weights, later, padding)
        wanted = scores.masked_fill(~may, -1e9).softmax(dim=-1).masked_fill(~text, 0.0)
        case.expect(
            is_close(weights, wanted),
            "But the weights on earlier tokens are not those that the scores alone would give.",
            "Where a token may attend, the bias is 0.",
        )
        case.expect(
            not (of_padding & ~(got < -100)).any() or (of_padding & (got < -100)).any(),
            "But where the query is padding, the bias hides nothing.",
            "A key is hidden if it is later than the query or padding, whatever the query is: don't multiply by the "
            "mask of the queries.",
        )
        case.expect(
            not (of_padding & ~(got < -100)).any(),
            "But where the query is padding, some keys are not hidden.",
            "A key is hidden if it is later or if it is padding: both masks belong together.",
        )
        if (scores + got).softmax(dim=-1).isnan().any():
            case.almost(
                "The weights of the text are right. But a row of padding on the left has no key at all, and minus "
                "infinity gives nan there, which the next layer spreads to the text.",
                "Take a large negative number that is finite.",
            )
    case.close_with("With this mask BERT's layers read from the left only, as GPT's do.")


def text_attends(case: Case, bias: Tensor, weights: Tensor, text: Tensor, left: bool) -> None:
    """Each token of the text attends to something, and to itself. bias [B, 1, T, T], weights and text as it, with
    text True where the query is no padding; left: whether the padding stands there.
    """
    case.expect(
        not weights[text].isnan().any(),
        "But some weights are nan: all keys of a query are hidden. The first token must be able to attend to "
        "something: to itself.",
    )
    own = bias.softmax(dim=-1).diagonal(dim1=-2, dim2=-1)[text[..., 0]]
    case.expect(
        own.min() > 1e-4 or not left or bias.diagonal(dim1=-2, dim2=-1)[0].max() < -1,
        "But some tokens of text cannot attend to themselves: they are taken for padding.",
        "Where the padding stands is written in the mask. Its sum doesn't tell.",
    )
    case.expect(
        own.min() > 1e-4,
        "But a token does not attend to itself.",
        "The prediction at a position is for the next token, so the token itself may be seen: diagonal=1.",
    )


def nothing_hidden_is_seen(case: Case, bias: Tensor, weights: Tensor, later: Tensor, padding: Tensor) -> None:
    """No weight on later tokens (later [T, T]) and none on padding (as weights [B, 1, T, T])."""
    seen = {"later": float(weights.masked_fill(~later | padding, 0.0).max())}
    seen["padding"] = float(weights.masked_fill(~padding, 0.0).max())
    if seen["later"] > 1e-4:
        back = bool(weights.masked_fill(~later.T, 0.0).max() < 1e-4)
        case.fail(
            f"But a token gives the weight {seen['later']:.2g} to a later token.",
            "It is the other way round: earlier tokens are hidden. Queries are rows, keys are columns."
            if back
            else "Multiplying or adding 1 and 0 hides nothing: softmax gives every finite score a weight."
            if bool((bias >= 0).all()) and bool((bias == 1).any())
            else "Hide all keys on the right of the query, and padding besides: a key is hidden if *either* holds."
            if bool((bias < -1e3).any())
            else "Take a far more negative number: with this one some weight is left."
            if bool((bias < -1).any())
            else "Hide all keys on the right of the query: the token that is to be predicted stands there.",
        )
    case.expect(
        seen["padding"] < 1e-4,
        f"But a token gives the weight {seen['padding']:.2g} to padding.",
        "A key is hidden if it is later or if it is padding: both masks belong together.",
    )
