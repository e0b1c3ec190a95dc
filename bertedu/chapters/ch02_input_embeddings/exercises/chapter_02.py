"""Exercises of chapter 2: input embeddings. Positions and the repaired tables: chapter_02_positions.py."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import layer_norm as reference_layer_norm

from bertedu.course.case import Case, plain
from bertedu.course.comparing import is_close
from bertedu.course.exercise import exercise


def needs_gradient(case: Case, learned: Sequence[Tensor], fixed: Sequence, names: Sequence[str], tried: str) -> None:
    """Not yet, unless a gradient reaches each of the learned inputs; the fixed ones are ids and plain numbers."""
    case.refuse_in_place()
    leaves = [x.clone().requires_grad_() for x in learned]
    case.begin(f"I called {case.name} on {tried} and asked for gradients.", "gradients")
    result = case.protected(case.answer, *leaves, *fixed)
    if not result.requires_grad:
        case.fail(
            "But the result is detached from its inputs, so no gradient can reach what should learn.",
            "Do you use `.detach()`, `.data`, `.tolist()`, `torch.no_grad()` or `from_pretrained` (which freezes)?",
        )
    gradients = torch.autograd.grad(result.square().sum(), leaves, allow_unused=True)
    for name, gradient in zip(names, gradients, strict=True):
        case.expect(gradient is not None and gradient.any(), f"But no gradient reaches {name}. Is it detached?")


@exercise(
    "2.1",
    "One row for each id",
    difficulty=1,
    minutes=5,
    hints=(
        "An id is the index of a row. What does torch return for `table[3]`, and what for `table[a_tensor_of_ids]`?",
        "Indexing with a tensor of ids [B, T] keeps that shape and replaces each id by a row of D numbers. "
        "You can also make the ids one-hot with V columns and multiply by the table.",
    ),
)
def look_up(case: Case) -> None:
    """Each id is replaced by its row, and the gradient reaches the table."""
    case.randn(3)  # a table that the answer draws itself must have other numbers than this one
    table, ids = case.randn(7, 8), torch.tensor([[1, 6, 2], [0, 2, 2]])
    case.causes = {
        "cannot be multiplied": "If you use one_hot: it needs one column for each row of the table, "
        "`one_hot(ids, num_classes=len(table))`, even if the highest id does not occur.",
        "same dtype": "If you use one_hot: it returns integers. Convert them with `.float()` before you multiply.",
    }
    vectors = case.call(table, ids, tried="a table of 7 rows and 8 columns and 2 texts of 3 ids")
    case.is_a("the result", vectors, Tensor, "a tensor")
    case.expect(
        list(vectors.shape) != [6, 8],
        "But the result has the shape [6, 8]: the two texts were joined into one.",
        "Where does your code lose the shape [2, 3] of the ids?",
    )
    case.expect(
        list(vectors.shape) != [7, 2, 3],
        "But the result has the shape [7, 2, 3]: it holds columns of the table. An id is the index of a row.",
    )
    case.same_shape(
        "vectors", vectors, [2, 3, 8], "Each of the 2 × 3 ids should become one row of the table, 8 numbers."
    )
    again = case.protected(case.answer, table.clone(), ids.clone())
    case.expect(
        is_close(again, vectors),
        "But a second call with the same table gave other numbers. Do you create a new, random table in the "
        "function? The learned rows are in the table that is passed in.",
    )
    mistakes = {
        "Each row is the one before the row that was asked for. Ids count from 0, like all indices in Python.": table[
            ids - 1
        ],
        "Each row was multiplied by its id. An id selects a row and does nothing else.": table[ids] * ids[..., None],
        "Every text got rows 0, 1, 2, whatever its ids are.": table[:3].expand(2, 3, 8),
    }
    case.close(
        "vectors", vectors, table[ids], "The vector at [b, t] should be row ids[b, t] of the table.", mistakes=mistakes
    )
    one = torch.tensor([[3]])
    case.close("vectors", case.call(table, one, tried="a single id"), table[one])
    needs_gradient(case, [table], [ids], ["the table"], "2 texts of 3 ids")


@exercise(
    "2.2",
    "Which rows get a gradient?",
    difficulty=2,
    minutes=5,
    kind="value",
    hints=(
        "The loss is a sum of four looked-up numbers. How often does each row of the table occur in that sum?",
        "If a row is used twice, the two gradients are added. Then remember what padding_idx does.",
    ),
)
def gradients(case: Case) -> None:
    """How often each row is used, without [PAD]'s. A column is right too: `embedding.weight.grad` has that shape."""
    rows = plain(case.answer)
    if isinstance(rows, list) and rows and all(isinstance(row, list) and len(row) == 1 for row in rows):
        case.answer = [row[0] for row in rows]
    case.predicted(
        [0, 0, 2, 0, 1],
        otherwise="The table has five rows, so write five numbers. Go through the ids one by one: each use of a row "
        "adds 1 to its gradient. And what does padding_idx do?",
        mistakes=[
            ([1, 0, 2, 0, 1], "Row 0 was looked up, but which row is padding_idx?"),
            ([0, 0, 1, 0, 1], "Id 2 occurs twice in the text. What happens to the gradient of a number used twice?"),
            ([1, 0, 1, 0, 1], "Two things are missing: id 2 occurs twice, and row 0 is the row of padding_idx."),
            ([1, 1, 1, 1, 1], "Rows 1 and 3 do not occur in this text: changing them would not change the loss."),
            ([0, 1, 2, 1, 1], "Rows 1 and 3 do not occur in this text: changing them would not change the loss."),
            ([0, 0, 4, 0, 4], "These are sums of ids. An id only selects a row; each use counts as 1."),
            ([0, 0, 0.5, 0, 0.25], "This is the gradient of a mean. The loss here is the sum."),
        ],
    )


@exercise(
    "2.3",
    "LayerNorm in three lines",
    difficulty=2,
    minutes=15,
    without=("layer_norm", "group_norm", "instance_norm", "batch_norm", "rms_norm"),
    hints=(
        "The D numbers of one token lie along the last axis. You need their mean and variance, with keepdim=True.",
        "Compute centred = x - mean and variance = mean of centred². "
        "Then return centred / √(variance + eps) * weight + bias.",
    ),
)
def layer_norm(case: Case) -> None:
    """The formula with the right axis and every detail, on three kinds of vectors."""
    x, weight, bias = case.randn(2, 3, 8) * 3 + 5, case.randn(8), case.randn(8)
    expected = reference_layer_norm(x, [8], weight, bias, 1e-12)
    case.causes = {
        "must match the size": "The mean of x over its last axis has the shape [2, 3] and does not broadcast against "
        "[2, 3, 8]. `keepdim=True` makes it [2, 3, 1].",
    }
    got = case.call(x, weight, bias, 1e-12, tried="2 texts of 3 tokens with D = 8")
    case.same_shape("the result", got, [2, 3, 8], "LayerNorm changes the numbers, never the shape.")
    mistakes = wrong_norms(x, weight, bias)
    case.close(
        "the result", got, expected, "Use the mean and the variance of the D numbers of each token.", mistakes=mistakes
    )
    edge_of_eps(case, weight, bias)
    alike = torch.full((1, 1, 8), 3.0)
    got = case.call(alike, weight, bias, 1e-12, tried="a vector of eight equal numbers")
    case.close("the result", got, bias[None, None], "No number differs from the mean, so only the bias is left.")
    needs_gradient(case, [x, weight, bias], [1e-12], ["x", "weight", "bias"], "2 texts of 3 tokens")


def wrong_norms(x: Tensor, weight: Tensor, bias: Tensor) -> dict[str, Tensor]:
    """What each known mistake returns, by the sentence that explains it."""
    centred = x - x.mean(-1, keepdim=True)

    def over(*axes: int) -> Tensor:
        return (x - x.mean(axes, keepdim=True)) / x.var(axes, keepdim=True, unbiased=False).sqrt() * weight + bias

    normal = centred / x.std(-1, keepdim=True, unbiased=False)
    return {
        "Your sum of squares is divided by D - 1. LayerNorm divides by D; torch's var and std do that only with "
        "correction=0 or unbiased=False.": centred / x.std(-1, keepdim=True) * weight + bias,
        "Your sum of squares is not divided by D. The variance is the mean of the squares.": centred
        / centred.square().sum(-1, keepdim=True).sqrt()
        * weight
        + bias,
        "You normalized over the tokens of a text. LayerNorm treats each token alone: which axis holds its "
        "D numbers?": over(1),
        "You normalized over the batch. Which axis holds the D numbers of one token?": over(0),
        "You normalized each column over all tokens of the batch, as BatchNorm does. Which axis holds the D numbers "
        "of one token?": over(0, 1),
        "All numbers share one mean and one variance here. Each token should have its own.": over(0, 1, 2),
        "All tokens of a text share one mean and one variance here. Each token should have its own.": over(1, 2),
        "The vectors are normalized, but weight and bias are missing.": normal,
        "The bias is missing.": normal * weight,
        "The weight is missing.": normal + bias,
        "You divide by the variance. LayerNorm divides by its root, the standard deviation.": centred
        / x.var(-1, keepdim=True, unbiased=False)
        * weight
        + bias,
        "The mean is not subtracted.": x / x.std(-1, keepdim=True, unbiased=False) * weight + bias,
        "The mean is subtracted, but nothing is divided by the standard deviation.": centred * weight + bias,
    }


def edge_of_eps(case: Case, weight: Tensor, bias: Tensor) -> None:
    """A large eps and small numbers: the result shows where eps was added."""
    small = case.randn(1, 2, 8) * 0.1
    centred, std = small - small.mean(-1, keepdim=True), small.std(-1, keepdim=True, unbiased=False)
    mistakes = {
        "eps is added to the standard deviation. LayerNorm adds it to the variance, inside the root.": centred
        / (std + 0.1)
        * weight
        + bias,
        "eps is not used. It prevents a division by 0 when all D numbers are equal.": centred / std * weight + bias,
        "You use a constant in place of eps. Use the argument.": centred / (std.square() + 1e-5).sqrt() * weight + bias,
    }
    got = case.call(small, weight, bias, 0.1, tried="small numbers with a large eps of 0.1")
    expected = reference_layer_norm(small, [8], weight, bias, 0.1)
    case.close("the result", got, expected, "Where exactly is eps added?", mistakes=mistakes)
